/** Free text in a request: in quotation marks, after a label, or what is left of the sentence. */
import type { Property } from "./schema.ts";
import { type Source, TAKEN } from "./source.ts";
import { isGeneric, isLinking, isStop, stem, wordsOf, wordsOfName } from "./words.ts";

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
  // Where more words follow, the value may be all of them; that is for the remainder to say.
  const following = /^ ([\p{L}\p{N}]+)/u.exec(source.rest.slice(beside.index + beside[0].length))?.[1];
  if (following !== undefined && !isStop(following)) return undefined;
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

export interface ToolWords {
  /** Words of its name and of its parameters' names. */
  isName(stemmed: string): boolean;
  /** Any word the tool uses of itself, or one that means the same. */
  isOwn(stemmed: string): boolean;
}

/**
 * What is left once the opening ("please search the web for") is gone. Up to the first word of the tool,
 * courtesy, grammar and everyday verbs are skipped; after it only grammar and the tool's name.
 */
export function takeRemainder(source: Source, tool: ToolWords): string | undefined {
  let named = false;
  let start: number | undefined;
  for (const word of wordsOf(source.rest)) {
    const own = named ? tool.isName(word.stem) : tool.isOwn(word.stem);
    if (own) named = true;
    if (own && /^\s*:/u.test(source.rest.slice(word.end))) {
      start = source.rest.indexOf(":", word.end) + 1;
      break;
    }
    const isOpening = named ? isLinking(word.text) : isStop(word.text) || isGeneric(word.stem);
    if (own || isOpening) continue;
    start = word.start;
    break;
  }
  if (start === undefined) return undefined;
  const from = start + (/^\s*/u.exec(source.rest.slice(start))?.[0].length ?? 0);
  const end = source.rest.indexOf(TAKEN, from);
  const value = withoutName(trimEnd(source.rest.slice(from, end < 0 ? undefined : end)), tool);
  return value === "" ? undefined : takeSpan(source, from, value.length);
}

/** "the soup skill" names soup. */
function withoutName(text: string, tool: ToolWords): string {
  const last = /\s+(\p{L}+)$/u.exec(text);
  return last?.[1] !== undefined && tool.isName(stem(last[1])) ? text.slice(0, last.index) : text;
}

const PATH =
  /(?<![\p{L}\p{N}~.])((?:[~.]{0,2}\/)?(?:[\p{L}\p{N}_.-]+\/)+[\p{L}\p{N}_.-]*[\p{L}\p{N}_-]|[\p{L}\p{N}_-]+\.[\p{L}\p{N}]{1,8})(?![\p{L}\p{N}/])/u;

export function takePath(source: Source): string | undefined {
  return source.takeMatch(PATH);
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
