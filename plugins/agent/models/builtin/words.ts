/** Words as the built-in model compares them: split, lower-cased, stemmed a little. */

export interface Word {
  readonly text: string;
  readonly stem: string;
  readonly start: number;
  readonly end: number;
}

const WORD = /[\p{L}\p{N}][\p{L}\p{N}'’]*/gu;

const STOP = new Set(
  `a an the this that these those some any of in on at to for from with without by as into about over
  and or but so if then than is am are was were be been being do does did doing have has had having will would can could
  shall should may might must i me my mine we us our you your yours he she it its they them their what which who whom
  whose when where why how there here please kindly just also too very really now ok okay hey hi hello
  want wants need needs like tell give let lets s t re ve ll m d not no yes thanks thank out up know say says said going
  get gets got go`
    .split(/\s+/)
    .filter(Boolean),
);

/** Verbs that half of all tools carry in their names: they say little about which one is meant. */
const GENERIC = new Set(
  `get set list find search lookup look run do create make fetch show read write load add new update delete remove
  check query call use execute start turn switch put tool data info information item id value by all`
    .split(/\s+/)
    .filter(Boolean)
    .map(stem),
);

export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  for (const match of text.matchAll(WORD)) {
    const word = match[0];
    words.push({ text: word, stem: stem(word), start: match.index, end: match.index + word.length });
  }
  return words;
}

/** The words inside an identifier: `get_airQuality` is get, air, quality. */
export function wordsOfName(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .map((part) => part.toLowerCase());
}

/** An identifier as a person would say it. */
export function sayName(name: string): string {
  return wordsOfName(name).join(" ");
}

export function stem(word: string): string {
  let root = word.toLowerCase().replace(/['’](s|re|ve|ll|m|d|t)?$/u, "");
  if (root.length > 4 && root.endsWith("ies")) return `${root.slice(0, -3)}y`;
  if (root.length > 3 && root.endsWith("s") && !/(ss|us|is)$/.test(root)) root = root.slice(0, -1);
  for (const ending of ["ing", "ed"]) {
    if (root.length > ending.length + 3 && root.endsWith(ending)) {
      root = root.slice(0, -ending.length);
      if (/([bdgkmnprt])\1$/.test(root)) root = root.slice(0, -1);
      break;
    }
  }
  return root.length > 3 && root.endsWith("e") ? root.slice(0, -1) : root;
}

export function isStop(word: string): boolean {
  return STOP.has(word.toLowerCase().replace(/['’].*$/u, ""));
}

export function isGeneric(stemmed: string): boolean {
  return GENERIC.has(stemmed);
}

/** Little words that may well be a value: "echo hello". */
const SPOKEN = /^(?:hello|hi|hey|yes|no|not|ok|okay|thanks?|now)$/i;

/** Words that only lead from a tool's name to its value. */
export function isLinking(word: string): boolean {
  return isStop(word) && !SPOKEN.test(word);
}

/** The stems that carry meaning, once each. */
export function contentStems(text: string): Set<string> {
  const stems = new Set<string>();
  for (const word of wordsOf(text)) if (!isStop(word.text)) stems.add(word.stem);
  return stems;
}

export function isNumeral(word: string): boolean {
  return /^\p{N}+$/u.test(word);
}

export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Joins for a sentence: "a", "a and b", "a, b and c". */
export function listing(parts: readonly string[], last = "and"): string {
  if (parts.length < 2) return parts[0] ?? "";
  return `${parts.slice(0, -1).join(", ")} ${last} ${parts[parts.length - 1]}`;
}
