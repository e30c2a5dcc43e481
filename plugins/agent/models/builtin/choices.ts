/** Values out of a closed set: listed ones, yes or no, and lists of either. */
import { takeAllNumbers } from "./numbers.ts";
import { isRecord, type Property, typeOf } from "./schema.ts";
import type { Source } from "./source.ts";
import { means } from "./synonyms.ts";
import { stem, wordsOf, wordsOfName } from "./words.ts";

/** The listed values the text names, by word, by inflection or by a word that means the same. */
function takeChoices(source: Source, property: Property, values: readonly unknown[]): unknown[] {
  const found: unknown[] = [];
  for (let next = takeChoice(source, property, values); next !== undefined; ) {
    found.push(next);
    const left = values.filter((value) => !found.includes(value));
    next = takeChoice(source, property, left);
  }
  return found;
}

interface Mention {
  readonly value: string | number;
  readonly start: number;
  readonly end: number;
}

/** The value that stands where this property's name would put it ("to EUR"), else the first there is. */
export function takeChoice(
  source: Source,
  property: Property,
  values: readonly unknown[],
): string | number | undefined {
  const exact = mentions(source, property, values, true);
  const found = exact.length > 0 ? exact : mentions(source, property, values, false);
  const role = ROLES.find(([words]) => wordsOfName(property.name).some((word) => words.test(word)));
  const led = (mention: Mention, by: RegExp) => by.test(source.rest.slice(0, mention.start));
  const other = ROLES.filter((one) => one !== role);
  const fitting =
    found.find((mention) => role && led(mention, role[1])) ??
    found.find((mention) => !role || !other.some(([, by]) => led(mention, by)));
  if (fitting) source.take(fitting.start, fitting.end);
  return fitting?.value;
}

/** Names that say which end of something is meant, and the words that lead to it. */
const ROLES: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:to|target|destination|into)$/, /\b(?:to|into|in)\s+$/i],
  [/^(?:from|source|origin|base)$/, /\bfrom\s+$/i],
];

function mentions(
  source: Source,
  property: Property,
  values: readonly unknown[],
  exact: boolean,
): readonly Mention[] {
  const words = wordsOf(source.rest);
  const found: Mention[] = [];
  for (const value of values) {
    if (typeof value !== "string" && typeof value !== "number") continue;
    const parts = wordsOfName(String(value)).map(stem);
    if (parts.length === 0) continue;
    for (let at = 0; at + parts.length <= words.length; at += 1) {
      if (!parts.every((part, step) => same(words[at + step]?.stem, part, exact))) continue;
      const start = words[at]?.start ?? 0;
      if (String(value).length < 2 && !besideLabel(source.rest, start, property)) continue;
      found.push({ value, start, end: words[at + parts.length - 1]?.end ?? start });
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

function same(word: string | undefined, part: string, exact: boolean): boolean {
  return word !== undefined && (exact ? word === part : means(word, part));
}

/** A value of one letter counts only beside its property's name. */
function besideLabel(text: string, at: number, property: Property): boolean {
  const before = wordsOf(text.slice(0, at)).slice(-2);
  return before.some((word) => wordsOfName(property.name).map(stem).includes(word.stem));
}

/** What is said for "not so". */
const OPPOSITES: Readonly<Record<string, string>> = {
  on: "off",
  enabled: "disabled",
  active: "inactive",
  public: "private",
  visible: "hidden",
  open: "closed",
};

export function takeBoolean(source: Source, property: Property): boolean | undefined {
  const label = wordsOfName(property.name).filter(
    (word) => !["is", "has", "include", "with", "enable"].includes(word),
  );
  if (label.length === 0) return undefined;
  const opposite = OPPOSITES[label.at(-1) ?? ""];
  if (opposite !== undefined && source.takeMatch(new RegExp(`\\b${opposite}\\b`, "iu")) !== undefined)
    return false;
  const spelled = label.join("[\\s_-]+");
  const match = new RegExp(
    `(\\b(?:no|not|without|non|disable|exclude|don't)\\s+(?:\\w+\\s+)?)?\\b${spelled}\\w*(?:\\s*(?:[:=]|is|to)?\\s*\\b(true|false|yes|no|on|off)\\b)?`,
    "iu",
  ).exec(source.rest);
  if (!match) return undefined;
  source.take(match.index, match.index + match[0].length);
  const said = match[2]?.toLowerCase();
  return said === undefined ? match[1] === undefined : ["true", "yes", "on"].includes(said);
}

export function takeList(source: Source, property: Property): unknown[] | undefined {
  const items = isRecord(property.schema["items"]) ? property.schema["items"] : {};
  const choices = asList(items["enum"]);
  let values: unknown[];
  if (choices.length > 0) values = takeChoices(source, property, choices);
  else if (["number", "integer"].includes(typeOf(items) ?? ""))
    values = property.required ? takeAllNumbers(source) : [];
  else {
    const labelled = new RegExp(
      `\\b${wordsOfName(property.name).join("[\\s_-]*")}\\b\\s*(?:[:=]|are|is)?\\s+([^.!?\\uE000]+)`,
      "iu",
    );
    const text = typeOf(items) === "string" ? source.takeMatch(labelled) : undefined;
    values =
      text === undefined
        ? []
        : text
            .split(/\s*,\s*(?:and\s+)?|\s+and\s+/u)
            .map((part) => part.trim())
            .filter(Boolean);
  }
  return values.length > 0 ? values : undefined;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
