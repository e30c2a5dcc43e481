/** Reads a tool's parameters out of what the user wrote. */
import type { JsonSchema } from "../../../../kernel/plugin.ts";
import type { ModelTool } from "../model.ts";
import { takeBoolean, takeChoice, takeList } from "./choices.ts";
import { takeDate, takeDateTime, takeTime } from "./dates.ts";
import { type Kind, kindOf } from "./kinds.ts";
import { countNumbers, takeLabelled, takeNext } from "./numbers.ts";
import { takeBareName, takeCountry, takePlace } from "./places.ts";
import { type Branch, isRecord, type Params, type Property, problemsOf, textOf } from "./schema.ts";
import { Source } from "./source.ts";
import { means } from "./synonyms.ts";
import {
  type ToolWords,
  takeIdentifier,
  takeLabelledText,
  takePath,
  takeQuoted,
  takeRemainder,
  takeSpoken,
  takeToken,
} from "./text.ts";
import { contentStems, isStop, stem, wordsOfName } from "./words.ts";

export interface Filled {
  readonly params: Params;
  /** Required properties nothing was found for. */
  readonly missing: readonly Property[];
  /** What was found and does not fit, in words. */
  readonly problems: readonly string[];
  /** Required properties that were read by their kind, not taken from leftover text. */
  readonly sure: number;
}

export interface FillOptions {
  readonly now: Date;
  /** Values from earlier in the conversation; what the text says wins. */
  readonly known?: Params;
  /** The text answers a question for these: a bare value is enough. */
  readonly asked?: readonly string[];
}

/** Kinds whose values are recognisable by themselves, most recognisable first. */
const ORDER: readonly Kind[] = [
  "url",
  "email",
  "path",
  "datetime",
  "date",
  "time",
  "choice",
  "number",
  "boolean",
  "currency",
  "language",
  "place",
  "country",
  "id",
  "list",
  "object",
  "text",
];

export function fill(tool: ModelTool, branch: Branch, text: string, options: FillOptions): Filled {
  const source = new Source(text);
  const asked = new Set(options.asked ?? []);
  const found: Params = {};
  takeJson(source, branch, found);

  const hasCountry = branch.properties.some((property) => kindOf(property) === "country");
  const scope: Scope = { now: options.now, hasCountry };
  const open = () => branch.properties.filter((property) => !Object.hasOwn(found, property.name));
  const put = (property: Property, value: unknown) => {
    if (value !== undefined && accepts(property, value)) found[property.name] = value;
  };
  // What was asked for comes first: the answer "EUR" must not go to a property that was already known.
  const place = (property: Property) =>
    ORDER.indexOf(kindOf(property)) - (asked.has(property.name) ? ORDER.length : 0);
  const sorted = [...open()].sort((one, other) => place(one) - place(other));
  for (const property of sorted) put(property, takeByKind(source, property, scope));
  const numbers = open().filter(
    (property) => isNumber(property) && (property.required || asked.has(property.name)),
  );
  // One number for two properties is the number of something else, unless it answers a question.
  if (asked.size > 0 || countNumbers(source) >= numbers.length) {
    for (const property of numbers) put(property, takeNext(source, property));
  }
  const name = wordsOfName(tool.name);
  const sure = branch.properties.filter(
    (property) =>
      property.required &&
      Object.hasOwn(found, property.name) &&
      // "a mission: …" names the tool, not its parameter of that name.
      !wordsOfName(property.name).every((word) => name.includes(word)),
  ).length;

  const wanting = () =>
    open().filter(
      (property) =>
        property.required && isText(property) && !Object.hasOwn(options.known ?? {}, property.name),
    );
  for (const property of wanting()) put(property, takeQuoted(source));
  const own = ownWords(tool, branch);
  for (const property of wanting().filter((one) => kindOf(one) === "place")) {
    put(property, takeBareName(source, own.isOwn));
  }
  const left = wanting();
  const only = left[0];
  if (only && left.length === 1 && kindOf(only) === "text" && asked.size === 0) {
    put(only, takeRemainder(source, own));
  }
  for (const property of open()) {
    if (asked.has(property.name) && kindOf(property) === "boolean") put(property, yesOrNo(source.rest));
  }
  const first = open().find((property) => asked.has(property.name));
  if (first && isText(first)) put(first, bareAnswer(source.rest, kindOf(first)));

  return settle(tool.schema, branch, { ...options.known, ...found, ...branch.fixed }, sure);
}

/** Leaves only what the schema takes; what it refuses is asked for again, or dropped where it was optional. */
function settle(schema: JsonSchema, branch: Branch, params: Params, sure: number): Filled {
  const problems: string[] = [];
  const required = new Set(branch.properties.filter((one) => one.required).map((one) => one.name));
  for (const property of branch.properties) {
    if (property.required && !Object.hasOwn(params, property.name) && "default" in property.schema) {
      params[property.name] = property.schema["default"];
    }
  }
  for (const name of Object.keys(params)) {
    const property = branch.properties.find((one) => one.name === name);
    if (!property) {
      if (!Object.hasOwn(branch.fixed, name)) delete params[name];
      continue;
    }
    const wrong = problemsOf(property.schema, params[name])[0];
    if (!wrong) continue;
    delete params[name];
    if (required.has(name)) problems.push(`${name} ${wrong.message}`);
  }
  const missing = branch.properties.filter((one) => one.required && !Object.hasOwn(params, one.name));
  if (missing.length === 0) {
    for (const problem of problemsOf(schema, params))
      problems.push(`${problem.property ?? "the whole"} ${problem.message}`);
  }
  return { params, missing, problems, sure };
}

