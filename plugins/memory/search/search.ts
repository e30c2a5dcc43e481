/** One search: by words and, where vectors are ready, by meaning; fused by rank, because their scores do not compare. */
import type { MemoryHit } from "../../../kernel/kit.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import type { Documents, Ranked } from "../documents.ts";
import type { Embedder } from "../embedder.ts";
import type { Vectors } from "../vectors.ts";
import { searchWords } from "./lexical.ts";
import { snippetOf } from "./snippet.ts";

/** How soon ranks lose weight; the value the literature uses. */
const FUSION = 60;
/** A query's vector is not waited for longer: words alone are an answer too. */
const TIMEOUT_MS = 600;
const MAX_HITS = 50;
const MAX_QUERY_LENGTH = 1000;

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
    return row
      ? [
          {
            path: row.path,
            snippet: snippetOf(row.text, query),
            score,
            updatedAt: row.updatedAt,
            ...(row.origins && { origins: row.origins }),
          },
        ]
      : [];
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
