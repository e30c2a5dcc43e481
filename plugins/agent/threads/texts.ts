/**
 * The words of threads, to search in: messages and titles. FTS5 on SQLite; on PostgreSQL the words themselves as a
 * tsvector, split as FTS5 splits them, so that both find the same.
 */
import type { Sql, Transaction } from "../../../kernel/plugin.ts";

export interface ThreadTexts {
  addMessage(tx: Transaction, item: string, thread: string, text: string): void;
  addTitle(tx: Transaction, thread: string, title: string): void;
  /** Forgets what was said in one turn. */
  removeTurn(tx: Transaction, turn: string): Promise<unknown>;
}

// A tsvector holds a megabyte, and a word of it two kilobytes.
const MOST_BYTES = 500_000;
const LONGEST_WORD = 255;

/** Lower case and without accents, as FTS5 compares them. */
function wordsOf(text: string): readonly string[] {
  const plain = text
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();
  const words = new Set<string>();
  let bytes = 0;
  for (const [word] of plain.matchAll(/[\p{L}\p{N}\p{Co}]+/gu)) {
    const clipped = word.slice(0, LONGEST_WORD).toWellFormed();
    if (words.has(clipped)) continue;
    bytes += Buffer.byteLength(clipped) + 4;
    if (bytes > MOST_BYTES) break;
    words.add(clipped);
  }
  return [...words];
}

// Last, because every savepoint makes FTS5 write out what it has gathered. What is gone by then is not indexed.
const SQLITE: ThreadTexts = {
  addMessage: (tx, item, thread, text) =>
    tx.last(
      "INSERT INTO thread_texts (rowid, text, thread) SELECT seq, ?, ? FROM turn_items WHERE id = ?",
      text,
      thread,
      item,
    ),
  addTitle: (tx, thread, title) =>
    tx.last(
      "INSERT INTO thread_texts (rowid, text, thread) SELECT -seq, ?, id FROM threads WHERE id = ?",
      title,
      thread,
    ),
  removeTurn: (tx, turn) =>
    tx.run("DELETE FROM thread_texts WHERE rowid IN (SELECT seq FROM turn_items WHERE turn = ?)", turn),
};

const ADD = `INSERT INTO thread_texts (source, thread, words)
  SELECT CAST(? AS TEXT), id, array_to_tsvector(string_to_array(?, ' ')) FROM threads WHERE id = ?
  ON CONFLICT (source) DO UPDATE SET words = excluded.words`;

const POSTGRES: ThreadTexts = {
  addMessage: (tx, item, thread, text) => add(tx, item, thread, text),
  addTitle: (tx, thread, title) => add(tx, thread, thread, title),
  removeTurn: (tx, turn) =>
    tx.run("DELETE FROM thread_texts WHERE source IN (SELECT id FROM turn_items WHERE turn = ?)", turn),
};

function add(tx: Transaction, source: string, thread: string, text: string): void {
  const words = wordsOf(text);
  if (words.length > 0) tx.last(ADD, source, words.join(" "), thread);
}

export function threadTexts({ engine }: Pick<Sql, "engine">): ThreadTexts {
  return engine === "postgres" ? POSTGRES : SQLITE;
}
