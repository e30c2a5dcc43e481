/** The records in a tool's output. Only structure counts: what a field's text pretends to be is never read as another field. */
import { createRequire } from "node:module";
import type { Scalar as YamlScalar } from "yaml";
import { wordsOfName } from "../../../kernel/kit/words.ts";
import tools from "../words/tools.json" with { type: "json" };

export type Scalar = string | number | boolean;
/** One thing with its fields, a list of plain values being one field many times; a plain text in a list is a record of one. */
export type AnswerRecord = readonly (readonly [field: string, value: Scalar, isListed?: boolean])[];

const MAX_RECORDS = 2000;
const MAX_DEPTH = 12;
const MAX_JSON_LENGTH = 2_000_000;
/** The parser of YAML takes about a microsecond for a character, and strangers' text is read on the main thread. */
const MAX_YAML_LENGTH = 100_000;

export function recordsIn(text: string): readonly AnswerRecord[] {
  const found: AnswerRecord[] = [];
  const walk = (value: unknown, depth: number): void => {
    if (depth > MAX_DEPTH || found.length >= MAX_RECORDS) return;
    if (Array.isArray(value)) {
      for (const one of value) {
        if (typeof one === "string") found.push([["", one]]);
        else walk(one, depth + 1);
      }
    } else if (typeof value === "object" && value !== null) {
      const fields = Object.entries(value);
      found.push(
        fields.flatMap(([name, one]): AnswerRecord => {
          if (isScalar(one)) return [[name, one]];
          return Array.isArray(one) ? one.filter(isScalar).map((each) => [name, each, true]) : [];
        }),
      );
      for (const [, one] of fields) {
        const isList = Array.isArray(one) && one.every((each) => !isObject(each));
        if (isObject(one) && !isList) walk(one, depth + 1);
      }
    }
  };
  walk(parse(text), 0);
  return found;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

export function isScalar(value: unknown): value is Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function parse(text: string): unknown {
  try {
    if (!/^\s*[[{]/.test(text)) return readYaml(text);
    return text.length > MAX_JSON_LENGTH ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Every line of a list or a mapping at the left edge looks like one of these; prose does not. */
const OTHER_LINE = /^(?!- |[\p{L}_][\p{L}\p{N}_.@+-]{0,100}:|\s|$)/mu;
const KEY = /^([\p{L}_][\p{L}\p{N}_.@+-]{0,100}):$/u;
/** Plain text that libraries would put into quotes. */
const UNUSUAL = /^[-?:,[\]{}#&*!|>'"%@`]|: |:$| #/;

/**
 * Reads block YAML as libraries write it and nothing else: whatever is unusual throws, so that no line of somebody's text is
 * taken for a field. No alias is resolved. Repeated keys are found here because the parser compares each key with all others.
 */
function readYaml(text: string): unknown {
  if (text.length > MAX_YAML_LENGTH || /^\s/.test(text) || OTHER_LINE.test(text)) return undefined;
  // Loaded with the first YAML: it would slow down every start.
  const yaml = createRequire(import.meta.url)("yaml") as typeof import("yaml");
  const { isMap, isScalar, isSeq, parseDocument } = yaml;
  const { contents, comment, commentBefore, errors } = parseDocument(text, {
    schema: "failsafe",
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  if (errors.length > 0 || comment || commentBefore) return undefined;

  /** Refuses aliases, comments, blank lines, tags, anchors and anything in brackets. */
  const checked = (node: unknown) => {
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) throw new Error("an alias or a pair");
    const isFlow = "flow" in node && node.flow === true && node.items.length > 0;
    if (isFlow || node.comment || node.commentBefore || node.spaceBefore || node.tag || node.anchor)
      throw new Error("unusual YAML");
    return node;
  };
  const keyOf = (given: unknown): string => {
    const node = checked(given);
    // A key that a question mark introduces has no colon right after it.
    const [, key] = (isScalar(node) && KEY.exec(rawOf(node, text, 1))) || [];
    if (key === undefined) throw new Error("an unusual key");
    return key;
  };
  const read = (given: unknown, depth: number): unknown => {
    if (given === null) return undefined;
    if (depth > MAX_DEPTH) throw new Error("too deep");
    const node = checked(given);
    if (isScalar(node)) return scalarOf(node, text);
    if (node.flow) return undefined;
    if (isMap(node)) {
      const fields = node.items.map(({ key, value }) => [keyOf(key), read(value, depth + 1)] as const);
      const found = Object.fromEntries(fields);
      if (Object.keys(found).length < fields.length) throw new Error("a repeated key");
      return found;
    }
    const items = node.items.map((item) => read(item, depth + 1));
    // Things of one list have the same fields in one order, unless one was slipped in.
    const things = items.filter((item) => isObject(item) && !Array.isArray(item)) as object[];
    if (new Set(things.map((thing) => Object.keys(thing).join("\n"))).size > 1)
      throw new Error("things with other fields");
    return items;
  };
  return read(contents, 0);
}

/** As it is written, with its quotes and so many characters after it. */
function rawOf({ range }: YamlScalar, text: string, after = 0): string {
  return range ? text.slice(range[0], range[1] + after) : "";
}

function scalarOf(node: YamlScalar, text: string): unknown {
  if (node.type !== "PLAIN") return node.value;
  const lines = rawOf(node, text)
    .split("\n")
    .map((line) => line.trim());
  if (lines.some((line) => UNUSUAL.test(line) || (line === "" && lines.length > 1)))
    throw new Error("text that should be in quotes");
  return lines.length > 1 ? node.value : typed(String(node.value));
}

function typed(text: string): unknown {
  if (text === "" || text === "null" || text === "~") return undefined;
  if (text === "true" || text === "false") return text === "true";
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?$/.test(text) ? Number(text) : text;
}

const LISTING = new Set(tools.listing.split(" "));
const GETTING = new Set(tools.getting.split(" "));
/** Tools with these words return a text that somebody else wrote from beginning to end, records and all. */
const READING = new Set(tools.reading.split(" "));
const PLURAL = /[^siu]s$/;

/** True where the outputs of a tool list things, so that their fields are the tool's own. */
export function listsThings(tool: string): boolean {
  const words = wordsOfName(tool);
  const isGetter = words.some((word) => GETTING.has(word)) && words.some((word) => PLURAL.test(word));
  return !words.some((word) => READING.has(word)) && (isGetter || words.some((word) => LISTING.has(word)));
}
