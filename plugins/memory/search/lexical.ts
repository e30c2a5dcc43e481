/** Search by words. bm25() walks every hit, so each word brings its newest documents, and the best are ranked here. */

import { foldedWords } from "../../../kernel/kit/words.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import type { Documents, Excerpt, Ranked } from "../documents.ts";
import { findAll, findEach } from "../word-index.ts";

const MAX_TERMS = 12;
const MAX_PER_TERM = 256;
const MAX_READ = 40;
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.5;
const USUAL_WORDS = 60;

const LITTLE = new Set(
  `a an the this that these those of in on at to for from with by as is am are was were be been do does did have has had
  will would can could should may might i me my mine we us our you your he she it its they them their what which who whom
  whose when where why how there here and or but if about say said tell told know remember please not no so`.split(
    /\s+/,
  ),
);

export async function searchWords(
  sql: Sql,
  documents: Documents,
  user: string,
  query: string,
): Promise<{ readonly ranked: readonly Ranked[]; readonly excerpts: ReadonlyMap<number, Excerpt> }> {
  const terms = termsOf(query);
  if (terms.length === 0) return { ranked: [], excerpts: new Map() };
  const matches = await findEach(sql, user, terms, MAX_PER_TERM);
  const weights = new Map<number, number>();
  for (const found of matches) {
    const weight = rarity(found.length);
    for (const id of found) weights.set(id, (weights.get(id) ?? 0) + weight);
  }
  // If every word is common, documents with all of them may be older than those that each word found.
  if (terms.length > 1 && matches.every((found) => found.length === MAX_PER_TERM)) {
    for (const id of await findAll(sql, user, rarestFirst(terms, matches), MAX_READ))
      weights.set(id, rarity(MAX_PER_TERM) * terms.length);
  }
  const best = [...weights].sort(([a, one], [b, other]) => other - one || b - a).slice(0, MAX_READ);
  const excerpts = await documents.fetchExcerpts(
    user,
    best.map(([id]) => id),
  );
  const ranked = best.flatMap(([id, weight]) => {
    const row = excerpts.get(id);
    return row ? [{ id, score: weight * closeness(`${row.path} ${row.text}`, terms) }] : [];
  });
  return { ranked: ranked.sort((one, other) => other.score - one.score || other.id - one.id), excerpts };
}

/** Every word found equally many documents, so the rarest is the one whose documents go back the furthest. */
function rarestFirst(terms: readonly string[], matches: readonly (readonly number[])[]): string[] {
  const oldest = new Map(terms.map((term, at) => [term, Math.min(...(matches[at] ?? []))]));
  return terms.toSorted((one, other) => (oldest.get(one) ?? 0) - (oldest.get(other) ?? 0));
}

/** A word in few documents says more. */
function rarity(found: number): number {
  return Math.log(1 + (MAX_PER_TERM + 1) / (found + 0.5));
}

/** BM25's view of one document: how often the words are there, for its length. */
function closeness(text: string, terms: readonly string[]): number {
  const words = foldedWords(text);
  const length = 1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * words.length) / USUAL_WORDS;
  let sum = 0;
  for (const term of terms) {
    const count = words.reduce((total, word) => total + (wordMatches(word, term) ? 1 : 0), 0);
    sum += (count * (SATURATION + 1)) / (count + SATURATION * length);
  }
  // Found by its stem though not by ours: it still counts.
  return 0.1 + sum / terms.length;
}

/** Leaves out the little words, unless there is nothing else. */
export function termsOf(query: string): string[] {
  const words = [...new Set(foldedWords(query.slice(0, 2000)))];
  const telling = words.filter((word) => !LITTLE.has(word));
  return (telling.length > 0 ? telling : words).slice(0, MAX_TERMS);
}

/** The same word, or the same but for its ending. */
export function wordMatches(word: string, term: string): boolean {
  if (word === term) return true;
  const shorter = Math.min(word.length, term.length);
  return (
    shorter >= 4 && Math.abs(word.length - term.length) <= 3 && word.startsWith(term.slice(0, shorter - 1))
  );
}
