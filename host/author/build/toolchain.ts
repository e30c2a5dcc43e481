/** The packages that only building needs: a clone has them, a published Postern fetches them into the user's caches. */
import { hash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import { MANIFEST, moduleFile } from "../../../kernel/kit/files.ts";
import { prepareHome } from "../../../kernel/kit/operations.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";
import { fetchPackages, LOADER, markUsed } from "./fetch.ts";

interface Modules {
  readonly "@bytecodealliance/componentize-js": typeof import("@bytecodealliance/componentize-js");
  readonly "@bytecodealliance/jco": typeof import("@bytecodealliance/jco");
  readonly "componentize-qjs": typeof import("componentize-qjs");
}

export interface Toolchain {
  load<Name extends keyof Modules>(name: Name): Promise<Modules[Name]>;
  readonly compiler: string;
}

export const PACKAGES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    "@bytecodealliance/componentize-js",
    "@bytecodealliance/jco",
    // componentize-js imports it without declaring it; npm 11 puts it beside componentize-js only where it is asked for.
    "@bytecodealliance/preview2-shim",
    "componentize-qjs",
    "typescript",
  ].map((name) => [name, { ...MANIFEST.dependencies, ...MANIFEST.devDependencies }[name] ?? ""]),
);

/** Written when the published package is built: see `lock.ts`. */
export const LOCK = "toolchain-lock.json";

export interface ToolchainPlaces {
  readonly home: string;
  /** The folder of the user's caches, where another than `~/.cache` is set. */
  readonly caches: string | undefined;
}

/** The one that is installed with Postern or beside it, else the user's, which is fetched where it is missing. */
export async function openToolchain(
  places: ToolchainPlaces,
  progress: (line: string) => void,
): Promise<Toolchain> {
  const lock = isInstalled() ? undefined : readLock();
  if (lock === undefined) return installedToolchain();
  const folder = folderOf(lock, places);
  if (!existsSync(folder)) await fetchPackages({ folder, lock, progress });
  markUsed(folder);
  // A package that has only an entry for `import` cannot be resolved from elsewhere: a module of the folder imports it.
  const loader = join(folder, LOADER);
  try {
    const { default: load } = (await import(pathToFileURL(loader).href)) as { default: Toolchain["load"] };
    return toolchainAt(loader, async (name) => load(name).catch((error) => throwAway(folder, error)));
  } catch (error) {
    return throwAway(folder, error);
  }
}

/** Returns a module beside the packages, for a process that loads them itself. Fetches nothing: a fault says how to get them. */
export function locateToolchain(places: ToolchainPlaces): string {
  if (isInstalled()) return import.meta.filename;
  const lock = readLock();
  if (lock === undefined) throw notInstalled();
  const folder = folderOf(lock, places);
  if (!existsSync(folder)) {
    const message =
      'The build tools are missing here (about 340 MB). "postern tool new hello" and then "postern tool build hello", run where Postern runs, fetch them once.';
    throw new Fault("unavailable", "no_toolchain", message);
  }
  markUsed(folder);
  return join(folder, LOADER);
}

/** Undefined in a clone. */
function readLock(): string | undefined {
  const file = join(dirname(moduleFile("host/author/build/toolchain")), LOCK);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

function folderOf(lock: string, { home, caches }: ToolchainPlaces): string {
  return join(toolchains(home, caches), hash("sha256", lock).slice(0, 16));
}

/** In the home where the user's cache folder is not the user's alone. */
function toolchains(home: string, caches: string | undefined): string {
  const cache = openUserCache(caches);
  if (cache === undefined) prepareHome(home);
  return join(cache ?? home, "toolchain");
}

/**
 * Postern's folder among the user's caches, for what every home of this user can share. What is in it is run, so it is
 * undefined where it is not ours or others may write to it. `bin.js` judges the same folder in the same way.
 */
export function openUserCache(given: string | undefined): string | undefined {
  const caches = given !== undefined && isAbsolute(given) ? given : join(homedir(), ".cache");
  const folder = join(caches, "postern");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    const isOurs = found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid());
    return isOurs && (found.mode & 0o022) === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** It worked when it was fetched, so somebody has changed it since. */
function throwAway(folder: string, error: unknown): never {
  if (error instanceof Fault) throw error;
  rmSync(folder, { recursive: true, force: true });
  const message = `The build toolchain in ${folder} is damaged and was removed (${reason(error)}). Run the command again to fetch it.`;
  throw new Fault("unavailable", "no_toolchain", message, { cause: error });
}

export function installedToolchain(): Toolchain {
  if (isInstalled()) return toolchainAt(import.meta.filename, (name) => import(name));
  throw notInstalled();
}

function notInstalled(): Fault {
  const message =
    'The packages that building needs are missing or out of date: run "npm install" where Postern is.';
  return new Fault("unavailable", "no_toolchain", message);
}

function isInstalled(): boolean {
  return Object.entries(PACKAGES).every(
    ([name, version]) => versionOf(name, import.meta.filename) === version,
  );
}

function findCompiler(from: string): string | undefined {
  const manifest = findManifest("typescript", from);
  return manifest && join(dirname(manifest), "bin", "tsc");
}

function toolchainAt(file: string, load: Toolchain["load"]): Toolchain {
  const compiler = findCompiler(file);
  if (compiler === undefined) throw new Error(`typescript is missing beside ${file}`);
  return { load, compiler };
}

function versionOf(name: string, from: string): string | undefined {
  const manifest = findManifest(name, from);
  return manifest && (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}

function findManifest(name: string, from: string): string | undefined {
  try {
    return findPackageJSON(name, from);
  } catch {
    return undefined;
  }
}
