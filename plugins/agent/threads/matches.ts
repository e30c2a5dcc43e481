/** The sentences by which a search found threads. */
import { setImmediate } from "node:timers/promises";
import type { ThreadSummary } from "../../../kernel/kit/turns.ts";
import { foldedWords } from "../../../kernel/kit/words.ts";
import type { Queries, TurnItem } from "../../../kernel/plugin.ts";
import { MAX_INDEXED_LENGTH, MAX_WORDS, type ThreadTexts } from "./texts.ts";

const MAX_SENTENCE_LENGTH = 200;
/** What stands before the word in a sentence that is cut. */
const LEAD_LENGTH = 60;
/** So much is looked through for one page, and everybody waits: threads that come after it have no sentence. */
const MAX_LOOKED_THROUGH = 8 * MAX_INDEXED_LENGTH;

/** Adds to each thread the sentence of its newest message that has the words. One that is found by its title, or by a very long message, has none. */
export async function withMatches(
  sql: Queries,
  texts: ThreadTexts,
  threads: readonly ThreadSummary[],
  { q, match }: { readonly q: string; readonly match: string },
): Promise<readonly ThreadSummary[]> {
  if (threads.length === 0) return threads;
  const ids = threads.map(({ id }) => id);
  const found = new Map<string, ThreadSummary["match"]>();
  const wanted = foldedWords(q).slice(0, MAX_WORDS);
  const bodies = new Map((await texts.messages(sql, ids, match)).map((each) => [each.thread, each]));
  let left = MAX_LOOKED_THROUGH;
  for (const id of ids) {
    const { body, at } = bodies.get(id) ?? {};
    const item = body === undefined ? undefined : (JSON.parse(body) as TurnItem);
    if (at === undefined || item?.type !== "message") continue;
    const text = item.text.slice(0, MAX_INDEXED_LENGTH);
    left -= text.length;
    if (left < 0) break;
    found.set(id, { text: sentenceWith(text, wanted), at });
    // Each may be long, and others wait.
    await setImmediate();
  }
  return threads.map((thread) => ({ ...thread, match: found.get(thread.id) }));
}

/** Returns the sentence with most of the words, cut around the first of them if it is long. */
function sentenceWith(text: string, wanted: readonly string[]): string {
  let best = { words: -1, sentence: "", at: 0 };
  for (const [sentence] of text.matchAll(/[^.!?\n]+[.!?]*/g)) {
    const hits = new Set<string>();
    let at = -1;
    for (const { 0: word, index } of sentence.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
      const hit = foldedWords(word).find((one) => wanted.some((term) => one.startsWith(term)));
      if (hit === undefined) continue;
      if (hits.size === 0) at = index;
      hits.add(hit);
    }
    if (hits.size > best.words) best = { words: hits.size, sentence, at: Math.max(at, 0) };
  }
  const { sentence, at } = best;
  const start = sentence.trim().length <= MAX_SENTENCE_LENGTH ? 0 : Math.max(0, at - LEAD_LENGTH);
  const cut = sentence
    .slice(start, start + MAX_SENTENCE_LENGTH)
    .toWellFormed()
    .trim();
  return `${start > 0 ? "… " : ""}${cut}${start + MAX_SENTENCE_LENGTH < sentence.trimEnd().length ? " …" : ""}`;
}