/** What a single value cannot know: the time, and what its neighbours take. */
interface Scope {
  readonly now: Date;
  readonly hasCountry: boolean;
}

function takeByKind(source: Source, property: Property, scope: Scope): unknown {
  const kind = kindOf(property);
  switch (kind) {
    case "choice":
      return takeChoice(source, property, asList(property.schema["enum"]));
    case "boolean":
      return takeBoolean(source, property);
    case "number":
      return takeLabelled(source, property);
    case "list":
      return takeList(source, property);
    case "object":
      return takeObject(source, property, scope);
    default:
      return takeLabelledText(source, property) ?? takeString(source, property, kind, scope);
  }
}

function takeString(source: Source, property: Property, kind: Kind, scope: Scope): unknown {
  switch (kind) {
    case "url":
      return source.takeMatch(/\bhttps?:\/\/[^\s<>"'\uE000]*[^\s<>"'.,;:!?)\uE000]/iu);
    case "email":
      return source.takeMatch(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/u);
    case "date":
      return takeDate(source, scope.now);
    case "datetime":
      return takeDateTime(source, scope.now);
    case "time":
      return takeTime(source);
    case "currency":
      return source.takeMatch(/\b([A-Z]{3})\b/);
    case "path":
      return takePath(source);
    case "language":
      return source.takeMatch(/\b(?:to|into|in)\s+(\p{Lu}\p{L}+)/u);
    case "place":
      return takePlace(source, property, !scope.hasCountry);
    case "country":
      return takeCountry(source, property);
    case "id":
      return "pattern" in property.schema
        ? takeToken(source, (found) => accepts(property, found))
        : takeIdentifier(source, (found) => accepts(property, found));
    default:
      return takeSpoken(source, property);
  }
}

function takeObject(source: Source, property: Property, scope: Scope): Params | undefined {
  if (!property.required || !isRecord(property.schema["properties"])) return undefined;
  const params: Params = {};
  for (const [name, raw] of Object.entries(property.schema["properties"])) {
    if (!isRecord(raw)) continue;
    const inner: Property = {
      name,
      schema: raw,
      required: asList(property.schema["required"]).includes(name),
    };
    if (kindOf(inner) === "object") continue;
    const value =
      takeByKind(source, inner, scope) ??
      (inner.required && isNumber(inner) ? takeNext(source, inner) : undefined);
    if (value !== undefined && accepts(inner, value)) params[name] = value;
  }
  return Object.keys(params).length > 0 ? params : undefined;
}

/** Parameters written out as JSON are taken as they stand. */
function takeJson(source: Source, branch: Branch, found: Params): void {
  const start = source.rest.indexOf("{");
  const end = source.rest.lastIndexOf("}");
  if (start < 0 || end < start) return;
  try {
    const given: unknown = JSON.parse(source.rest.slice(start, end + 1));
    if (!isRecord(given)) return;
    for (const property of branch.properties) {
      if (Object.hasOwn(given, property.name)) found[property.name] = given[property.name];
    }
    source.take(start, end + 1);
  } catch {
    // Not JSON after all: it stays text.
  }
}

function yesOrNo(answer: string): boolean | undefined {
  const word = /^\s*(yes|yeah|yep|sure|true|on|no|nope|false|off)\b/i.exec(answer)?.[1]?.toLowerCase();
  return word === undefined ? undefined : !["no", "nope", "false", "off"].includes(word);
}

/** A whole answer to "which city?": without "it's", "in" and the full stop. */
function bareAnswer(rest: string, kind: Kind): string | undefined {
  const answer = rest
    .replace(/\uE000+/gu, " ")
    .trim()
    .replace(
      /^(?:it['’]?s|it is|that['’]?s|that is|i mean|i meant|make it|use|in|for|at|the one|my)\s+/iu,
      "",
    )
    .replace(/[.!?]+$/u, "")
    .replace(/^["'“](.*)["'”]$/u, "$1")
    .trim();
  if (kind === "id" && /\s/u.test(answer)) return undefined;
  return answer === "" || (answer.length < 4 && isStop(answer)) ? undefined : answer;
}

function ownWords(tool: ModelTool, branch: Branch): ToolWords {
  const name = new Set(
    [
      "tool",
      "function",
      ...wordsOfName(tool.name),
      ...branch.properties.flatMap((one) => wordsOfName(one.name)),
    ].map(stem),
  );
  const stems = new Set([
    ...wordsOfName(tool.name).map(stem),
    ...contentStems(tool.description),
    ...contentStems(branch.description),
    ...Object.values(branch.fixed).flatMap((value) => wordsOfName(textOf(value)).map(stem)),
    ...branch.properties.flatMap((property) => wordsOfName(property.name).map(stem)),
  ]);
  return {
    isName: (stemmed) => name.has(stemmed),
    isOwn: (stemmed) => stems.has(stemmed) || [...stems].some((own) => means(own, stemmed)),
  };
}

function accepts(property: Property, value: unknown): boolean {
  return problemsOf(property.schema, value).length === 0 || kindOf(property) === "number";
}

function isNumber(property: Property): boolean {
  return kindOf(property) === "number";
}

function isText(property: Property): boolean {
  return !["choice", "boolean", "number", "list", "object"].includes(kindOf(property));
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
