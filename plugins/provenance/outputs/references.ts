/**
 * Finds which record the person's words name: the one of ten events that they called "Dental check-up". Records are looked up by
 * value, and only those that could be taken for the same thing are compared: a conversation may have listed thousands.
 */
import { foldedWords } from "../../../kernel/kit/words.ts";
import type { Said } from "../person/utterances.ts";
import requests from "../words/requests.json" with { type: "json" };
import type { AnswerRecord, Scalar } from "./records.ts";
import { type Listed, listedIn, type SaidText } from "./search.ts";

const MAX_WORDS = 400;
/** In longer lists there is no time to tell one record from all others. */
const MAX_LISTED_LENGTH = 8_000_000;

interface Naming {
  /** How much of a field the person's words are. */
  readonly share: number;
  readonly phrase: string;
  /** The words of it that tell something. */
  readonly telling: readonly string[];
  readonly isExact: boolean;
}

const NOT_NAMED: Naming = { share: 0, phrase: "", telling: [], isExact: false };
const LITTLE = new Set(requests.little.split(" "));
/** Words for every thing of a kind do not name one: a stranger's mail may have the subject "mail". */
const GENERIC = new Set(requests.kinds.split(" "));
/** A person who writes such a name means this file and nothing else. */
const FILE_NAME = /^\S+\.[a-z0-9]{2,5}$/i;

/**
 * The person's words name a record by two words in a row, or by the whole of a field. Half an address is somebody else's, and who else
 * is in a list of people does not name it.
 */
function namingOf(record: AnswerRecord, said: Said): Naming {
  let best = NOT_NAMED;
  for (const [, value, isListed] of record) {
    if (typeof value !== "string" || isListed) continue;
    const words = foldedWords(value.slice(0, 20_000)).slice(0, MAX_WORDS);
    for (let from = 0; from < words.length; ) {
      const length = said.run(words, from);
      const phrase = words.slice(from, from + length);
      const larger = phrase.filter((word) => !LITTLE.has(word));
      const telling = larger.filter((word) => !GENERIC.has(word));
      const isWhole = length === words.length;
      const share = length / words.length;
      if (
        ((larger.length > 1 && !value.includes("@")) || isWhole) &&
        telling.join("").length > 2 &&
        share > best.share
      ) {
        const isExact = isWhole && FILE_NAME.test(value) && said.hasName(value);
        best = { share, phrase: phrase.join(" "), telling, isExact };
      }
      from += Math.max(1, length);
    }
  }
  return best;
}

interface Named extends Naming {
  readonly record: AnswerRecord;
}

/** The records of one answer that the person's words name. */
interface NamedList {
  readonly all: readonly Named[];
  readonly exact: readonly Named[];
}

/** Each list is compared once, however many calls are judged by it. */
const NAMED = new WeakMap<Said, WeakMap<Listed, NamedList>>();

function namedIn(listed: Listed, said: Said): NamedList {
  const lists = NAMED.get(said) ?? new WeakMap<Listed, NamedList>();
  NAMED.set(said, lists);
  const known = lists.get(listed);
  if (known !== undefined) return known;
  const all = listed.records.map((record) => ({ record, ...namingOf(record, said) }));
  const named = all.filter(({ share }) => share > 0);
  const made = { all: named, exact: named.filter(({ isExact }) => isExact) };
  lists.set(listed, made);
  return made;
}

/** The records of an answer that the person's words name. */
export const recordsNamed = (answer: SaidText, said: Said): readonly AnswerRecord[] =>
  namedIn(listedIn(answer), said).all.map(({ record }) => record);

/**
 * True where the value belongs to a record that the person's words tell from all others: none of the same words names another one.
 * Words that the call is to send do not count: a stranger's mail may have them for its subject.
 */
export function isPointedTo(
  value: Scalar,
  holds: (record: AnswerRecord) => boolean,
  {
    lists,
    said,
    contents,
    isMeant = () => true,
  }: {
    readonly lists: readonly SaidText[];
    readonly said: Said;
    readonly contents: readonly string[];
    isMeant?(phrase: string): boolean;
  },
): boolean {
  if (lists.reduce((sum, { text }) => sum + text.length, 0) > MAX_LISTED_LENGTH) return false;
  const listed = lists.map(listedIn);
  const meant = listed.flatMap((one) => {
    const records = one.values.get(String(value))?.filter(holds) ?? [];
    return records.flatMap((record) => namedIn(one, said).all.find((named) => named.record === record) ?? []);
  });
  if (meant.length === 0) return false;
  const told = contents.map((text) => ` ${foldedWords(text).join(" ")} `);
  const isTold = ({ phrase }: Named) => told.some((text) => text.includes(` ${phrase} `));
  const named = listed.map((one) => namedIn(one, said));
  const exact = named.flatMap((one) => one.exact).filter((one) => !isTold(one));
  // A file that is called by its whole name is not any other that has some of its words.
  const isOther = (one: Named) => !one.isExact && exact.some((other) => isRival(one, other));
  const isAlone = (one: Named) =>
    one.isExact
      ? exact.every((other) => other.phrase !== one.phrase || isSame(other.record, one.record))
      : !isOther(one) &&
        named.every(({ all }) =>
          all.every((other) => other.isExact || !isRival(one, other) || isTold(other) || isOther(other)),
        );
  return meant.some(
    (one) => isMeant(one.phrase) && !isTold(one) && isAlone(one) && isOneThing(one.record, listed),
  );
}

/** True for another thing that one of the same words names. */
function isRival(one: Named, other: Named): boolean {
  return other.telling.some((word) => one.telling.includes(word)) && !isSame(other.record, one.record);
}

function isSame(one: AnswerRecord, other: AnswerRecord): boolean {
  if (one === other) return true;
  const [id, otherId] = [idOf(one), idOf(other)];
  return id !== undefined ? id === otherId : JSON.stringify(one) === JSON.stringify(other);
}

/** True where no other record has its id and another name: a record slipped in would have to use the id of its victim. */
function isOneThing(record: AnswerRecord, listed: readonly Listed[]): boolean {
  const id = idOf(record);
  if (id === undefined) return true;
  const names = namesOf(record);
  const alike = listed.flatMap(({ values }) => values.get(String(id)) ?? []);
  return alike.every((one) => String(idOf(one)) !== String(id) || namesOf(one) === names);
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
