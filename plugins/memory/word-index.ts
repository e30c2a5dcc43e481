/**
 * The index of words, where the two engines differ. SQLite has FTS5, which triggers keep up to date and which stems
 * words by itself. PostgreSQL is given the folded words and stems them: its own parser would take paths, dates and
 * addresses for one word each. In both, a user is a word too, so that a search walks only that user's documents.
 */
import { createHash } from "node:crypto";
import { clipWord, indexedWords } from "../../kernel/kit.ts";
import type { Queries, Sql, Transaction } from "../../kernel/plugin.ts";

type Engine = Sql["engine"];

/** A word that is in an eighth of these is common. */
const MAX_NEAR = 2000;

/** The given words, stemmed. The English dictionary leaves out the most common ones, which are kept as they are. */
const STEMS = `SELECT coalesce((ts_lexize('english_stem', word))[1], word) AS stem
  FROM unnest(string_to_array(CAST(? AS text), ' ')) AS word`;
const WORDS = `(SELECT array_to_tsvector(array_append(array_agg(stem), CAST(? AS text))) FROM (${STEMS}) AS stems)`;

/**
 * A common word is found among the user's newest documents. A rarer one is looked up in the index, which has to bring
 * all that match before it knows the newest: OFFSET 0 keeps the planner from walking all documents instead.
 */
const FIND = `WITH query AS MATERIALIZED (
    SELECT CAST(string_agg(quote_literal(stem), ' & ') || ' & ' || CAST(? AS text) AS tsquery) AS words FROM (${STEMS}) AS stems),
  newest AS MATERIALIZED (
    SELECT document, words FROM memory_words WHERE "user" = ? ORDER BY document DESC LIMIT ${MAX_NEAR}),
  near AS MATERIALIZED (
    SELECT document FROM newest WHERE words @@ (SELECT words FROM query) ORDER BY document DESC LIMIT ?)
  SELECT document AS id FROM near UNION ALL
  SELECT document FROM (
    SELECT document FROM memory_words WHERE words @@ (SELECT words FROM query) OFFSET 0) AS found
  WHERE (SELECT count(*) FROM near) < ? AND document < (SELECT min(document) FROM newest)
  ORDER BY id DESC LIMIT ?`;

/** The newest documents of a user that hold all these folded words, up to the limit. */
export async function findByWords(
  sql: Queries & { readonly engine: Engine },
  user: string,
  words: readonly string[],
  limit: number,
): Promise<readonly number[]> {
  const rows =
    sql.engine === "sqlite"
      ? await sql.all<{ id: number }>(
          "SELECT rowid AS id FROM memory_words WHERE memory_words MATCH ? ORDER BY rowid DESC LIMIT ?",
          `owner : "${ownerToken(user)}" AND {path text} : (${words.map((word) => `"${word}"`).join(" AND ")})`,
          limit,
        )
      : await sql.all<{ id: number }>(
          FIND,
          `'${ownerWord(user)}'`,
          words.map(clipWord).join(" "),
          user,
          limit,
          limit,
          limit,
        );
  return rows.map(({ id }) => id);
}

/** Writes a document's words; SQLite has done so already. */
export async function indexWords(
  tx: Transaction,
  engine: Engine,
  document: number,
  { user, path, text }: { readonly user: string; readonly path: string; readonly text: string },
): Promise<void> {
  if (engine === "sqlite") return;
  await tx.run(
    `INSERT INTO memory_words (document, "user", words) VALUES (?, ?, ${WORDS})
     ON CONFLICT (document) DO UPDATE SET words = excluded.words`,
    document,
    user,
    ownerWord(user),
    indexedWords(`${path} ${text}`),
  );
}

const AT_ONCE = 200;

export async function indexAllDocuments(sql: Sql): Promise<void> {
  if (sql.engine === "sqlite") {
    await sql.run("INSERT INTO memory_words (memory_words) VALUES ('rebuild')");
    return;
  }
  await sql.run("DELETE FROM memory_words");
  for (let after = 0; ; ) {
    const rows = await sql.all<{ id: number; user: string; path: string; text: string }>(
      'SELECT id, "user", path, text FROM memory_documents WHERE id > ? ORDER BY id LIMIT ?',
      after,
      AT_ONCE,
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    await sql.transaction(async (tx) => {
      await Promise.all(rows.map((row) => indexWords(tx, sql.engine, row.id, row)));
    });
    after = last.id;
  }
}

/** The index follows documents that another user gets. */
export async function giveWords(
  tx: Transaction,
  engine: Engine,
  documents: readonly number[],
  from: string,
  to: string,
): Promise<void> {
  if (engine === "sqlite" || documents.length === 0) return;
  await tx.run(
    `UPDATE memory_words SET "user" = ?, words = array_to_tsvector(array_replace(tsvector_to_array(words), CAST(? AS text), CAST(? AS text)))
     WHERE document IN (${documents.map(() => "?").join()})`,
    to,
    ownerWord(from),
    ownerWord(to),
    ...documents,
  );
}

/** No word of a text has such a mark in it. */
const ownerWord = (user: string) => `@${ownerToken(user)}`;

/**
 * The word that stands for a user in the word index. Digits only: the index stems words, and must not stem this one.
 */
export function ownerToken(user: string): string {
  const hash = createHash("sha256").update(user).digest();
  return `${hash.readBigUInt64BE(0)}${hash.readBigUInt64BE(8)}`;
}
