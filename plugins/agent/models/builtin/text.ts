/** Free text in a request: in quotation marks, after a label, or what is left of the sentence. */
import type { Property } from "./schema.ts";
import { type Source, TAKEN } from "./source.ts";
import { isGeneric, isStop, wordsOf, wordsOfName } from "./words.ts";

const QUOTED = /"([^"]+)"|“([^”]+)”|«([^»]+)»|`([^`]+)`|(?<![\p{L}\p{N}])'([^']+)'(?![\p{L}\p{N}])/u;

export function takeQuoted(source: Source): string | undefined {
  const match = QUOTED.exec(source.rest);
  const found = match?.slice(1).find((group) => group !== undefined);
  if (!match || found === undefined || found.includes(TAKEN)) return undefined;
  source.take(match.index, match.index + match[0].length);
  return found;
}

/** "city: Berlin", "city=Berlin", "title is X", "with the title 'X'". */
export function takeLabelledText(source: Source, property: Property): string | undefined {
  const label = wordsOfName(property.name).join("[\\s_-]*");
  const marked = new RegExp(`\\b${label}\\b\\s*(?:[:=]|\\bis\\b|\\bas\\b)\\s*`, "iu").exec(source.rest);
  if (marked) {
    const from = marked.index + marked[0].length;
    const quoted = QUOTED.exec(source.rest.slice(from));
    if (quoted?.index === 0) return takeSpan(source, from, quoted[0].length)?.slice(1, -1);
    const value = /^[^,;\n\uE000]+?(?=\s*(?:[,;.!?\n\uE000]|\s+and\s+[\w ]+?[:=]|\s\w+\s*[:=]|$))/u.exec(
      source.rest.slice(from),
    );
    return value ? takeSpan(source, from, value[0].length) : undefined;
  }
  const beside = new RegExp(`\\b${label}\\s+(?:called\\s+|named\\s+)?([\\p{L}\\p{N}][^\\s,;!?]*)`, "iu").exec(
    source.rest,
  );
  const word = beside?.[1]?.replace(/\.$/, "");
  if (!beside || !word || word.includes(TAKEN) || isStop(word)) return undefined;
  return takeSpan(source, beside.index + beside[0].length - (beside[1] ?? "").length, word.length);
}

const SPOKEN_LABELS: readonly (readonly [RegExp, RegExp])[] = [
  [
    /^(text|body|message|content|comment|note)$/,
    /\b(?:saying|that says|which says|telling (?:him|her|them))\s+(?:that\s+)?(.+)$/iu,
  ],
  [/^(name|title|label)$/, /\b(?:called|named|titled|entitled)\s+([^,;.!?\uE000]+)/iu],
  [
    /^(subject|topic|query|q|term|keywords?|question)$/,
    /\b(?:about|on the subject of)\s+([^\uE000]+?)[.!?]*$/iu,
  ],
];

/** What English puts before such a text: "saying …", "called …", "about …". */
export function takeSpoken(source: Source, property: Property): string | undefined {
  const name = wordsOfName(property.name).at(-1) ?? "";
  const rule = SPOKEN_LABELS.find(([names]) => names.test(name));
  return rule && source.takeMatch(rule[1])?.trim();
}

const IDENTIFIER =
  /(?<![\p{L}\p{N}_])#?((?=[\p{L}_-]*\p{N})[\p{L}\p{N}](?:[\p{L}\p{N}_-]|[.:/](?=[\p{L}\p{N}]))*)/u;

/** A token with a digit in it: A-1234, #99, ord_7. */
export function takeIdentifier(source: Source, accept: (found: string) => boolean): string | undefined {
  return source.takeMatch(IDENTIFIER, accept);
}

/** Any word the property's own pattern takes. */
export function takeToken(source: Source, accept: (found: string) => boolean): string | undefined {
  return source.takeMatch(/(?<!\S)[("'#]?([^\s("'#]{1,64}?)[.,;:!?)"']*(?!\S)/u, accept);
}

/**
 * What is left once the opening ("please search the web for") is gone: words of the tool, of courtesy and
 * of grammar are skipped until the first that is none of these.
 */
export function takeRemainder(source: Source, isToolWord: (stemmed: string) => boolean): string | undefined {
  const opening = wordsOf(source.rest).find(
    (word) => !isStop(word.text) && !isGeneric(word.stem) && !isToolWord(word.stem),
  );
  if (!opening) return undefined;
  const end = source.rest.indexOf(TAKEN, opening.start);
  const value = trimEnd(source.rest.slice(opening.start, end < 0 ? undefined : end));
  return value === "" ? undefined : takeSpan(source, opening.start, value.length);
}

/** Cuts punctuation and the little words that led to a value already taken. */
function trimEnd(text: string): string {
  let kept = text.replace(/[\s.,;:!?'"]+$/u, "");
  for (;;) {
    const shorter = kept.replace(/\s+(?:to|into|in|for|from|at|on|with|by|and|of|as|using|the|a)$/iu, "");
    if (shorter === kept) return kept;
    kept = shorter.replace(/[\s.,;:!?]+$/u, "");
  }
}

function takeSpan(source: Source, start: number, length: number): string | undefined {
  const found = source.rest.slice(start, start + length);
  if (found.includes(TAKEN)) return undefined;
  source.take(start, start + length);
  return found.trim() === "" ? undefined : found.trim();
}
