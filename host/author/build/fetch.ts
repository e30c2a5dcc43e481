/** Lets npm fetch packages by a lock file, with its integrity and without any script of theirs. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { Fault } from "../../../kernel/plugin.ts";
import { place } from "../../compile/place.ts";

export interface FetchOptions {
  /** Where they go; it appears when everything is there. What else its parent holds is an older one. */
  readonly folder: string;
  /** A package-lock.json whose root lists what is wanted. */
  readonly lock: string;
  readonly progress: (line: string) => void;
}

/** The module of the folder whose default export imports a package of it. */
export const LOADER = "load.js";

const DRAFT = ".draft";
/** A fetch that was interrupted leaves its draft behind; no fetch takes that long. */
const STALE_MILLIS = 3_600_000;

export async function fetchPackages({ folder, lock, progress }: FetchOptions): Promise<void> {
  const { dependencies } = (JSON.parse(lock) as Lock).packages[""];
  const names = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
  progress(`fetching the build toolchain into ${folder} (once, about 400 MB): ${names.join(", ")}`);
  const began = performance.now();
  const draft = `${folder}.${randomUUID()}${DRAFT}`;
  await mkdir(draft, { recursive: true });
  try {
    await writeFile(
      join(draft, "package.json"),
      JSON.stringify({ private: true, type: "module", dependencies }),
    );
    await writeFile(join(draft, "package-lock.json"), lock);
    await writeFile(join(draft, LOADER), "export default (name) => import(name);\n");
    await runNpm(draft, folder);
    // Another build may have fetched them meanwhile; one copy is as good as the other.
    await place(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await removeOthers(folder);
  progress(`fetched in ${((performance.now() - began) / 1000).toFixed(0)} s`);
}

interface Lock {
  readonly packages: { readonly "": { readonly dependencies: Readonly<Record<string, string>> } };
}

/** What the user's npm settings could turn off and we rely on is said here. `npm ci` would want every platform's lock. */
const ARGUMENTS = [
  "install",
  "--ignore-scripts",
  "--package-lock",
  "--include=optional",
  "--no-global",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
];

async function runNpm(cwd: string, folder: string): Promise<void> {
  const npm = spawn("npm", ARGUMENTS, {
    cwd,
    stdio: ["ignore", "ignore", "pipe"],
    // There it is a batch file, which only a shell runs.
    shell: process.platform === "win32",
  });
  const ended = new Promise<number | null | undefined>((resolve) => {
    npm.once("error", () => resolve(undefined));
    npm.once("close", resolve);
  });
  const [said, code] = await Promise.all([text(npm.stderr).catch(() => ""), ended]);
  if (code === 0) return;
  const why =
    code === undefined
      ? "npm does not run here: install it, or put it on the PATH"
      : `npm failed (${summary(said) || `exit code ${code}`})`;
  throw new Fault(
    "unavailable",
    "no_toolchain",
    `The build toolchain could not be fetched: ${why}. Check the network and try again. To build offline, copy ${folder} from a machine where a build has run.`,
  );
}

/** What npm calls an error, without the lines that only say where its log is. */
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

/** Those of earlier versions, and what interrupted fetches left. */
async function removeOthers(folder: string): Promise<void> {
  const parent = dirname(folder);
  for (const name of await readdir(parent)) {
    if (name === basename(folder)) continue;
    const path = join(parent, name);
    const isInUse = name.endsWith(DRAFT) && Date.now() - (await stat(path)).mtimeMs < STALE_MILLIS;
    if (!isInUse) await rm(path, { recursive: true, force: true });
  }
}
