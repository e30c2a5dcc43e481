/** A tool's project folder, as `tool new` creates it: where its parts are and what they build. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { ROOT } from "../../kernel/kit.ts";
import { Fault } from "../../kernel/plugin.ts";
import { checkName } from "../catalog/install.ts";

export const LANGUAGES = ["ts", "js", "rust"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The source that marks a project's language. */
export const ENTRIES: Readonly<Record<Language, string>> = {
  ts: "tool.ts",
  js: "tool.js",
  rust: "src/lib.rs",
};

/** The folder of the contract, which comes with Postern. */
export const WIT = join(ROOT, "wit");

export interface Project {
  readonly folder: string;
  /** What the tool is called: the folder's name. */
  readonly name: string;
  readonly language: Language;
  readonly entry: string;
  /** The folder's own copy of the contract, or ours. */
  readonly wit: string;
  readonly capabilities: string;
  readonly component: string;
}

export function openProject(folder: string): Project {
  const absolute = resolve(folder);
  const name = basename(absolute);
  const language = LANGUAGES.find((candidate) => existsSync(join(absolute, ENTRIES[candidate])));
  if (language === undefined) {
    throw new Fault(
      "invalid",
      "no_project",
      `${folder} is not a tool project: it has none of ${Object.values(ENTRIES).join(", ")}. Create one with "postern tool new <dir>".`,
      { param: folder },
    );
  }
  checkName(name);
  const ownWit = join(absolute, "wit");
  return {
    folder: absolute,
    name,
    language,
    entry: join(absolute, ENTRIES[language]),
    wit: existsSync(join(ownWit, "tool.wit")) ? ownWit : WIT,
    capabilities: join(absolute, "capabilities.json"),
    component: join(absolute, "dist", `${name}.wasm`),
  };
}

/** The project's example calls, in the order of their names. */
export async function listRecordings({ folder }: Project): Promise<readonly string[]> {
  const recordings = join(folder, "recordings");
  const names = existsSync(recordings) ? await readdir(recordings) : [];
  return names
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => join(recordings, name));
}
