/** Finds where a value stands in what others said: to tell the person who is asked, and to let content go back to its source. */
import { readings } from "../../../kernel/kit/untrusted.ts";
import { foldedWords, stem } from "../../../kernel/kit/words.ts";
import { numbersIn } from "../person/numbers.ts";
import { type AnswerRecord, recordsIn, type Scalar } from "./records.ts";

export interface SaidText {
  readonly text: string;
}

const MIN_SQUEEZED_LENGTH = 6;
const MAX_DECODED = 200_000;
const MAX_SQUEEZED = 100_000;
/** So many characters, counted from the end of the conversation, are searched for a value. */
const MAX_SEARCHED = 400_000;
const MAX_COPIED = 400_000;
const MAX_LINES = 2000;

/** Returns a check: do the words of the value stand in a text in a row? */
export function contains(value: Scalar): (heard: SaidText) => boolean {
  const words = foldedWords(String(value));
  const row = ` ${words.join(" ")} `;
  return ({ text }) => {
    if (words.length === 0) return false;
    // Most texts lack one of the words, which is faster to see than that they lack the row.
    const { all, joined } = wordsOf(text);
    return words.every((word) => all.has(word)) && joined.includes(row);
  };
}

/** The last one who said it, as it is, in another format, encoded, reversed, or in pieces. */
export function sourceOf<Said extends SaidText>(value: Scalar, heard: readonly Said[]): Said | undefined {
  const late = latest(heard, MAX_SEARCHED);
  const plain = late.findLast(contains(value));
  if (plain !== undefined) return plain;
  if (typeof value === "boolean") return undefined;
  if (typeof value === "number") return late.findLast(({ text }) => countsOf(text).has(value));
  const squeezed = decodedOf(value)
    .map(squeeze)
    .filter(({ length }) => length >= MIN_SQUEEZED_LENGTH);
  const looked = squeezed.flatMap((text) => [text, [...text].reverse().join("")]);
  return latest(heard, MAX_SQUEEZED).findLast(({ text }) =>
    looked.some((one) => squeezedOf(text).includes(one)),
  );
}

/** The last of them, up to so many characters. */
function latest<Said extends SaidText>(heard: readonly Said[], most: number): readonly Said[] {
  let left = most;
  const from = heard.findLastIndex(({ text }) => {
    left -= text.length;
    return left < 0;
  });
  return heard.slice(from + 1);
}

function decodedOf(text: string): readonly string[] {
  return readings(Buffer.from(text.slice(0, MAX_DECODED).toWellFormed())).map((bytes) => bytes.toString());
}

/** The letters and digits of a text alone. */
function squeeze(text: string): string {
  return foldedWords(text).join("");
}

/** True where every line of the value stands in one of the texts. */
export function isExcerpt(value: string, read: readonly SaidText[]): boolean {
  const texts = latest(read, MAX_COPIED).map(({ text }) => stemsOf(text));
  const lines = value.split("\n", MAX_LINES + 1).map((line) => foldedWords(line).map(stem).join(" "));
  return (
    lines.length <= MAX_LINES &&
    lines.every((line) => line === "" || texts.some((text) => text.includes(` ${line} `)))
  );
}

/** Each text is read once, however many calls are judged by it, while the cache holds it. */
const MAX_CACHED = 16_000_000;

function cached<Value>(make: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  let kept = 0;
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = make(text);
    known.set(text, made);
    kept += text.length;
    for (const [oldest] of known) {
      if (kept <= MAX_CACHED || oldest === text) break;
      known.delete(oldest);
      kept -= oldest.length;
    }
    return made;
  };
}

const wordsOf = cached((text) => {
  const words = foldedWords(text);
  return { all: new Set(words), joined: ` ${words.join(" ")} ` };
});
const stemsOf = cached((text) => ` ${foldedWords(text).map(stem).join(" ")} `);
const squeezedOf = cached((text) => decodedOf(text).map(squeeze).join("\n"));
const countsOf = cached((text) => numbersIn(text.toLowerCase()));

export interface Listed {
  readonly records: readonly AnswerRecord[];
  /** The records with a field of this value. */
  readonly values: ReadonlyMap<string, readonly AnswerRecord[]>;
}

const listedInText = cached((text): Listed => {
  const records = recordsIn(text);
  const values = new Map<string, AnswerRecord[]>();
  for (const record of records)
    for (const [, value] of record) {
      const same = values.get(String(value));
      if (same) same.push(record);
      else values.set(String(value), [record]);
    }
  return { records, values };
});

export const listedIn = ({ text }: SaidText): Listed => listedInText(text);
