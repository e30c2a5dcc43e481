/** Words and stems, as searches, the provenance check and the built-in model compare them. They are English. */

const STOP = new Set(
  `a an the this that these those some any of in on at to for from with without by as into about over and or but so
  if then than is am are was were be been being do does did doing have has had having will would can could shall
  should may might must i me my mine we us our you your yours he she it its they them their what which who whom whose
  when where why how there here please kindly just also too very really now want wants need needs like tell give let
  lets not out up know say says said saying called named titled going get gets got go`.split(/\s+/),
);

/** An amount of money: whole cents, and what is smaller with as many digits as it needs. */
export function dollars(usd: number): string {
  const maximumFractionDigits = usd > 0 && usd < 1 ? Math.max(4, 1 - Math.floor(Math.log10(usd))) : 2;
  return `$${usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits, useGrouping: false })}`;
}

/** Only these are dropped, as the word index drops them: other marks are part of a letter, as in Japanese. */
const ACCENTS = /[\u0300-\u036f]/g;

export function foldedWords(text: string): string[] {
  const bare = text.normalize("NFKD").replace(ACCENTS, "");
  // NFKD takes Korean syllables apart; NFC puts them together again.
  return (
    bare
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** The words inside an identifier: `get_airQuality` is get, air, quality. */
export function wordsOfName(name: string): string[] {
  const parts = name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").toLowerCase();
  return parts.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

export function sayName(name: string): string {
  return wordsOfName(name).join(" ");
}

/** A word in lower case without its commonest endings. */
export function stem(word: string): string {
  let root = word.toLowerCase().replace(/['’](?:s|re|ve|ll|m|d|t)?$/u, "");
  if (root.length > 4 && root.endsWith("ies")) return `${root.slice(0, -3)}y`;
  if (root.length > 3 && root.endsWith("s") && !/(?:ss|us|is)$/.test(root)) root = root.slice(0, -1);
  const ending = ["ing", "ed"].find((one) => root.endsWith(one) && root.length > one.length + 3);
  if (ending !== undefined) root = root.slice(0, -ending.length).replace(/([bdgkmnprt])\1$/, "$1");
  return root.length > 3 && root.endsWith("e") ? root.slice(0, -1) : root;
}

/** True for words that say nothing about what a sentence is about. */
export function isStop(word: string): boolean {
  const [bare = ""] = word.toLowerCase().split(/['’]/u, 1);
  return STOP.has(bare);
}

export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The text without the spaces and marks at its end. This is a loop because the same as a pattern can take quadratic time. */
export function trimEnd(text: string, marks = ".,;:!?…"): string {
  let end = text.length;
  while (end > 0 && (text.charAt(end - 1).trim() === "" || marks.includes(text.charAt(end - 1)))) end -= 1;
  return text.slice(0, end);
}

// PostgreSQL refuses longer words, and a text with more of them.
const MAX_WORD_LENGTH = 200;
const MAX_CHARACTERS = 200_000;

/** Returns the folded words, each once, as many as PostgreSQL takes for one text. */
export function indexedWords(text: string): string {
  const words = new Set<string>();
  let characters = 0;
  for (const word of foldedWords(text)) {
    const clipped = clipWord(word);
    if (words.has(clipped)) continue;
    characters += clipped.length;
    if (characters > MAX_CHARACTERS) break;
    words.add(clipped);
  }
  return [...words].join(" ");
}

export function clipWord(word: string): string {
  return word.length <= MAX_WORD_LENGTH ? word : word.slice(0, MAX_WORD_LENGTH).toWellFormed();
}

/** "a", "a and b", "a, b and c". */
export function listing(parts: readonly unknown[], last = "and"): string {
  const init = parts.slice(0, -1).join(", ");
  return parts.length < 2 ? String(parts[0] ?? "") : `${init} ${last} ${parts.at(-1)}`;
}
