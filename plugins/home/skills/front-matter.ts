/** The front matter of a SKILL.md: the YAML of the Agent Skills standard, texts alone. What is ambiguous is refused. */
import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import { reason } from "../../../kernel/plugin.ts";

/** A text, or texts by their keys. */
export type Field = string | ReadonlyMap<string, string> | readonly string[];

export interface FrontMatter {
  readonly fields: ReadonlyMap<string, Field>;
  /** What the standard does not allow, although it can be read, each with what to do. */
  readonly problems: readonly string[];
  /** What follows it. */
  readonly text: string;
}

const MAX_LENGTH = 16 * 1024;
/** The document, its map, a pair, a map in it, and a pair of that one. */
const MAX_DEPTH = 4;
/** Loaded with the first skill: its 70 files would be part of every start. */
const yaml = () => createRequire(import.meta.url)("yaml") as typeof Yaml;
const FENCE = /^---[ \t]*$/;

/** Throws an error that says what to do. */
export function readFrontMatter(source: string): FrontMatter {
  const [first = "", ...lines] = source.replace(/^\uFEFF/, "").split(/\r?\n/);
  const end = FENCE.test(first) ? lines.findIndex((line) => FENCE.test(line)) : -1;
  if (end === -1)
    throw new Error(
      "its SKILL.md does not start with front matter: put name and description between two lines of ---",
    );
  const matter = lines.slice(0, end);
  if (matter.join("\n").length > MAX_LENGTH)
    throw new Error(`its front matter has more than ${MAX_LENGTH / 1024} KiB: move what is long below it`);
  if (matter.some((line) => line.startsWith("...") || line.startsWith("%"))) refuse("a second document");
  const text = lines
    .slice(end + 1)
    .join("\n")
    .trim();
  return { ...readFields(matter.join("\n")), text };
}

function readFields(matter: string): Omit<FrontMatter, "text"> {
  const { isAlias, isCollection, isMap, isNode, parseDocument, visit } = yaml();
  const problems = new Set<string>();
  // In this schema no value is anything but a text.
  const document = parseDocument(matter, { schema: "failsafe", uniqueKeys: true, logLevel: "silent" });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) throw new Error(`its front matter is not valid YAML: ${explain(problem)}`);
  visit(document, (_, node, path) => {
    if (isAlias(node)) refuse("an alias (*)");
    if (isNode(node) && "anchor" in node && node.anchor !== undefined) refuse("an anchor (&)");
    if (isNode(node) && node.tag !== undefined) refuse("a tag (!)");
    if (isCollection(node) && node.flow)
      problems.add("its front matter has a list or map in brackets: write one line for each entry");
    if (isCollection(node) && path.length > MAX_DEPTH)
      problems.add(
        "its front matter is nested deeper than a map of texts: write a line `key: value` for each entry",
      );
  });
  const { contents } = document;
  if (!isMap(contents)) throw new Error("its front matter is not a list of `key: value` lines");
  const fields = new Map(contents.items.map(({ key, value }) => [keyOf(key), fieldOf(value)]));
  return { fields, problems: [...problems] };
}

function fieldOf(value: unknown): Field {
  if (yaml().isMap(value)) return new Map(value.items.map((pair) => [keyOf(pair.key), textOf(pair.value)]));
  if (typeof value === "object" && value !== null && "items" in value)
    return (value.items as readonly unknown[]).map(textOf);
  return textOf(value);
}

function keyOf(key: unknown): string {
  if (!yaml().isScalar(key)) throw new Error("a key of its front matter is not a word");
  return textOf(key);
}

function textOf(value: unknown): string {
  if (value === null) return "";
  if (!yaml().isScalar(value)) return String(value);
  return value.value === null ? "" : String(value.value);
}

function refuse(what: string): never {
  throw new Error(`its front matter has ${what}, which the standard does not allow`);
}

/** The parser's first line says what and where; the rest draws it. */
function explain(problem: Error): string {
  const [line = ""] = reason(problem).split("\n");
  const hint = line.includes("Nested mappings") ? " Put a value that has a colon in quotes." : "";
  return `${line.replace(/:$/, ".")}${hint}`;
}
