/**
 * May this call run without asking, given where its values come from? Nothing is asked while all that was read in the
 * conversation is the person's. Once somebody else's words are in it, a value counts as theirs unless it can be traced to the person.
 */
import type { JsonSchema } from "../../../../kernel/plugin.ts";
import { foldedWords } from "../../memory/terms.ts";
import { type AnswerRecord, namedRecords, recordsIn, type Scalar } from "./records.ts";
import { isAddress, type Role, roleOf } from "./roles.ts";
import type { Said } from "./said.ts";
import { isAskedFor } from "./verbs.ts";

/** What somebody else said in this conversation, and what they were asked. */
export interface Heard {
  /** Of a tool or a server; values that it said may go back to it. */
  readonly owner: string;
  readonly text: string;
  /** The params of the call that it answers. */
  readonly asked: unknown;
}

export interface Called {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly params: unknown;
  /** It changes something. */
  readonly writes: boolean;
  /** What it is sent leaves this machine. */
  readonly isOutside: boolean;
  readonly owner: string;
  /** What its params are for, where the tool says so. */
  readonly roles?: Readonly<Record<string, Role>> | undefined;
}

export type Rule = "destination" | "content" | "change";

export interface Finding {
  readonly rule: Rule;
  /** The parameter. */
  readonly name: string;
  readonly value: Scalar;
  /** Who said it, where it can be found. */
  readonly source: Heard | undefined;
}

interface Leaf {
  readonly name: string;
  readonly role: Role;
  readonly value: Scalar;
  readonly property: Property | undefined;
}

interface Property {
  readonly type?: unknown;
  readonly format?: unknown;
  readonly enum?: unknown;
  readonly default?: unknown;
  readonly description?: unknown;
}

export function judge(called: Called, said: Said, heard: readonly Heard[]): readonly Finding[] {
  if (heard.length === 0) return [];
  const leaves = [...leavesOf(called)];
  const check = called.writes ? checkChange(called, leaves, said, heard) : checkReading(called, said, heard);
  return leaves.flatMap((leaf) => {
    const rule = check(leaf);
    return rule === undefined
      ? []
      : [{ rule, name: leaf.name, value: leaf.value, source: sourceOf(leaf.value, heard) }];
  });
}

type Check = (leaf: Leaf) => Rule | undefined;

/** Reading changes nothing, but what is asked can carry something out. */
function checkReading({ isOutside, owner }: Called, said: Said, heard: readonly Heard[]): Check {
  const own = heard.filter((one) => one.owner === owner);
  return ({ value, role }) => {
    if (typeof value !== "string") return undefined;
    if (isAddress(value) && (role === "destination" || isOutside))
      return said.hasName(value) ? undefined : "destination";
    if (!isOutside) return undefined;
    const words = foldedWords(value);
    if (words.every((word) => said.words.has(word)) || sourceOf(value, own)) return undefined;
    return "content";
  };
}

function checkChange(called: Called, leaves: readonly Leaf[], said: Said, heard: readonly Heard[]): Check {
  const isAsked = isAskedFor(called.name, said);
  const texts = leaves.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
  const records = heard.flatMap(({ text }) => recordsOf(text));
  const named = isAsked ? namedRecords(records, said) : [];
  const isTheirs = (leaf: Leaf) => isPersons(leaf, said, texts);
  const isPointedTo = ({ value }: Leaf) =>
    named.some((record) => record.some(([, field]) => String(field) === String(value)));
  const isBegun = ({ value }: Leaf) =>
    isAsked && said.beginnings.some((begin) => isOnlyOne(String(value), begin, records));
  // What was read at the person's word may be kept where the person said.
  const isKept = (leaf: Leaf) => {
    const targets = leaves.filter(({ role }) => role !== "content");
    return (
      isAsked &&
      !called.isOutside &&
      isStore(called.name) &&
      targets.length > 0 &&
      targets.every((target) => isTheirs(target) || isPointedTo(target)) &&
      isExcerpt(String(leaf.value), heard, said)
    );
  };
  return (leaf) => {
    if (isTheirs(leaf)) return undefined;
    switch (leaf.role) {
      case "destination":
        return isBegun(leaf) ? undefined : "destination";
      case "selector":
        return isPointedTo(leaf) ? undefined : "change";
      case "content":
        return isKept(leaf) ? undefined : "change";
    }
  };
}

