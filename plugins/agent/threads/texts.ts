/** The words of threads, to search in: messages and titles. FTS5 on SQLite; on PostgreSQL the folded words as a tsvector. */
import { indexedWords } from "../../../kernel/kit/words.ts";
import type { Queries, Sql, Transaction, TurnItem } from "../../../kernel/plugin.ts";

export interface ThreadTexts {
  addMessage(tx: Transaction, item: string, thread: string, text: string): void;
  addTitle(tx: Transaction, thread: string, title: string): void;
  setTitle(tx: Transaction, thread: string, title: string): Promise<unknown>;
  removeTurn(tx: Transaction, turn: string): Promise<unknown>;
  /** Forgets all of some threads, which go in the same transaction. */
  removeThreads(tx: Transaction, threads: readonly string[]): Promise<unknown>;
  /** What to look for: every word in a message or the title, the last maybe unfinished. Undefined where there is no word. */
  matching(q: string): string | undefined;
  /** A page of the threads of this list that match, newest first. */
  find<Row extends object>(sql: Queries, list: ThreadList, match: string): Promise<readonly Row[]>;
  /** The newest message of each of these threads that matches, unless that is very long. A title alone may match too. */
  messages(sql: Queries, threads: readonly string[], match: string): Promise<readonly MatchedMessage[]>;
}

export interface MatchedMessage {
  readonly thread: string;
  /** The item, as JSON. */
  readonly body: string;
  readonly at: string;
}

/** Which threads, and what of them: those before a time and an id. */
export interface ThreadList {
  readonly columns: string;
  /** SQL, with a `?` for each value. */
  readonly condition: string;
  readonly values: readonly string[];
  readonly before: readonly [updatedAt: string, id: string];
  readonly limit: number;
}

/** Indexing takes as long as the text is, and everybody waits for it on SQLite: a longer message is found by its beginning. */
export const MAX_INDEXED_LENGTH = 50_000;

/** Each word is looked for in every thread: so many are enough to find one. */
export const MAX_WORDS = 16;

/** A page of threads brings a message of each at once. */
const MAX_BODY_BYTES = 4 * MAX_INDEXED_LENGTH;

/** `last` is how the index writes that a word may go on. */
function quoteAll(words: readonly string[], quote: '"' | "'", last: string, and: string): string | undefined {
  const some = words.slice(0, MAX_WORDS).map((word) => `${quote}${word}${quote}`);
  return some.length === 0 ? undefined : `${some.join(and)}${last}`;
}

/** The row of a message: its thread's number, then its own. A title is at 0. So the index itself says whose a row is. */
const OWN_BITS = 36;
const numberOf = (item: string): string => `(threads.seq << ${OWN_BITS}) + ${item}`;

/**
 * One row as VALUES: what SELECT inserts is guarded by a savepoint, and every savepoint makes FTS5 write out what it has
 * gathered, which is also why it is done last. What is gone by then is not indexed: it leaves an empty row 0.
 */
const addRow = (rowid: string, found: string): string =>
  `INSERT OR REPLACE INTO thread_texts (rowid, text)
   VALUES (coalesce((SELECT ${rowid} ${found}), 0), (SELECT ?2 ${found}))`;
const ADD_MESSAGE = addRow(
  numberOf("turn_items.seq"),
  "FROM turn_items, threads WHERE turn_items.id = ?1 AND threads.id = ?3",
);
const ADD_TITLE = addRow(numberOf("0"), "FROM threads WHERE id = ?1");
const MESSAGES = `SELECT ${numberOf("turn_items.seq")} FROM turn_items JOIN turns ON turns.id = turn_items.turn
  JOIN threads ON threads.id = turns.thread`;

const SQLITE: ThreadTexts = {
  addMessage: (tx, item, thread, text) =>
    tx.last(ADD_MESSAGE, item, text.slice(0, MAX_INDEXED_LENGTH), thread),
  addTitle: (tx, thread, title) => tx.last(ADD_TITLE, thread, title),
  setTitle: async (tx, thread, title) => tx.last(ADD_TITLE, thread, title),
  removeTurn: (tx, turn) =>
    tx.run(`DELETE FROM thread_texts WHERE rowid IN (${MESSAGES} WHERE turn_items.turn = ?)`, turn),
  removeThreads: (tx, threads) => {
    const ids = threads.map(() => "?").join();
    return tx.run(
      `DELETE FROM thread_texts WHERE rowid IN (SELECT ${numberOf("0")} FROM threads WHERE id IN (${ids})
         UNION ALL ${MESSAGES} WHERE turns.thread IN (${ids}))`,
      ...threads,
      ...threads,
    );
  },
  find: (sql, { columns, condition, values, before, limit }, match) =>
    sql.all(
      `SELECT ${columns} FROM threads
       WHERE ${condition} AND (updated_at, id) < (?, ?)
         AND seq IN (SELECT rowid >> ${OWN_BITS} FROM thread_texts WHERE thread_texts MATCH ?)
       ORDER BY updated_at DESC, id DESC LIMIT ?`,
      ...[...values, ...before, match, limit],
    ),
  messages: (sql, threads, match) =>
    sql.all(
      `SELECT found.thread, body, turns.created_at AS at
       FROM (SELECT threads.id AS thread, max(thread_texts.rowid) - (threads.seq << ${OWN_BITS}) AS item
             FROM thread_texts JOIN threads ON threads.seq = thread_texts.rowid >> ${OWN_BITS}
             WHERE thread_texts MATCH ? AND threads.id IN (${threads.map(() => "?").join()})
             GROUP BY threads.id) AS found
       JOIN turn_items ON turn_items.seq = found.item JOIN turns ON turns.id = turn_items.turn
       WHERE octet_length(body) <= ${MAX_BODY_BYTES}`,
      ...[match, ...threads],
    ),
  // FTS5 folds them itself.
  matching: (q) => quoteAll([...new Set(q.match(/[\p{L}\p{N}]+/gu) ?? [])], '"', "*", " "),
};

