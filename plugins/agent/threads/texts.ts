/** The words of threads, to search in: messages and titles. FTS5 on SQLite; on PostgreSQL the folded words as a tsvector. */

import { indexedWords } from "../../../kernel/kit.ts";
import type { Sql, Transaction, TurnItem } from "../../../kernel/plugin.ts";

export interface ThreadTexts {
  addMessage(tx: Transaction, item: string, thread: string, text: string): void;
  addTitle(tx: Transaction, thread: string, title: string): void;
  setTitle(tx: Transaction, thread: string, title: string): Promise<unknown>;
  /** Forgets what was said in one turn. */
  removeTurn(tx: Transaction, turn: string): Promise<unknown>;
  /** Forgets all of some threads, which go in the same transaction. */
  removeThreads(tx: Transaction, threads: readonly string[]): Promise<unknown>;
  /** A condition on a thread's id with its one value: a message or the title has every word, the last maybe unfinished. */
  readonly matches: string;
  /** The value for it; undefined where there is no word to look for. */
  matching(q: string): string | undefined;
}

/** Each word is looked for in every thread: so many are enough to find one. */
const MAX_WORDS = 16;

/** `last` is how the index writes that a word may go on. */
function quoteAll(words: readonly string[], quote: '"' | "'", last: string, and: string): string | undefined {
  const some = words.slice(0, MAX_WORDS).map((word) => `${quote}${word}${quote}`);
  return some.length === 0 ? undefined : `${some.join(and)}${last}`;
}

/**
 * One row as VALUES: what SELECT inserts is guarded by a savepoint, and every savepoint makes FTS5 write out what it has
 * gathered, which is also why it is done last. What is gone by then is not indexed: it leaves an empty row 0.
 */
const addRow = (rowid: string, found: string): string =>
  `INSERT OR REPLACE INTO thread_texts (rowid, text, thread)
   VALUES (coalesce((SELECT ${rowid} ${found}), 0), (SELECT ?2 ${found}), (SELECT ?3 ${found}))`;
const ADD_MESSAGE = addRow("seq", "FROM turn_items WHERE id = ?1");
const ADD_TITLE = addRow("-seq", "FROM threads WHERE id = ?1");

const SQLITE: ThreadTexts = {
  addMessage: (tx, item, thread, text) => tx.last(ADD_MESSAGE, item, text, thread),
  addTitle: (tx, thread, title) => tx.last(ADD_TITLE, thread, title, thread),
  setTitle: (tx, thread, title) =>
    tx.run(
      "UPDATE thread_texts SET text = ? WHERE rowid = (SELECT -seq FROM threads WHERE id = ?)",
      title,
      thread,
    ),
  removeTurn: (tx, turn) =>
    tx.run("DELETE FROM thread_texts WHERE rowid IN (SELECT seq FROM turn_items WHERE turn = ?)", turn),
  removeThreads: (tx, threads) => {
    const ids = threads.map(() => "?").join();
    return tx.run(
      `DELETE FROM thread_texts WHERE rowid IN (SELECT -seq FROM threads WHERE id IN (${ids}) UNION ALL
         SELECT turn_items.seq FROM turn_items JOIN turns ON turns.id = turn_items.turn WHERE turns.thread IN (${ids}))`,
      ...threads,
      ...threads,
    );
  },
  matches: "id IN (SELECT thread FROM thread_texts WHERE thread_texts MATCH ?)",
  // FTS5 folds them itself.
  matching: (q) => quoteAll([...new Set(q.match(/[\p{L}\p{N}]+/gu) ?? [])], '"', "*", " "),
};

const ADD = `INSERT INTO thread_texts (source, thread, words)
  SELECT CAST(? AS TEXT), id, array_to_tsvector(string_to_array(?, ' ')) FROM threads WHERE id = ?
  ON CONFLICT (source) DO UPDATE SET words = excluded.words`;

const POSTGRES: ThreadTexts = {
  addMessage: (tx, item, thread, text) => add(tx, item, thread, text),
  addTitle: (tx, thread, title) => add(tx, thread, thread, title),
  async setTitle(tx, thread, title) {
    await tx.run("DELETE FROM thread_texts WHERE source = ?", thread);
    add(tx, thread, thread, title);
  },
  removeTurn: (tx, turn) =>
    tx.run("DELETE FROM thread_texts WHERE source IN (SELECT id FROM turn_items WHERE turn = ?)", turn),
  // They go with their threads.
  removeThreads: async () => {},
  matches: "id IN (SELECT thread FROM thread_texts WHERE words @@ CAST(? AS tsquery))",
  matching: (q) => quoteAll(indexedWords(q).match(/\S+/g) ?? [], "'", ":*", " & "),
};

function add(tx: Transaction, source: string, thread: string, text: string): void {
  const words = indexedWords(text);
  if (words !== "") tx.last(ADD, source, words, thread);
}

export function threadTexts({ engine }: Pick<Sql, "engine">): ThreadTexts {
  return engine === "postgres" ? POSTGRES : SQLITE;
}

const AT_ONCE = 500;

/** Makes the whole index anew. */
export async function indexAllThreads(sql: Sql): Promise<void> {
  const texts = threadTexts(sql);
  await sql.run("DELETE FROM thread_texts");
  await eachPage<{ seq: number; id: string; title: string }>(
    sql,
    "SELECT seq, id, title FROM threads WHERE seq > ? ORDER BY seq LIMIT ?",
    (tx, { id, title }) => texts.addTitle(tx, id, title),
  );
  await eachPage<{ seq: number; id: string; thread: string; body: string }>(
    sql,
    `SELECT turn_items.seq, turn_items.id, turns.thread, body FROM turn_items JOIN turns ON turns.id = turn_items.turn
     WHERE turn_items.seq > ? ORDER BY turn_items.seq LIMIT ?`,
    (tx, { id, thread, body }) => {
      const item = JSON.parse(body) as TurnItem;
      if (item.type === "message" && item.text !== "") texts.addMessage(tx, id, thread, item.text);
    },
  );
}

async function eachPage<Row extends { readonly seq: number }>(
  sql: Sql,
  query: string,
  add: (tx: Transaction, row: Row) => void,
): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await sql.all<Row>(query, after, AT_ONCE);
    const last = rows.at(-1);
    if (last === undefined) return;
    await sql.transaction(async (tx) => {
      for (const row of rows) add(tx, row);
    });
    after = last.seq;
  }
}
