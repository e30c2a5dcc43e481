/** Where a value stands in what others said, for the person who is asked and for content that goes back to those who said it. */
import { foldedWords, readings, stem } from "../../../kernel/kit.ts";
import { numbersIn } from "../values/numbers.ts";
import { type AnswerRecord, recordsIn, type Scalar } from "./records.ts";

/** What somebody said. */
export interface Answer {
  readonly text: string;
}

const SHORTEST_SQUEEZED = 6;
const MOST_DECODED = 200_000;
const MOST_SQUEEZED = 100_000;
/** Of what was said at last, so much is looked through for where a value stands. */
const MOST_SEARCHED = 400_000;
const MOST_COPIED = 400_000;
const MOST_LINES = 2000;

/** Whether the words of a value stand in a text in a row. */
export function standing(value: Scalar): (heard: Answer) => boolean {
  const words = foldedWords(String(value));
  const row = ` ${words.join(" ")} `;
  return ({ text }) => {
    if (words.length === 0) return false;
    // Most texts lack one of the words, which is sooner known than that they lack the row.
    const { all, joined } = wordsOf(text);
    return words.every((word) => all.has(word)) && joined.includes(row);
  };
}

/** The last who said it: as it is, in another format, encoded, reversed, or in pieces. */
export function sourceOf<Said extends Answer>(value: Scalar, heard: readonly Said[]): Said | undefined {
  const late = latest(heard, MOST_SEARCHED);
  const plain = late.findLast(standing(value));
  if (plain !== undefined) return plain;
  if (typeof value === "boolean") return undefined;
  if (typeof value === "number") return late.findLast(({ text }) => countsOf(text).has(value));
  const squeezed = decodedOf(value)
    .map(squeeze)
    .filter(({ length }) => length >= SHORTEST_SQUEEZED);
  const looked = squeezed.flatMap((text) => [text, [...text].reverse().join("")]);
  return latest(heard, MOST_SQUEEZED).findLast(({ text }) =>
    looked.some((one) => squeezedOf(text).includes(one)),
  );
}

/** The last of them, as far as they are looked through. */
function latest<Said extends Answer>(heard: readonly Said[], most: number): readonly Said[] {
  let left = most;
  const from = heard.findLastIndex(({ text }) => {
    left -= text.length;
    return left < 0;
  });
  return heard.slice(from + 1);
}

function decodedOf(text: string): readonly string[] {
  return readings(Buffer.from(text.slice(0, MOST_DECODED).toWellFormed())).map((bytes) => bytes.toString());
}

/** Letters and digits alone. */
function squeeze(text: string): string {
  return foldedWords(text).join("");
}

/** Every line of it was read where the person had sent the agent to read. */
export function isExcerpt(value: string, read: readonly Answer[]): boolean {
  const texts = latest(read, MOST_COPIED).map(({ text }) => stemsOf(text));
  const lines = value.split("\n", MOST_LINES + 1).map((line) => foldedWords(line).map(stem).join(" "));
  return (
    lines.length <= MOST_LINES &&
    lines.every((line) => line === "" || texts.some((text) => text.includes(` ${line} `)))
  );
}

/** A text is read once, however many calls are judged by it; so many characters of them are kept. */
const MOST_KEPT = 16_000_000;

function remembering<Value>(make: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  let kept = 0;
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = make(text);
    known.set(text, made);
    kept += text.length;
    for (const [oldest] of known) {
      if (kept <= MOST_KEPT || oldest === text) break;
      known.delete(oldest);
      kept -= oldest.length;
    }
    return made;
  };
}

const wordsOf = remembering((text) => {
  const words = foldedWords(text);
  return { all: new Set(words), joined: ` ${words.join(" ")} ` };
});
const stemsOf = remembering((text) => ` ${foldedWords(text).map(stem).join(" ")} `);
const squeezedOf = remembering((text) => decodedOf(text).map(squeeze).join("\n"));
const countsOf = remembering((text) => numbersIn(text.toLowerCase()));

/** The records of an answer, and where to find them. */
export interface Listed {
  readonly records: readonly AnswerRecord[];
  /** The records with a field of this value. */
  readonly values: ReadonlyMap<string, readonly AnswerRecord[]>;
}

const listedInText = remembering((text) => list(recordsIn(text)));

export function listedIn({ text }: Answer): Listed {
  return listedInText(text);
}

function list(records: readonly AnswerRecord[]): Listed {
  const values = new Map<string, AnswerRecord[]>();
  for (const record of records)
    for (const [, value] of record) {
      const same = values.get(String(value));
      if (same) same.push(record);
      else values.set(String(value), [record]);
    }
  return { records, values };
}
