/**
 * Packages from npm that a few tests and benches need, each a package of its own, so that nobody who installs Postern or clones it
 * installs them too. They are installed into the cache folder of the tests when they are first needed.
 */
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../clone.ts";
import { alone, CACHE } from "./alone.ts";

export const RIVALS = join(ROOT, "test/bench/rivals");
export const CLIENTS = join(ROOT, "test/fixtures/clients");

const FILES = ["package.json", "package-lock.json"];
const INSTALL_MILLIS = 300_000;

export interface Packages {
  readonly folder: string;
  load<Module>(name: string): Module;
  /** Where a package's file is. */
  find(name: string): string;
}

const opened = new Map<string, Promise<Packages>>();

/** Rejects with npm's own words where they cannot be installed, as without a network. */
export function openPackages(source: string, progress?: (what: string) => void): Promise<Packages> {
  const known = opened.get(source) ?? alone(() => install(source, progress));
  opened.set(source, known);
  return known;
}

async function install(source: string, progress?: (what: string) => void): Promise<Packages> {
  const { name } = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as { name: string };
  const folder = join(CACHE, name);
  const require = createRequire(join(folder, "package.json"));
  const packages = { folder, load: require, find: require.resolve };
  const isCurrent = FILES.every(
    (file) =>
      existsSync(join(folder, file)) &&
      readFileSync(join(folder, file)).equals(readFileSync(join(source, file))),
  );
  if (isCurrent && existsSync(join(folder, "node_modules", ".package-lock.json"))) return packages;
  progress?.(`installing ${name}, once`);
  mkdirSync(folder, { recursive: true });
  for (const file of FILES) copyFileSync(join(source, file), join(folder, file));
  // Their scripts are not needed: what is compiled comes with the packages.
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", "--loglevel=error"];
  try {
    await promisify(execFile)("npm", args, { cwd: folder, timeout: INSTALL_MILLIS });
  } catch (error) {
    const { message } = error as Error;
    throw new Error(/npm error .*/.exec(message)?.[0] ?? message);
  }
  return packages;
}
