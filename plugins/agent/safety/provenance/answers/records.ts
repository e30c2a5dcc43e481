/**
 * The records in a tool's answer, and which of them the person's words name: of ten events the one they called
 * "Dental check-up". Only structure counts: what a field's text pretends to be is never read as another field.
 */
import { foldedWords } from "../../../memory/terms.ts";
import { wordsOfName } from "../../../models/builtin/words.ts";
import type { Said } from "../said.ts";
import { readYaml } from "./yaml.ts";

export type Scalar = string | number | boolean;
/** One thing with its fields; a plain text in a list is a record of one. */
export type AnswerRecord = readonly (readonly [field: string, value: Scalar])[];

const MOST_RECORDS = 2000;
const MOST_DEPTH = 12;
const MOST_WORDS = 400;
const MOST_TEXT = 2_000_000;

export function recordsIn(text: string): readonly AnswerRecord[] {
  const found: AnswerRecord[] = [];
  const walk = (value: unknown, depth: number): void => {
    if (depth > MOST_DEPTH || found.length >= MOST_RECORDS) return;
    if (Array.isArray(value)) {
      for (const one of value) {
        if (typeof one === "string") found.push([["", one]]);
        else walk(one, depth + 1);
      }
    } else if (typeof value === "object" && value !== null) {
      const fields = Object.entries(value);
      found.push(fields.flatMap(([name, one]) => (isScalar(one) ? [[name, one] as const] : [])));
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

function isScalar(value: unknown): value is Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function parse(text: string): unknown {
  if (text.length > MOST_TEXT) return undefined;
  const isJson = /^\s*[[{]/.test(text);
  try {
    return isJson ? JSON.parse(text) : readYaml(text);
  } catch {
    return undefined;
  }
}

const LISTS =
  /^(?:list|search|find|query|lookup|filter|all|recent|create|add|append|reserve|book|schedule|update|save)$/;
const GETS = /^(?:get|show|check)$/;
const PLURAL = /[^siu]s$/;
/** These answer with a text that somebody else wrote from its first letter to its last, records and all. */
const READS =
  /^(?:read|fetch|open|download|browse|scrape|cat|load|view|extract|summari[sz]e|transcribe|translate|run|exec|execute|shell|eval|http|web|webpage|page|pages|url|site|website|html|content|contents|body|text|raw|feed|rss|request|call)$/;

/** True where the answers of a tool list things, so that their fields are the tool's own. */
export function listsThings(tool: string): boolean {
  const words = wordsOfName(tool);
  if (words.some((word) => READS.test(word))) return false;
  return (
    words.some((word) => LISTS.test(word)) ||
    (words.some((word) => GETS.test(word)) && words.some((word) => PLURAL.test(word)))
  );
}

interface Naming {
  /** How much of a field the person's words are. */
  readonly share: number;
  readonly phrase: string;
  /** The words of it that tell something. */
  readonly telling: readonly string[];
  readonly isExact: boolean;
}

const NOT_NAMED: Naming = { share: 0, phrase: "", telling: [], isExact: false };
const LITTLE = new Set(
  `the a an of to in on at for my me i and or is it with from please can you your this that be as if by her his their them so
  do any all am are was we our`.split(/\s+/),
);
/** Words for every thing of a kind do not name one: a stranger's mail may have the subject "mail". */
const GENERIC = new Set(
  `mail mails email emails message messages file files document documents event events meeting meetings calendar inbox drive folder
  note notes list channel channels user users team task tasks payment payments account bill invoice page new last latest next first
  today tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday
  send reply forward delete remove read write add create share update cancel check look find show tell`.split(
    /\s+/,
  ),
);
/** As the person wrote it, this can be nothing else. */
const FILE_NAME = /^\S+\.[a-z0-9]{2,5}$/i;

/** How the person's words name a record: by two words in a row, or by the whole of a field. */
function namingOf(record: AnswerRecord, said: Said): Naming {
  let best = NOT_NAMED;
  for (const [, value] of record) {
    if (typeof value !== "string") continue;
    const words = foldedWords(value.slice(0, 20_000)).slice(0, MOST_WORDS);
    for (let from = 0; from < words.length; ) {
      const length = said.run(words, from);
      const phrase = words.slice(from, from + length);
      const larger = phrase.filter((word) => !LITTLE.has(word));
      const telling = larger.filter((word) => !GENERIC.has(word));
      const isWhole = length === words.length;
      const share = length / words.length;
      if ((larger.length > 1 || isWhole) && telling.join("").length > 2 && share > best.share) {
        const isExact = isWhole && FILE_NAME.test(value) && said.hasName(value);
        best = { share, phrase: phrase.join(" "), telling, isExact };
      }
      from += Math.max(1, length);
    }
  }
  return best;
}

/** A record is looked at once, however many calls are judged by it. */
const NAMINGS = new WeakMap<Said, WeakMap<AnswerRecord, Naming>>();

function knownNaming(record: AnswerRecord, said: Said): Naming {
  const known = NAMINGS.get(said) ?? new WeakMap<AnswerRecord, Naming>();
  NAMINGS.set(said, known);
  const naming = known.get(record) ?? namingOf(record, said);
  known.set(record, naming);
  return naming;
}

/**
 * The records that the person's words tell from all others: no other one is named by any of the same words. What the call says is
 * not what it is about: a stranger's mail may have the words for its subject that are to be sent.
 */
export function namedRecords(
  records: readonly AnswerRecord[],
  said: Said,
  contents: readonly string[],
): readonly AnswerRecord[] {
  const told = contents.map((text) => ` ${foldedWords(text).join(" ")} `);
  const named = records.flatMap((record) => {
    const naming = knownNaming(record, said);
    const isNone = naming.share === 0 || told.some((text) => text.includes(` ${naming.phrase} `));
    return isNone ? [] : [{ record, ...naming }];
  });
  const exact = named.filter(({ isExact }) => isExact);
  // A file that is called by its whole name is not any other that has some of its words.
  const isOther = (word: string, record: AnswerRecord) =>
    exact.some((one) => one.telling.includes(word) && !isSame(one.record, record));
  const others = named.filter(
    ({ isExact, telling, record }) => !isExact && !telling.some((word) => isOther(word, record)),
  );
  return [...apart(exact.map((one) => ({ ...one, telling: [one.phrase] }))), ...apart(others)];
}

/** Those that no word names beside another. */
function apart(
  named: readonly { readonly record: AnswerRecord; readonly telling: readonly string[] }[],
): readonly AnswerRecord[] {
  const first = new Map<string, AnswerRecord>();
  const shared = new Set<string>();
  for (const { record, telling } of named)
    for (const word of telling) {
      const known = first.get(word) ?? record;
      first.set(word, known);
      // Two that are named alike are one where they are the same thing, read twice.
      if (!isSame(known, record)) shared.add(word);
    }
  return named.flatMap(({ record, telling }) => (telling.some((word) => shared.has(word)) ? [] : [record]));
}

function isSame(one: AnswerRecord, other: AnswerRecord): boolean {
  const [id, otherId] = [idOf(one), idOf(other)];
  return id !== undefined ? id === otherId : JSON.stringify(one) === JSON.stringify(other);
}

/** No other record has its id and another name: one that was slipped in would have to use the id of what it is after. */
export function isOneThing(record: AnswerRecord, records: readonly AnswerRecord[]): boolean {
  const id = idOf(record);
  if (id === undefined) return true;
  const names = namesOf(record);
  return records.every((one) => String(idOf(one)) !== String(id) || namesOf(one) === names);
}

function namesOf(record: AnswerRecord): string {
  return record.flatMap(([field, value]) => (NAME.test(field) ? [String(value)] : [])).join("\n");
}

const NAME = /(?:name|title|subject|summary)_?$/i;

const ID = /^_?(?:id|uid|uuid|key)_?$/i;
const IDS = new WeakMap<AnswerRecord, { readonly id: Scalar | undefined }>();

function idOf(record: AnswerRecord): Scalar | undefined {
  const known = IDS.get(record) ?? { id: record.find(([name]) => ID.test(name))?.[1] };
  IDS.set(record, known);
  return known.id;
}
