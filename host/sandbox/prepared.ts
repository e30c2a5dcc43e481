/** In a clone, bundles the code of a tool's process: stripping its types takes three times as long as the rest of a start. */
import { execFileSync } from "node:child_process";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { moduleFile, ROOT } from "../../kernel/kit/files.ts";

const CACHE = join(ROOT, "node_modules", ".cache", "postern");
export const NEWEST = "sandbox.json";

export interface Bundle {
  readonly folder: string;
  /** The files it was made from, each with its size and the time of its last change. */
  readonly inputs: Readonly<Record<string, string>>;
}

/** The bundle of the first of these modules, the others beside it; the module itself where none can be written. */
export function prepared(modules: readonly [string, ...string[]], cache = CACHE): string {
  try {
    // In a process of its own: esbuild's would stay for more, and this happens only where the code has changed.
    if (newest(cache) === undefined)
      execFileSync(process.execPath, [moduleFile("host/sandbox/prepare"), cache, ...modules], {
        stdio: "ignore",
      });
    const bundle = newest(cache);
    const file = bundle && join(cache, bundle.folder, basename(modules[0]).replace(/ts$/, "js"));
    if (file !== undefined) {
      accessSync(file, constants.R_OK);
      return file;
    }
  } catch {
    // A clone that belongs to somebody else, or a full disk: slower, and just as right.
  }
  return modules[0];
}

function newest(cache: string): Bundle | undefined {
  try {
    const bundle = JSON.parse(readFileSync(join(cache, NEWEST), "utf8")) as Bundle;
    const isFresh = Object.entries(bundle.inputs).every(([file, state]) => stateOf(file) === state);
    return isFresh ? bundle : undefined;
  } catch {
    return undefined;
  }
}

export function stateOf(file: string): string {
  const { size, mtimeMs } = statSync(join(ROOT, file));
  return `${size} ${mtimeMs}`;
}