const ADD = `INSERT INTO thread_texts (source, thread, words)
  SELECT CAST(? AS TEXT), id, array_to_tsvector(string_to_array(?, ' ')) FROM threads WHERE id = ?
  ON CONFLICT (source) DO UPDATE SET words = excluded.words`;

/** A word that is in nearly every thread fills a page from these. */
const MAX_NEAR = 64;
/** A word that is in none of the first few is not such a word. */
const SAMPLED = 8;

const heldBy = (thread: string): string => `EXISTS (
  SELECT 1 FROM (SELECT words FROM thread_texts WHERE thread = ${thread}.id OFFSET 0) AS own
  WHERE words @@ (SELECT words FROM wanted))`;

/**
 * A common word is looked for in the newest threads, one after the other. A rarer one is looked up in the index, which has to bring all
 * messages that match before it knows the newest. OFFSET 0 and MATERIALIZED keep the planner from guessing which of the two a word is.
 */
const findBoth = (columns: string, condition: string): string => `
  WITH wanted AS MATERIALIZED (SELECT CAST(? AS tsquery) AS words),
  newest AS MATERIALIZED (
    SELECT ${columns} FROM threads WHERE ${condition} AND (updated_at, id) < (?, ?)
    ORDER BY updated_at DESC, id DESC LIMIT ${MAX_NEAR}),
  sample AS MATERIALIZED (
    SELECT 1 FROM (SELECT id FROM newest LIMIT ${SAMPLED}) AS few WHERE ${heldBy("few")} LIMIT 1),
  near AS MATERIALIZED (
    SELECT * FROM newest
    WHERE (EXISTS (SELECT 1 FROM sample) OR (SELECT count(*) FROM newest) < ${MAX_NEAR}) AND ${heldBy("newest")}
    LIMIT ?),
  found AS MATERIALIZED (
    SELECT thread FROM thread_texts WHERE words @@ (SELECT words FROM wanted))
  SELECT * FROM near UNION ALL
  SELECT * FROM (
    SELECT ${columns} FROM threads
    WHERE ${condition} AND (SELECT count(*) FROM near) < ? AND (SELECT count(*) FROM newest) = ${MAX_NEAR}
      AND (updated_at, id) < (?, ?) AND id NOT IN (SELECT id FROM near) AND id IN (SELECT thread FROM found)
    ORDER BY updated_at DESC, id DESC LIMIT ?) AS others
  ORDER BY updated_at DESC, id DESC LIMIT ?`;

const POSTGRES: ThreadTexts = {
  addMessage: (tx, item, thread, text) => add(tx, item, thread, text.slice(0, MAX_INDEXED_LENGTH)),
  addTitle: (tx, thread, title) => add(tx, thread, thread, title),
  async setTitle(tx, thread, title) {
    await tx.run("DELETE FROM thread_texts WHERE source = ?", thread);
    add(tx, thread, thread, title);
  },
  removeTurn: (tx, turn) =>
    tx.run("DELETE FROM thread_texts WHERE source IN (SELECT id FROM turn_items WHERE turn = ?)", turn),
  // They go with their threads.
  removeThreads: async () => {},
  find: (sql, { columns, condition, values, before, limit }, match) =>
    sql.all(
      findBoth(columns, condition),
      ...[match, ...values, ...before, limit],
      ...[...values, limit, ...before, limit, limit],
    ),
  messages: (sql, threads, match) =>
    sql.all(
      `SELECT found.thread, body, turns.created_at AS at
       FROM (SELECT DISTINCT ON (thread_texts.thread) thread_texts.thread, turn_items.seq AS item
             FROM thread_texts JOIN turn_items ON turn_items.id = source
             WHERE thread_texts.thread IN (${threads.map(() => "?").join()}) AND words @@ CAST(? AS tsquery)
             ORDER BY thread_texts.thread, turn_items.seq DESC) AS found
       JOIN turn_items ON turn_items.seq = found.item JOIN turns ON turns.id = turn_items.turn
       WHERE octet_length(body) <= ${MAX_BODY_BYTES}`,
      ...[...threads, match],
    ),
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
