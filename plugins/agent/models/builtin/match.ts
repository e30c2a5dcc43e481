/** Which tool a request is about: words of its name, description and schema, and whether its parameters are there. */
import type { ModelTool } from "../model.ts";
import { type Filled, fill } from "./fill.ts";
import { type Branch, branchesOf, isRecord, textOf } from "./schema.ts";
import { relatedTo } from "./synonyms.ts";
import { contentStems, isGeneric, isNumeral, stem, wordsOf, wordsOfName } from "./words.ts";

export interface Candidate {
  readonly tool: ModelTool;
  readonly branch: Branch;
  readonly filled: Filled;
  readonly score: number;
  /** Where the tool stands in the list. */
  readonly place: number;
}

/** From here on a request is taken to mean the tool. */
const CONFIDENT = 2;
/** Two tools nearer than this are both meant: the user decides. */
const CLOSE = 0.5;
/** Two tools of the same name, everyday verbs aside, may be this far apart and still do the same. */
const ALIKE = 2;

const WEIGHT = { name: 3, generic: 0.8, fixed: 2.5, described: 1, property: 0.7, choice: 1 };
const SYNONYM = 0.6;
const NAMED = 10;

/** Every tool the text touches at all, in its best branch, best first. */
export function rank(text: string, tools: readonly ModelTool[], now: Date): Candidate[] {
  const asked = contentStems(text);
  for (const joined of adjoined(text)) asked.add(joined);
  const candidates: Candidate[] = [];
  for (const [place, tool] of tools.entries()) {
    if (tool.name.startsWith("memory_") && !MEMORY.test(text)) continue;
    const best = branchesOf(tool.schema)
      .map((branch) => weigh(tool, branch, text, asked, now))
      .reduce((top, next) => (next && (!top || next.score > top.score) ? next : top), undefined);
    if (best) candidates.push({ ...best, place });
  }
  return candidates.sort((one, other) => other.score - one.score);
}

/** Remembering has its own ways of being asked for; its tools are matched only by name. */
const MEMORY = /\b(?:memory|memories|notes?|documents?)\b|\bmemory_|\.md\b/i;

/** One name is the other with an everyday verb before it. */
function areAlike(one: ModelTool, other: ModelTool): boolean {
  const [short = [], long = []] = [one, other]
    .map((tool) => wordsOfName(tool.name).map(stem))
    .sort((first, second) => first.length - second.length);
  return (
    short.every((word) => long.includes(word)) &&
    long.every((word) => short.includes(word) || isGeneric(word))
  );
}

/** The one that is meant, several that may be, or none. */
export function choose(candidates: readonly Candidate[]): readonly Candidate[] {
  const top = candidates[0];
  if (!top || top.score < CONFIDENT) return [];
  // `weather` and `get_weather` do the same. The tools a caller declares are listed last, and are meant here.
  const alike = candidates.filter(
    (one) => top.score - one.score <= ALIKE && one.score >= CONFIDENT && areAlike(one.tool, top.tool),
  );
  const last = alike.reduce((chosen, one) => (one.place > chosen.place ? one : chosen), top);
  if (last !== top) return [last];
  return candidates.filter((one) => one.score >= CONFIDENT && top.score - one.score < CLOSE);
}

function weigh(
  tool: ModelTool,
  branch: Branch,
  text: string,
  asked: ReadonlySet<string>,
  now: Date,
): Candidate | undefined {
  const terms = termsOf(tool, branch);
  const hits: { term: string; weight: number; kind: Term["kind"] }[] = [];
  for (const word of asked) {
    // A number is a value, never a topic.
    const hit = isNumeral(word) ? undefined : hitOf(word, terms);
    if (hit) hits.push(hit);
  }
  // Two words for one idea ("goal", "mission") count once; long descriptions must not outweigh names.
  const once = new Map<string, { weight: number; kind: Term["kind"] }>();
  for (const { term, weight, kind } of hits) {
    const before = once.get(term);
    if (!before || before.weight < weight) once.set(term, { weight, kind });
  }
  const sum = (kind: Term["kind"], cap: number) =>
    Math.min(
      cap,
      [...once.values()].filter((hit) => hit.kind === kind).reduce((total, hit) => total + hit.weight, 0),
    );
  let score = sum("name", 8) + sum("described", 3) + sum("property", 1);
  if (isNamed(tool.name, text)) score += NAMED;
  if (score === 0) return undefined;
  const filled = fill(tool, branch, text, { now });
  if (filled.sure > 0) score += filled.missing.length === 0 ? 1 : 0.4;
  if (isStatement(text)) score -= 1;
  return { tool, branch, filled, score, place: 0 };
}

