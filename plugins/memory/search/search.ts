/** One search: by words and, where vectors are ready, by meaning; fused by rank, because their scores do not compare. */

import { foldedWords } from "../../../kernel/kit/words.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import type { Documents, Ranked } from "../documents.ts";
import type { Embedder } from "../embedder.ts";
import type { Vectors } from "../vectors.ts";
import type { MemoryHit } from "../wire.ts";
import { searchWords, termsOf, wordMatches } from "./lexical.ts";

/** How soon ranks lose weight; the value the literature uses. */
const FUSION = 60;
/** A query's vector is not waited for longer: words alone are an answer too. */
const TIMEOUT_MS = 600;
const MAX_HITS = 50;
const MAX_QUERY_LENGTH = 1000;
const MAX_WHOLE_LENGTH = 320;
const SNIPPET_LENGTH = 240;
const MAX_SEARCHED_LENGTH = 20_000;

export interface SearchParts {
  readonly sql: Sql;
  readonly documents: Documents;
  readonly meaning: { readonly embedder: Embedder; readonly vectors: Vectors } | undefined;
}

export async function search(
  parts: SearchParts,
  user: string,
  q: string,
  limit: number,
): Promise<readonly MemoryHit[]> {
  const query = q.slice(0, MAX_QUERY_LENGTH).toWellFormed();
  const [byWords, byMeaning] = await Promise.all([
    searchWords(parts.sql, parts.documents, user, query),
    searchMeaning(parts, user, query),
  ]);
  const fused = fuse([byWords.ranked, byMeaning]).slice(0, Math.max(1, Math.min(MAX_HITS, limit)));
  const wanting = fused.map(({ id }) => id).filter((id) => !byWords.excerpts.get(id)?.isWhole);
  const fetched = await parts.documents.fetch(user, wanting);
  return fused.flatMap(({ id, score }) => {
    const row = fetched.get(id) ?? byWords.excerpts.get(id);
    if (row === undefined) return [];
    const { path, text, updatedAt, origins } = row;
    return [{ path, snippet: snippetOf(text, query), score, updatedAt, origins }];
  });
}

async function searchMeaning({ meaning }: SearchParts, user: string, query: string): Promise<Ranked[]> {
  if (meaning === undefined || query.trim() === "") return [];
  const change = await meaning.vectors.lastChange(user);
  if (change === undefined || !meaning.embedder.isReady()) return [];
  const patience = new Promise<undefined>((resolve) => setTimeout(resolve, TIMEOUT_MS, undefined).unref());
  const vector = await Promise.race([meaning.embedder.embed(query, true).catch(() => undefined), patience]);
  return vector ? await meaning.vectors.search(user, vector, change) : [];
}

/** Reciprocal rank fusion, as a share of the best there could be. */
export function fuse(lists: readonly (readonly Ranked[])[]): Ranked[] {
  const sums = new Map<number, number>();
  for (const list of lists) {
    for (const [rank, { id }] of list.entries()) sums.set(id, (sums.get(id) ?? 0) + 1 / (FUSION + rank + 1));
  }
  const best = lists.filter((list) => list.length > 0).length / (FUSION + 1);
  return [...sums]
    .map(([id, sum]) => ({ id, score: Number((sum / best).toFixed(4)) }))
    .sort((one, other) => other.score - one.score || other.id - one.id);
}

/** Returns the part of a text that a search shows. */
export function snippetOf(text: string, query: string): string {
  if (text.length <= MAX_WHOLE_LENGTH) return text.trim();
  const terms = termsOf(query);
  const hits: { at: number; term: string }[] = [];
  for (const match of text.slice(0, MAX_SEARCHED_LENGTH).matchAll(/[\p{L}\p{N}]+/gu)) {
    const [word = ""] = foldedWords(match[0]);
    const term = terms.find((one) => wordMatches(word, one));
    if (term !== undefined) hits.push({ at: match.index, term });
  }
  let best = { at: 0, count: 0 };
  for (const [index, { at }] of hits.entries()) {
    const within = new Set<string>();
    for (let next = index; (hits[next]?.at ?? Number.POSITIVE_INFINITY) < at + SNIPPET_LENGTH; next += 1)
      within.add(hits[next]?.term ?? "");
    if (within.size > best.count) best = { at, count: within.size };
  }
  const start = wordStart(text, Math.max(0, best.at - 40));
  const end = Math.min(text.length, start + SNIPPET_LENGTH);
  const cut = end < text.length ? text.slice(start, end).replace(/\s+\S*$/u, "") : text.slice(start, end);
  return `${start > 0 ? "… " : ""}${cut.trim()}${end < text.length ? " …" : ""}`.toWellFormed();
}

function wordStart(text: string, near: number): number {
  if (near === 0) return 0;
  const space = text.slice(near, near + 40).search(/\s/u);
  return space < 0 ? near : near + space + 1;
}
