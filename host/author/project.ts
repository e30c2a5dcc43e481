/** A tool's project folder, as `tool new` creates it: where its parts are and what they build. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { ROOT } from "../../kernel/kit/files.ts";
import { Fault } from "../../kernel/plugin.ts";
import { checkName } from "../catalog/install.ts";

/** The example that a new tool starts with; each has a folder among the templates. */
export const TEMPLATES = ["blank", "http", "auth"] as const;

export const LANGUAGES = ["ts", "js", "rust", "c", "python", "go"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The languages that Postern bundles itself; `--engine` is for them. */
export function isScript(language: Language): boolean {
  return language === "ts" || language === "js";
}

export const ENTRIES: Readonly<Record<Language, string>> = {
  ts: "tool.ts",
  js: "tool.js",
  rust: "src/lib.rs",
  c: "tool.c",
  python: "tool.py",
  // The name of the package is what the generated bindings call.
  go: "export_postern_tool_tool/tool.go",
};

export const WIT = join(ROOT, "wit");

export interface Project {
  readonly folder: string;
  readonly name: string;
  readonly language: Language;
  readonly entry: string;
  readonly wit: string;
  readonly capabilities: string;
  readonly component: string;
}

export function openProject(folder: string): Project {
  const absolute = resolve(folder);
  const name = basename(absolute);
  const language = LANGUAGES.find((candidate) => existsSync(join(absolute, ENTRIES[candidate])));
  if (language === undefined) {
    const message = `${folder} is not a tool project: it has none of ${Object.values(ENTRIES).join(", ")}. Create one with "postern tool new <dir>".`;
    throw new Fault("invalid", "no_project", message, { param: folder });
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

export async function listRecordings({ folder }: Project): Promise<readonly string[]> {
  const recordings = join(folder, "recordings");
  const names = existsSync(recordings) ? await readdir(recordings) : [];
  return names
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => join(recordings, name));
}
