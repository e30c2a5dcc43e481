/**
 * The index of words, where the two engines differ. Both are given the folded words of a document, stem them, and find the
 * newest documents of one user that hold a word, without a look at those of others. SQLite has FTS5, where each word has
 * its user before it. PostgreSQL keeps a row for each stem of a document: its own index of texts has to bring all
 * documents with a word before it knows the newest, and this one brings as many as are wanted.
 */
import { createHash } from "node:crypto";
import { clipWord, indexedWords } from "../../kernel/kit/words.ts";
import type { Queries, Sql, Transaction } from "../../kernel/plugin.ts";
import { documentOf, rowsOf, UNFINISHED, unfinishedRow, wordRows } from "./word-rows.ts";

type Engine = Sql["engine"];
type Searched = Queries & { readonly engine: Engine };

/** How many documents with a word are looked through for the others. */
const MAX_WALKED = 1000;

const OWNER = "hashtextextended(CAST(? AS text), 0)";
/** The English dictionary leaves out the most common words, which are kept as they are. */
const STEM = "hashtextextended(coalesce((ts_lexize('english_stem', given))[1], given), 0)";
const TERMS = `terms AS MATERIALIZED (SELECT place, ${STEM} AS term
  FROM unnest(string_to_array(CAST(? AS text), ' ')) WITH ORDINALITY AS words (given, place))`;

const FIND_EACH = `WITH ${TERMS}
  SELECT (SELECT string_agg(CAST(document AS text), ' ') FROM (
    SELECT document FROM memory_words WHERE owner = ${OWNER} AND word = term ORDER BY document DESC LIMIT ?) AS newest) AS found
  FROM terms ORDER BY place`;

/** OFFSET 0 keeps the planner from joining whole indexes: each document is looked up, until there are enough. */
const FIND_ALL = `WITH ${TERMS},
  rarest AS MATERIALIZED (SELECT document FROM memory_words
    WHERE owner = ${OWNER} AND word = (SELECT term FROM terms WHERE place = 1) ORDER BY document DESC LIMIT ${MAX_WALKED})
  SELECT document AS id FROM rarest WHERE NOT EXISTS (SELECT 1 FROM terms WHERE place > 1 AND NOT EXISTS (
    SELECT 1 FROM memory_words AS words
    WHERE words.owner = ${OWNER} AND words.word = term AND words.document = rarest.document OFFSET 0) OFFSET 0)
  LIMIT ?`;

const INDEX = `INSERT INTO memory_words (owner, word, document)
  SELECT DISTINCT hashtextextended("user", 0), ${STEM}, id
  FROM json_to_recordset(CAST(? AS json)) AS documents (id bigint, "user" text, words text),
    unnest(string_to_array(words, ' ')) AS given`;

/** For each of these folded words the newest documents of a user that hold it, up to the limit. */
export async function findEach(
  sql: Searched,
  user: string,
  words: readonly string[],
  limit: number,
): Promise<readonly (readonly number[])[]> {
  if (sql.engine === "sqlite") return Promise.all(words.map((word) => match(sql, user, [word], limit)));
  const rows = await sql.all<{ found: string | null }>(FIND_EACH, joined(words), user, limit);
  return rows.map(({ found }) => found?.split(" ").map(Number) ?? []);
}

/** The newest documents of a user that hold all of two or more folded words, up to the limit. The rarest word comes first. */
export async function findAll(
  sql: Searched,
  user: string,
  words: readonly string[],
  limit: number,
): Promise<readonly number[]> {
  if (sql.engine === "sqlite") return matchAll(sql, user, words, limit);
  const rows = await sql.all<{ id: number }>(FIND_ALL, joined(words), user, user, limit);
  return rows.map(({ id }) => id);
}

const joined = (words: readonly string[]): string => words.map(clipWord).join(" ");

/** The newest documents that hold all of these words in one row. Few are so long that they have later rows: all of those are walked. */
const MATCH = `SELECT * FROM (SELECT rowid AS document FROM memory_words
    WHERE memory_words MATCH ?1 AND rowid > 0 ORDER BY rowid DESC LIMIT ?2)
  UNION SELECT ${documentOf("rowid")} FROM memory_words WHERE memory_words MATCH ?1 AND rowid < 0
  ORDER BY document DESC LIMIT ?2`;

async function match(sql: Queries, user: string, words: readonly string[], limit: number): Promise<number[]> {
  const query = ownWords(user, words)
    .map((word) => `"${word}"`)
    .join(" AND ");
  const rows = await sql.all<{ document: number }>(MATCH, query, limit);
  return rows.map(({ document }) => document);
}

