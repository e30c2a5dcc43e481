/**
 * What the benches stand beside, from npm: a package of its own, so that nobody who installs Postern installs it. It is installed into
 * the cache folder of the tests when it is first needed.
 */
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { CACHE } from "../../support/tools/alone.ts";
import type { Progress } from "./bench.ts";

const SOURCE = join(import.meta.dirname, "..", "rivals");
const FOLDER = join(CACHE, "rivals");
const INSTALLED = join(FOLDER, "node_modules", ".package-lock.json");
const INSTALL_MILLIS = 120_000;

export interface Rivals {
  load<Module>(name: string): Module;
  /** Where a package's program is. */
  find(name: string): string;
}

let opened: Promise<Rivals | undefined> | undefined;

/** Undefined, after a sentence that says why, where they cannot be installed: the benches go on without them. */
export function openRivals(progress: Progress): Promise<Rivals | undefined> {
  opened ??= install(progress).then(
    () => {
      const require = createRequire(join(FOLDER, "package.json"));
      return { load: require, find: require.resolve };
    },
    (error: Error) => {
      const why = /npm error .*/.exec(error.message)?.[0] ?? error.message;
      process.stderr.write(
        `\nThe packages to compare with could not be installed and are left out: ${why}\n`,
      );
      return undefined;
    },
  );
  return opened;
}

async function install(progress: Progress): Promise<void> {
  const isCurrent = ["package.json", "package-lock.json"].every(
    (file) =>
      existsSync(join(FOLDER, file)) &&
      readFileSync(join(FOLDER, file)).equals(readFileSync(join(SOURCE, file))),
  );
  if (isCurrent && existsSync(INSTALLED)) return;
  progress("installing the packages to compare with, once");
  mkdirSync(FOLDER, { recursive: true });
  for (const file of ["package.json", "package-lock.json"])
    copyFileSync(join(SOURCE, file), join(FOLDER, file));
  // Their scripts are not needed: what is compiled comes with the packages.
  await promisify(execFile)(
    "npm",
    ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0", "--loglevel=error"],
    {
      cwd: FOLDER,
      timeout: INSTALL_MILLIS,
    },
  );
}
