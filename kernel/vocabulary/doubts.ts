/** Doubts as a screen shows them: sentences and excerpts in pieces, with what a stranger said marked in them. */
import type { Doubt } from "./gate.ts";

export interface Piece {
  readonly at: number;
  readonly text: string;
  readonly mark?: "value" | "source";
}

/** One doubt, in pieces: a screen marks the value and who said it, so that neither can pass for our own words. */
export interface Told {
  readonly sentence: readonly Piece[];
  readonly source?: string;
  /** The text they said, with its values marked; absent where an earlier doubt shows the same text. */
  readonly excerpt?: readonly Piece[];
}

export interface Reasons {
  /** The strongest, which no screen folds away: each destination, else the first value whose source is known. */
  readonly leads: readonly Told[];
  readonly others: readonly Told[];
  /** The params of the others, as in "title, body"; empty if there are none. */
  readonly also: string;
}

/** Calls that are asked about together may raise the same one twice. */
export function tell(all: readonly Doubt[]): Reasons {
  const doubts = all
    .filter(({ sentence }, at) => all.findIndex((one) => one.sentence === sentence) === at)
    .toSorted((a, b) => weaknessOf(a) - weaknessOf(b));
  const count = doubts.filter(({ rule, param }) => rule === "destination" && param !== "").length || 1;
  const shown = doubts.filter((doubt, at) => showing(doubts, doubt) === at);
  const told = doubts.map((doubt, at): Told => {
    const { sentence, headline = sentence, source, excerpt } = doubt;
    const words = at < count ? headline : sentence;
    const one = { sentence: marked(words, rangesIn(words, doubt)), ...(source !== undefined && { source }) };
    if (excerpt === undefined || !shown.includes(doubt)) return one;
    const values = doubts.filter((other) => doubts[showing(doubts, other)] === doubt);
    const ranges = values.flatMap(({ value, part = value }) => find(excerpt, part));
    return { ...one, excerpt: marked(excerpt, ranges) };
  });
  const params = doubts.slice(count).map(({ param }) => param || "more");
  return { leads: told.slice(0, count), others: told.slice(count), also: [...new Set(params)].join(", ") };
}

const RULES: readonly Doubt["rule"][] = ["destination", "content", "change"];

/** Where it goes counts most; of two alike, the one that a stranger is known to have said. */
const weaknessOf = ({ rule, source, param }: Doubt): number =>
  RULES.indexOf(rule) * 2 + (source === undefined ? 1 : 0) + (param === "" ? 10 : 0);

/** Returns the doubt that shows where this value stands: the first from the same source with the whole of it in its excerpt. */
function showing(doubts: readonly Doubt[], { source, value, excerpt }: Doubt): number {
  return doubts.findIndex(
    (other) =>
      other.source === source &&
      other.excerpt !== undefined &&
      (other.excerpt === excerpt || occurrences(other.excerpt, whole(value)).length > 0),
  );
}

type Range = readonly [from: number, to: number, mark: NonNullable<Piece["mark"]>];

/** As the languages quote that a doubt is worded in. */
const QUOTED = [(text: string) => `“${text}”`, (text: string) => `„${text}“`];

/** Finds the value and the source in the sentence, which ends with the one and begins with the other. */
function rangesIn(sentence: string, { value, part = "", source = "" }: Doubt): readonly Range[] {
  const quoted = Math.max(...QUOTED.map((quote) => sentence.indexOf(quote(value))));
  const plain = [` ${value}: `, ` ${value}? `].map((one) => sentence.indexOf(one));
  const from = quoted === -1 ? Math.max(...plain) : quoted;
  const within = part === "" ? -1 : Math.max(...QUOTED.map((quote) => sentence.indexOf(quote(part), from)));
  const to = sentence.lastIndexOf(source);
  return [
    ...(value === "" || from === -1 ? [] : [[from + 1, from + 1 + value.length, "value"] as const]),
    ...(within === -1 ? [] : [[within + 1, within + 1 + part.length, "value"] as const]),
    ...(source === "" || to === -1 ? [] : [[to, to + source.length, "source"] as const]),
  ];
}

const whole = (value: string): string => value.replace(/…$/, "");

/** Returns where the value stands, or its longest word where it is written differently. */
function find(text: string, value: string): readonly Range[] {
  const found = occurrences(text, whole(value));
  if (found.length > 0) return found;
  const word = (value.match(/[\p{L}\p{N}]+/gu) ?? []).reduce((a, b) => (b.length > a.length ? b : a), "");
  return word.length > 2 ? occurrences(text, word) : [];
}

const IN_A_WORD = /[\p{L}\p{N}]/u;

/** Not in the middle of a longer word or number. */
function occurrences(text: string, value: string): readonly Range[] {
  const [lower, wanted] = [text.toLowerCase(), value.toLowerCase()];
  if (wanted === "" || lower.length !== text.length || wanted.length !== value.length) return [];
  const found: Range[] = [];
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, at + wanted.length)) {
    const end = at + wanted.length;
    const isInside = IN_A_WORD.test(lower[at - 1] ?? "") || IN_A_WORD.test(lower[end] ?? "");
    if (!isInside) found.push([at, end, "value"]);
  }
  return found;
}

function marked(text: string, ranges: readonly Range[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let done = 0;
  for (const [from, to, mark] of ranges.toSorted(([a], [b]) => a - b)) {
    if (from < done) continue;
    if (from > done) pieces.push({ at: done, text: text.slice(done, from) });
    pieces.push({ at: from, text: text.slice(from, to), mark });
    done = to;
  }
  if (done < text.length) pieces.push({ at: done, text: text.slice(done) });
  return pieces;
}

/** More than these a person does not read: they are asked about afterwards. */
export const MAX_DOUBTS = 20;