interface Term {
  readonly weight: number;
  readonly kind: "name" | "described" | "property";
}

function termsOf(tool: ModelTool, branch: Branch): Map<string, Term> {
  const terms = new Map<string, Term>();
  const add = (word: string, weight: number, kind: Term["kind"]) => {
    const term = { weight: isGeneric(word) ? Math.min(weight, WEIGHT.generic) : weight, kind };
    if ((terms.get(word)?.weight ?? 0) < term.weight) terms.set(word, term);
  };
  const propertyWords = new Set<string>();
  for (const property of branch.properties) {
    for (const word of wordsOfName(property.name)) propertyWords.add(stem(word));
    for (const value of choicesOf(property.schema)) {
      for (const word of wordsOfName(value)) add(stem(word), WEIGHT.choice, "property");
    }
  }
  for (const word of propertyWords) add(word, WEIGHT.property, "property");
  // A tool called just "search" or "add" is meant by that word.
  const name = wordsOfName(tool.name).map(stem);
  const isPlain = name.every(isGeneric);
  for (const word of name) {
    if (isPlain) terms.set(word, { weight: WEIGHT.name, kind: "name" });
    else add(word, WEIGHT.name, "name");
  }
  for (const value of Object.values(branch.fixed)) {
    for (const word of wordsOfName(textOf(value))) add(stem(word), WEIGHT.fixed, "name");
  }
  for (const word of contentStems(`${tool.description} ${branch.description}`)) {
    // What the tool is given is not what it is about: a weather tool is not about cities.
    if (!propertyWords.has(word)) add(word, WEIGHT.described, "described");
  }
  return terms;
}

function hitOf(word: string, terms: ReadonlyMap<string, Term>) {
  const direct = terms.get(word);
  if (direct) return { term: word, ...direct };
  let best: { term: string; weight: number; kind: Term["kind"] } | undefined;
  for (const other of relatedTo(word)) {
    const term = terms.get(other);
    const weight = (term?.weight ?? 0) * SYNONYM;
    // What a parameter is called is too weak a sign to stretch.
    if (term && term.kind !== "property" && weight > (best?.weight ?? 0))
      best = { term: other, weight, kind: term.kind };
  }
  return best;
}

function choicesOf(schema: Readonly<Record<string, unknown>>): string[] {
  const items = isRecord(schema["items"]) ? schema["items"] : {};
  const values = Array.isArray(schema["enum"])
    ? schema["enum"]
    : Array.isArray(items["enum"])
      ? items["enum"]
      : [];
  return values.filter((value): value is string => typeof value === "string");
}

/** "look up" also stands for "lookup", "air quality" for "airquality". */
function* adjoined(text: string): Iterable<string> {
  const words = wordsOf(text);
  for (let at = 1; at < words.length; at += 1) yield stem(`${words[at - 1]?.text}${words[at]?.text}`);
}

function isNamed(name: string, text: string): boolean {
  const said = text.toLowerCase();
  const at = said.indexOf(name.toLowerCase());
  if (at < 0 || name.length < 3) return false;
  const spelled = /[_\-.]/.test(name) || /^\s*(?:tool|function|\{|`)/.test(said.slice(at + name.length));
  return spelled && !/[\w-]/.test(said.charAt(at - 1)) && !/[\w]/.test(said.charAt(at + name.length));
}

/** The user tells something about themselves rather than asking for anything. */
export function isStatement(text: string): boolean {
  if (/\?\s*$/.test(text)) return false;
  return (
    /^\s*(?:i|we|my|our|he|she|they|it|there)\b/i.test(text) &&
    !/^\s*(?:i|we)(?:['’]d|\s+(?:would|want|need|wish|must|should))\b/i.test(text)
  );
}
