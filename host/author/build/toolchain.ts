/**
 * The packages that only building needs, several hundred MB. A clone has them installed. The published package
 * comes without; it has their lock file, and the first build lets npm fetch them into `<home>/toolchain`.
 */
import { existsSync, readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { MANIFEST, prepareHome } from "../../../kernel/kit.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { sha256 } from "../../compile/transpile.ts";
import { fetchPackages, LOADER } from "./fetch.ts";

interface Modules {
  readonly "@bytecodealliance/componentize-js": typeof import("@bytecodealliance/componentize-js");
  readonly "@bytecodealliance/jco": typeof import("@bytecodealliance/jco");
  readonly "componentize-qjs": typeof import("componentize-qjs");
}

export interface Toolchain {
  load<Name extends keyof Modules>(name: Name): Promise<Modules[Name]>;
  /** The script of the TypeScript compiler. */
  readonly compiler: string;
}

export const PACKAGES: Readonly<Record<string, string>> = Object.fromEntries(
  ["@bytecodealliance/componentize-js", "@bytecodealliance/jco", "componentize-qjs", "typescript"].map(
    (name) => [name, MANIFEST.devDependencies[name] ?? ""],
  ),
);

/** Written when the published package is built: see `lock.ts`. */
export const LOCK = "toolchain-lock.json";

/** The one that is installed with Postern or beside it, else the one in the home, which is fetched where it is missing. */
export async function openToolchain(home: string, progress: (line: string) => void): Promise<Toolchain> {
  const file = join(import.meta.dirname, LOCK);
  if (isInstalled() || !existsSync(file)) return installedToolchain();
  const lock = readFileSync(file, "utf8");
  const folder = join(home, "toolchain", sha256(lock).slice(0, 16));
  if (!existsSync(folder)) {
    prepareHome(home);
    await fetchPackages({ folder, lock, progress });
  }
  // A package that has only an entry for `import` cannot be resolved from elsewhere: a module of the folder imports it.
  const loader = join(folder, LOADER);
  const { default: load } = (await import(pathToFileURL(loader).href)) as { default: Toolchain["load"] };
  return toolchainAt(loader, load);
}

export function installedToolchain(): Toolchain {
  if (isInstalled()) return toolchainAt(import.meta.filename, (name) => import(name));
  throw new Fault(
    "unavailable",
    "no_toolchain",
    'The packages that building needs are missing or out of date: run "npm install" where Postern is.',
  );
}

/** With exactly the versions that we build with. */
function isInstalled(): boolean {
  return Object.entries(PACKAGES).every(
    ([name, version]) => versionOf(name, import.meta.filename) === version,
  );
}

/** The script of the TypeScript compiler that a file would import. */
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

/** The package.json of a package that a file would import. */
function findManifest(name: string, from: string): string | undefined {
  try {
    return findPackageJSON(name, from);
  } catch {
    return undefined;
  }
}
