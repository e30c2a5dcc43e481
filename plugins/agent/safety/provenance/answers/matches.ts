/** Where a value stands in what others said, for the person who is asked and for content that goes back to those who said it. */
import { readings } from "../../../../../kernel/mask/readings.ts";
import { foldedWords } from "../../../memory/terms.ts";
import { stem } from "../../../models/builtin/words.ts";
import { numbersIn } from "../values/numbers.ts";
import { type AnswerRecord, recordsIn, type Scalar } from "./records.ts";

/** What somebody said, and the same as data where the tool gave it so. */
interface Answer {
  readonly text: string;
  readonly structured?: unknown;
}

const SHORTEST_SQUEEZED = 6;
const MOST_DECODED = 200_000;

/** True where these words stand there in a row. */
export function stands(value: Scalar, heard: Answer): boolean {
  const words = foldedWords(String(value)).join(" ");
  return words !== "" && wordsOf(heard.text).includes(` ${words} `);
}

/** The last who said it: as it is, in another format, encoded, reversed, or in pieces. */
export function sourceOf<Said extends Answer>(value: Scalar, heard: readonly Said[]): Said | undefined {
  const plain = heard.findLast((one) => stands(value, one));
  if (plain !== undefined) return plain;
  if (typeof value === "boolean") return undefined;
  const number = typeof value === "number" ? value : undefined;
  const squeezed = decodedOf(String(value))
    .map(squeeze)
    .filter(({ length }) => length >= SHORTEST_SQUEEZED);
  const looked = squeezed.flatMap((text) => [text, [...text].reverse().join("")]);
  return heard.findLast(({ text }) =>
    number !== undefined ? countsOf(text).has(number) : looked.some((one) => squeezedOf(text).includes(one)),
  );
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
  const texts = read.map(({ text }) => stemsOf(text));
  const lines = value.split("\n").map((line) => foldedWords(line).map(stem).join(" "));
  return lines.every((line) => line === "" || texts.some((text) => text.includes(` ${line} `)));
}

/** A text is read once, however many calls are judged by it; so many characters of them are kept. */
const MOST_KEPT = 16_000_000;

function remembering<Value>(make: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  let kept = 0;
  return (text) => {
    const found = known.get(text);
    const made = found ?? make(text);
    if (found === undefined) kept += text.length;
    else known.delete(text);
    known.set(text, made);
    for (const [oldest] of known) {
      if (kept <= MOST_KEPT || oldest === text) break;
      known.delete(oldest);
      kept -= oldest.length;
    }
    return made;
  };
}

const wordsOf = remembering((text) => ` ${foldedWords(text).join(" ")} `);
const stemsOf = remembering((text) => ` ${foldedWords(text).map(stem).join(" ")} `);
const squeezedOf = remembering((text) => decodedOf(text).map(squeeze).join("\n"));
const countsOf = remembering((text) => numbersIn(text.toLowerCase()));
const recordsOfText = remembering((text) => recordsIn(text));

export function recordsOf({ text, structured }: Answer): readonly AnswerRecord[] {
  return structured === undefined ? recordsOfText(text) : recordsIn("", structured);
}
