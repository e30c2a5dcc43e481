/** The operator's files of a home, to be compared with those that nodes share, and written there. */
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { Fault } from "../../kernel/plugin.ts";
import { isOperatorFile, MAX_BYTES, SINGLE_FILES, skillPath } from "./files.ts";
import { openFolderFiles, writeWhole } from "./folder.ts";

export interface Gathered {
  readonly files: ReadonlyMap<string, string>;
  /** Sentences: what is there and cannot be used. */
  readonly problems: readonly string[];
}

export async function gather(home: string): Promise<Gathered> {
  const folder = openFolderFiles(home);
  const files = new Map<string, string>();
  const problems: string[] = [];
  for (const path of SINGLE_FILES) {
    const text = await folder.read(path, MAX_BYTES);
    if (text !== undefined) files.set(path, text);
  }
  for (const skill of await folder.skills()) {
    if ("why" in skill) problems.push(`skills/${skill.folder}: ${skill.why}`);
    else files.set(skillPath(skill.folder), skill.text);
  }
  for (const [path, text] of files) {
    if (!isOperatorFile(path)) problems.push(`${path}: its name cannot be shared`);
    // PostgreSQL keeps no such character, and no text has one.
    if (text.includes("\0")) problems.push(`${path}: it is not a text`);
    if (Buffer.byteLength(text) >= MAX_BYTES) problems.push(`${path}: it has more than 1 MiB`);
  }
  return { files, problems };
}

export type Difference = ReturnType<typeof compare>;

/** Returns the changes that turn the one into the other. */
export function compare(from: ReadonlyMap<string, string>, to: ReadonlyMap<string, string>) {
  const paths = [...to.keys()];
  return {
    added: paths.filter((path) => !from.has(path)),
    changed: paths.filter((path) => from.has(path) && from.get(path) !== to.get(path)),
    removed: [...from.keys()].filter((path) => !to.has(path)),
  };
}

/** The home's files that count for nothing, because those of the database are others. */
export async function findUnused(
  home: string,
  shared: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const { added, changed } = compare(shared, (await gather(home)).files);
  return [...added, ...changed];
}

/** Each whole or not at all. A database that says other paths than it was given is not followed out of the home. */
export function writeToHome(
  home: string,
  written: ReadonlyMap<string, string>,
  removed: readonly string[],
): void {
  for (const path of written.keys())
    if (!isOperatorFile(path))
      throw new Fault("invalid", "bad_files", `the database holds a file that is not for the agent: ${path}`);
  for (const [path, text] of written) {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeWhole(file, text);
  }
  for (const path of removed) rmSync(join(home, path), { force: true });
}
