/** The words of threads, to search in: messages and titles. FTS5 on SQLite; on PostgreSQL the folded words as a tsvector. */
import type { Sql, Transaction } from "../../../kernel/plugin.ts";
import { indexedWords } from "../memory/word-index.ts";

export interface ThreadTexts {
  addMessage(tx: Transaction, item: string, thread: string, text: string): void;
  addTitle(tx: Transaction, thread: string, title: string): void;
  /** Forgets what was said in one turn. */
  removeTurn(tx: Transaction, turn: string): Promise<unknown>;
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
  const words = indexedWords(text);
  if (words !== "") tx.last(ADD, source, words, thread);
}

export function threadTexts({ engine }: Pick<Sql, "engine">): ThreadTexts {
  return engine === "postgres" ? POSTGRES : SQLITE;
}
