/** The part of a text that a search shows. */
import { foldedWords } from "../../../kernel/kit.ts";
import { termsOf, wordMatches } from "../terms.ts";

const WHOLE = 320;
const WINDOW = 240;
const MAX_CHARACTERS = 20_000;

export function snippetOf(text: string, query: string): string {
  if (text.length <= WHOLE) return text.trim();
  const terms = termsOf(query);
  const hits: { at: number; term: string }[] = [];
  for (const match of text.slice(0, MAX_CHARACTERS).matchAll(/[\p{L}\p{N}]+/gu)) {
    const [word = ""] = foldedWords(match[0]);
    const term = terms.find((one) => wordMatches(word, one));
    if (term !== undefined) hits.push({ at: match.index, term });
  }
  let best = { at: 0, count: 0 };
  for (const [index, { at }] of hits.entries()) {
    const within = new Set<string>();
    for (let next = index; (hits[next]?.at ?? Number.POSITIVE_INFINITY) < at + WINDOW; next += 1)
      within.add(hits[next]?.term ?? "");
    if (within.size > best.count) best = { at, count: within.size };
  }
  const start = wordStart(text, Math.max(0, best.at - 40));
  const end = Math.min(text.length, start + WINDOW);
  const cut = end < text.length ? text.slice(start, end).replace(/\s+\S*$/u, "") : text.slice(start, end);
  return `${start > 0 ? "… " : ""}${cut.trim()}${end < text.length ? " …" : ""}`.toWellFormed();
}

function wordStart(text: string, near: number): number {
  if (near === 0) return 0;
  const space = text.slice(near, near + 40).search(/\s/u);
  return space < 0 ? near : near + space + 1;
}
