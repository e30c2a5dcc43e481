/** Lets npm fetch packages by a lock file, with its integrity and without any script of theirs. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { utimesSync } from "node:fs";
import { mkdir, readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { Fault, reason } from "../../../kernel/plugin.ts";
import { place } from "../../compile/transpile.ts";

export interface FetchOptions {
  /** The target folder; it appears when everything is there and can be loaded. Its parent holds other versions. */
  readonly folder: string;
  readonly lock: string;
  readonly progress: (line: string) => void;
}

/** The module of the folder whose default export imports a package of it. */
export const LOADER = "load.js";

const DRAFT = ".draft";
/** A fetch that was interrupted leaves its draft behind; no fetch takes that long. */
const STALE_MS = 3_600_000;
/** Another version of Postern may use another toolchain of the same user. */
const UNUSED_MS = 30 * 24 * 3_600_000;

export async function fetchPackages({ folder, lock, progress }: FetchOptions): Promise<void> {
  const { dependencies, overrides } = (JSON.parse(lock) as Lock).packages[""];
  const names = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
  progress(`fetching the build toolchain into ${folder} (once, about 340 MB): ${names.join(", ")}`);
  const began = performance.now();
  const draft = `${folder}.${randomUUID()}${DRAFT}`;
  try {
    await mkdir(draft, { recursive: true });
    await writeFile(
      join(draft, "package.json"),
      JSON.stringify({ private: true, type: "module", dependencies, overrides }),
    );
    await writeFile(join(draft, "package-lock.json"), lock);
    await writeFile(join(draft, LOADER), "export default (name) => import(name);\n");
    await runNpm(draft, folder);
    await loadOnce(draft, folder, Object.keys(dependencies));
    // Another build may have fetched them meanwhile; one copy is as good as the other.
    await place(draft, folder);
  } catch (error) {
    throw error instanceof Fault ? error : refusal(`${reason(error)}`, folder, error);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await removeOthers(folder);
  progress(`fetched in ${((performance.now() - began) / 1000).toFixed(0)} s`);
}

interface Lock {
  readonly packages: { readonly "": Root };
}

interface Root {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly overrides?: object;
}

/** Sets everything that we rely on and the user's npm settings could turn off. `npm ci` would want every platform's lock. */
const ARGUMENTS = [
  "install",
  "--ignore-scripts",
  "--package-lock",
  "--include=optional",
  "--no-global",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
  // Without a network npm would try for more than a minute before it says so.
  "--fetch-retries=2",
  "--fetch-retry-mintimeout=1000",
  "--fetch-retry-maxtimeout=5000",
];

async function runNpm(cwd: string, folder: string): Promise<void> {
  const npm = spawn("npm", ARGUMENTS, {
    cwd,
    stdio: ["ignore", "ignore", "pipe"],
    // There it is a batch file, which only a shell runs.
    shell: process.platform === "win32",
  });
  const ended = once(npm, "close").catch(() => [undefined]);
  const [said, [code]] = await Promise.all([text(npm.stderr).catch(() => ""), ended]);
  if (code === 0) return;
  const why =
    code === undefined
      ? "npm does not run here: install it, or put it on the PATH"
      : `npm failed (${summary(said) || `exit code ${code}`})`;
  throw refusal(why, folder);
}

function refusal(why: string, folder: string, cause?: unknown): Fault {
  const what = /ENOSPC/.test(why)
    ? "Make room for 400 MB"
    : /EACCES|EROFS|EPERM/.test(why)
      ? "Make it a folder that you may write to"
      : "Check the network";
  const message = `The build toolchain could not be fetched: ${why}. ${what} and try again. To build offline, copy ${folder} from a machine where a build has run.`;
  return new Fault("unavailable", "no_toolchain", message, { cause });
}

const FULL_BYTES = 1 << 20;

const LOAD = `const { default: load } = await import(${JSON.stringify(`./${LOADER}`)});
for (const name of process.argv.slice(1)) await load(name);`;

/** In a process of its own: what is loaded here would stay loaded under the name of the draft. */
async function loadOnce(cwd: string, folder: string, names: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", LOAD, ...names], {
    cwd,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  if (code === 0) return;
  // npm takes no notice of a file that it could not write to its end.
  const { bavail, bsize } = await statfs(cwd);
  if (bavail * bsize < FULL_BYTES) throw refusal("the disk is full (ENOSPC)", folder);
  const why = said.split("\n").find((line) => /Error\b[^:]{0,40}:/.test(line)) ?? `exit code ${code}`;
  const message = `The build toolchain was fetched but cannot be loaded, and was removed: ${why.trim()}. Try again with another npm, for example one that "npm install -g npm@10" installs.`;
  throw new Fault("unavailable", "no_toolchain", message);
}

/** Keeps the toolchain from being removed as unused. */
export function markUsed(folder: string): void {
  try {
    const now = new Date();
    utimesSync(folder, now, now);
  } catch {
    // It was copied there by somebody else, and works as well.
  }
}

function summary(said: string): string {
  const lines = said
    .split("\n")
    .flatMap((line) => (line.startsWith("npm error ") ? [line.slice(10).trim()] : []));
  return lines
    .filter((line) => line !== "" && !/^(A complete log|Log files were not)/.test(line))
    .slice(0, 3)
    .join("; ")
    .slice(0, 300);
}

async function removeOthers(folder: string): Promise<void> {
  const parent = dirname(folder);
  for (const name of await readdir(parent)) {
    if (name === basename(folder)) continue;
    const path = join(parent, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    const isInUse = Date.now() - mtimeMs < (name.endsWith(DRAFT) ? STALE_MS : UNUSED_MS);
    if (!isInUse) await rm(path, { recursive: true, force: true });
  }
}