function isPersons({ name, role, value, property }: Leaf, said: Said, beside: readonly string[]): boolean {
  if (typeof value === "boolean")
    return value === (property?.default ?? false) || foldedWords(name).some((word) => said.words.has(word));
  if (typeof value === "number")
    return role === "selector" ? said.hasLabelled(`${value}`, name) : said.hasNumber(value);
  if (value.trim() === "" || said.hasMoment(value, beside)) return true;
  if (isAddress(value) || (role === "destination" && /[@./:\\]|\d{4}/.test(value)))
    return said.hasName(value);
  if (/^\d+$/.test(value)) return said.hasLabelled(value, name);
  return said.hasPhrase(value) || isChoice(value, property, said);
}

/** One of few that the schema lists, by its name or by its beginning: "r" for "read". */
function isChoice(value: string, property: Property | undefined, said: Said): boolean {
  const choices = choicesOf(property);
  if (!choices.includes(value)) return false;
  return [...said.words].some(
    (word) => word.startsWith(value.toLowerCase()) && isWordFor(value, word, choices),
  );
}

function isWordFor(value: string, word: string, choices: readonly string[]): boolean {
  return word === value.toLowerCase() || choices.every((other) => other === value || !word.startsWith(other));
}

function choicesOf(property: Property | undefined): readonly string[] {
  return Array.isArray(property?.enum) ? property.enum.map(String) : [];
}

function isOnlyOne(value: string, begin: string, records: readonly AnswerRecord[]): boolean {
  const fitting = new Set(
    records.flatMap((record) =>
      record.flatMap(([, field]) =>
        typeof field === "string" && field.toLowerCase().startsWith(begin) ? [field] : [],
      ),
    ),
  );
  return fitting.size === 1 && fitting.has(value);
}

const STORE = /^(?:create|append|write|add|save|put)_.*(?:file|note|document|doc|page|list)/;

function isStore(tool: string): boolean {
  return STORE.test(tool);
}

/** Every line of it was read where the person had sent the agent to read. */
function isExcerpt(value: string, heard: readonly Heard[], said: Said): boolean {
  const read = heard
    .filter(({ asked }) => textsOf(asked).some((text) => said.hasPhrase(text)))
    .map(({ text }) => ` ${foldedWords(text).map(singular).join(" ")} `);
  const lines = value.split("\n").map((line) => foldedWords(line).map(singular).join(" "));
  return lines.every((line) => line === "" || read.some((text) => text.includes(` ${line} `)));
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith("s") ? word.slice(0, -1) : word;
}

function sourceOf(value: Scalar, heard: readonly Heard[]): Heard | undefined {
  const words = foldedWords(String(value)).join(" ");
  if (words === "") return undefined;
  return heard.findLast(({ text }) => wordsOf(text).includes(` ${words} `));
}

// A text is read once, however many calls are judged by it.
const RECORDS = new Map<string, readonly AnswerRecord[]>();
const WORDS = new Map<string, string>();
const recordsOf = (text: string) => remember(RECORDS, text, recordsIn);
const wordsOf = (text: string) => remember(WORDS, text, (one) => ` ${foldedWords(one).join(" ")} `);

const MOST_KEPT = 500;

function remember<Value>(known: Map<string, Value>, text: string, make: (text: string) => Value): Value {
  const made = known.get(text) ?? make(text);
  known.delete(text);
  known.set(text, made);
  const [oldest] = known.keys();
  if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest);
  return made;
}

function* leavesOf({ schema, params, roles = {} }: Called): Generator<Leaf> {
  if (typeof params !== "object" || params === null) return;
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, Property | undefined>>;
  for (const [name, value] of Object.entries(params)) {
    const property = properties[name];
    const role = (Object.hasOwn(roles, name) ? roles[name] : undefined) ?? roleOf(name, property);
    for (const scalar of scalarsOf(value)) yield { name, role, value: scalar, property };
  }
}

function* scalarsOf(value: unknown): Generator<Scalar> {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") yield value;
  else if (typeof value === "object" && value !== null)
    for (const one of Object.values(value)) yield* scalarsOf(one);
}

function textsOf(value: unknown): readonly string[] {
  return [...scalarsOf(value)].filter((scalar) => typeof scalar === "string");
}
