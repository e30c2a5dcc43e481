/** Words as the built-in model compares and says them. */
import { isStop, stem } from "../../../../kernel/kit.ts";

/** Half of all tools have one of these in their names, so they say little about which one is meant. */
const GENERIC = new Set(
  `get set list find search lookup look run do create make fetch show read write load add new update delete remove
  check query call use execute start turn switch put tool data info information item id value by all`
    .split(/\s+/)
    .map(stem),
);

export function isGeneric(stemmed: string): boolean {
  return GENERIC.has(stemmed);
}

export function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}'’]*/gu) ?? [];
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

export function clip(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
