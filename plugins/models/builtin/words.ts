/** Words as the built-in model compares them: lower case, without the commonest endings. */

const STOP = new Set(
  `a an the this that these those some any of in on at to for from with without by as into about over and or but so
  if then than is am are was were be been being do does did doing have has had having will would can could shall
  should may might must i me my mine we us our you your yours he she it its they them their what which who whom whose
  when where why how there here please kindly just also too very really now want wants need needs like tell give let
  lets not out up know say says said saying called named titled going get gets got go`.split(/\s+/),
);

/** Half of all tools have one of these in their names, so they say little about which one is meant. */
const GENERIC = new Set(
  `get set list find search lookup look run do create make fetch show read write load add new update delete remove
  check query call use execute start turn switch put tool data info information item id value by all`
    .split(/\s+/)
    .map(stem),
);

export function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}'’]*/gu) ?? [];
}

/** The words inside an identifier: `get_airQuality` is get, air, quality. */
export function wordsOfName(name: string): string[] {
  const parts = name.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2").toLowerCase();
  return parts.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

/** An identifier as a person would say it. */
export function sayName(name: string): string {
  return wordsOfName(name).join(" ");
}

export function stem(word: string): string {
  let root = word.toLowerCase().replace(/['’](?:s|re|ve|ll|m|d|t)?$/u, "");
  if (root.length > 4 && root.endsWith("ies")) return `${root.slice(0, -3)}y`;
  if (root.length > 3 && root.endsWith("s") && !/(?:ss|us|is)$/.test(root)) root = root.slice(0, -1);
  const ending = ["ing", "ed"].find((one) => root.endsWith(one) && root.length > one.length + 3);
  if (ending !== undefined) root = root.slice(0, -ending.length).replace(/([bdgkmnprt])\1$/, "$1");
  return root.length > 3 && root.endsWith("e") ? root.slice(0, -1) : root;
}

export function isStop(word: string): boolean {
  const [bare = ""] = word.toLowerCase().split(/['’]/u, 1);
  return STOP.has(bare);
}

export function isGeneric(stemmed: string): boolean {
  return GENERIC.has(stemmed);
}

/** The stems that carry meaning, once each. */
export function contentStems(text: string): Set<string> {
  return new Set(
    wordsOf(text)
      .filter((word) => !isStop(word))
      .map(stem),
  );
}

export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** "a", "a and b", "a, b and c". */
export function listing(parts: readonly unknown[], last = "and"): string {
  return parts.length < 2
    ? String(parts[0] ?? "")
    : `${parts.slice(0, -1).join(", ")} ${last} ${parts.at(-1)}`;
}

/** The text without the spaces and marks at its end. A loop, for the same as a pattern can take quadratic time. */
export function trimEnd(text: string, marks = ".,;:!?…"): string {
  let end = text.length;
  while (end > 0 && (text.charAt(end - 1).trim() === "" || marks.includes(text.charAt(end - 1)))) end -= 1;
  return text.slice(0, end);
}

/** At most so much of a text. */
export function clip(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
