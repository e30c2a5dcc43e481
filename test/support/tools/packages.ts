/** Packages from npm that a few tests and benches need, installed into the tests' cache folder when first needed. */
import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, relative } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../clone.ts";
import { alone, CACHE } from "./alone.ts";

export const RIVALS = join(ROOT, "test/bench/rivals");
export const CLIENTS = join(ROOT, "test/fixtures/clients");

const INSTALL_MS = 180_000;

export interface Packages {
  readonly folder: string;
  load<Module>(name: string): Module;
  /** Returns the path of a package's file. */
  find(name: string): string;
}

/** Rejects with npm's own words where they cannot be installed, as without a network. */
export async function openPackages(source: string, progress?: (what: string) => void): Promise<Packages> {
  const lock = readFileSync(join(source, "package-lock.json"));
  // Another clone may want other versions.
  const folder = join(CACHE, `${basename(source)}-${hash("sha256", lock).slice(0, 16)}`);
  const isThere = () => existsSync(join(folder, "node_modules", ".package-lock.json"));
  if (!isThere())
    await alone(basename(source), async () => {
      if (isThere()) return;
      progress?.(`installing ${relative(ROOT, source)}, once`);
      await install(source, folder);
    });
  const require = createRequire(join(folder, "package.json"));
  return { folder, load: require, find: require.resolve };
}

async function install(source: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const file of ["package.json", "package-lock.json"])
    copyFileSync(join(source, file), join(folder, file));
  // Their scripts are not needed: what is compiled comes with the packages.
  const quick = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", "--fetch-timeout=20000"];
  try {
    await promisify(execFile)("npm", ["ci", ...quick, "--loglevel=error"], {
      cwd: folder,
      timeout: INSTALL_MS,
    });
  } catch (error) {
    const { message } = error as Error;
    throw new Error(/npm error .*/.exec(message)?.[0] ?? message);
  }
}