/** A long document may hold the words in different rows: of each word, the newest documents are compared. */
async function matchAll(
  sql: Queries,
  user: string,
  words: readonly string[],
  limit: number,
): Promise<number[]> {
  const inOneRow = await match(sql, user, words, limit);
  const found = await Promise.all(words.map((word) => match(sql, user, [word], MAX_WALKED)));
  const inAnyRow = found.map((each) => new Set(each)).reduce((all, each) => all.intersection(each));
  return [...inAnyRow.union(new Set(inOneRow))].sort((one, other) => other - one).slice(0, limit);
}

/** Digits, so that a word has the same stem for everybody. */
function ownWords(user: string, words: readonly string[]): string[] {
  const number = createHash("sha256").update(user).digest().readBigUInt64BE(0);
  const prefix = String(number).padStart(20, "0");
  return words.map((word) => `${prefix}${clipWord(word)}`);
}

export interface IndexedDocument {
  readonly id: number;
  readonly user: string;
  readonly path: string;
  readonly text: string;
  /** Those of its path and text, if they are known. */
  readonly words?: string | undefined;
}

/** Writes the words of documents. With `later`, on SQLite, all but the first row is for a transaction of its own. */
export async function indexWords(
  tx: Transaction,
  engine: Engine,
  documents: readonly IndexedDocument[],
  later?: LaterRows,
): Promise<void> {
  const rows = documents.map(({ id, user, path, text, words = indexedWords(`${path} ${text}`) }) => ({
    id,
    user,
    words,
  }));
  const remove = `DELETE FROM memory_words WHERE document IN (${rows.map(() => "?").join()})`;
  if (engine !== "sqlite") {
    await Promise.all([tx.run(remove, ...rows.map(({ id }) => id)), tx.run(INDEX, JSON.stringify(rows))]);
    return;
  }
  for (const { id, user, words } of rows) {
    await tx.run(`DELETE FROM memory_words WHERE rowid IN (${rowsOf("?1")})`, id);
    const [first, ...others] = wordRows(id, ownWords(user, words.split(" ")));
    for (const row of [first, ...(later ? [] : others)]) if (row) await addRow(tx, row);
    if (later && others.length > 0) await addRow(tx, [unfinishedRow(id), []]);
    later?.push(...others);
  }
}

/** Rows of the index that are yet to be written. */
export type LaterRows = (readonly [row: number, words: readonly string[]])[];

const addRow = (tx: Transaction, [row, words]: LaterRows[number]): Promise<number> =>
  tx.run("INSERT INTO memory_words (rowid, words) VALUES (?, ?)", row, words.join(" "));

/** Writes them one by one, as long as the document has this version. */
export async function indexLater(sql: Sql, rows: LaterRows, id: number, version: number): Promise<void> {
  const unfinished = unfinishedRow(id);
  for (const row of rows)
    await sql.transaction(async (tx) => {
      const still = await tx.get(
        "SELECT 1 AS one FROM memory_documents JOIN memory_words ON memory_words.rowid = ? WHERE id = ? AND version = ?",
        unfinished,
        id,
        version,
      );
      if (still === undefined) return;
      await addRow(tx, row);
      if (row === rows.at(-1)) await tx.run("DELETE FROM memory_words WHERE rowid = ?", unfinished);
    });
}

/** The documents of which a crash or a full disk left later rows unwritten. */
export const findUnfinished = async (sql: Sql) =>
  sql.engine === "sqlite"
    ? sql.all<{ id: number; user: string }>(
        `SELECT id, "user" FROM memory_words JOIN memory_documents ON id = ${documentOf("memory_words.rowid")}
          WHERE memory_words.${UNFINISHED}`,
      )
    : [];

/** Writes all rows of such a document anew. */
export async function indexUnfinished(sql: Sql, id: number): Promise<void> {
  const later: LaterRows = [];
  const found = await sql.transaction(async (tx) => {
    later.length = 0;
    const row = await tx.get<IndexedDocument & { version: number }>(
      'SELECT id, "user", path, text, version FROM memory_documents JOIN memory_words ON memory_words.rowid = ? WHERE id = ?',
      unfinishedRow(id),
      id,
    );
    if (row) await indexWords(tx, sql.engine, [row], later);
    return row;
  });
  if (found) await indexLater(sql, later, id, found.version);
}

const AT_ONCE = 200;

export async function indexAllDocuments(sql: Sql): Promise<void> {
  await sql.run("DELETE FROM memory_words");
  for (let after = 0; ; ) {
    const rows = await sql.all<IndexedDocument>(
      'SELECT id, "user", path, text FROM memory_documents WHERE id > ? ORDER BY id LIMIT ?',
      after,
      AT_ONCE,
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    await sql.transaction((tx) => indexWords(tx, sql.engine, rows));
    after = last.id;
  }
}
