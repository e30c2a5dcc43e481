/** Many documents with their words and vectors, written as quickly as the engine takes them. */
import type { SqlValue } from "../../../kernel/kit/store.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import { DIMENSIONS, signsOfVector, toBytes } from "../../../plugins/memory/vectors.ts";
import { indexWords } from "../../../plugins/memory/word-index.ts";
import { createWriter } from "./words.ts";

const WORDS_EACH = 40;
const AT_ONCE = 1000;

/** A unit vector. */
export function createVector(random: () => number): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  let squares = 0;
  for (let at = 0; at < DIMENSIONS; at++) {
    const value = random() - 0.5;
    vector[at] = value;
    squares += value * value;
  }
  const length = Math.sqrt(squares);
  return vector.map((value) => value / length);
}

/** Into empty tables. */
export async function fillMemory(sql: Sql, user: string, size: number, random: () => number): Promise<void> {
  const write = createWriter(random);
  const now = new Date().toISOString();
  // PostgreSQL sorts millions of words faster than it puts each in its place.
  if (sql.engine === "postgres") await sql.run("ALTER TABLE memory_words DROP CONSTRAINT memory_words_pkey");
  for (let from = 0; from < size; from += AT_ONCE) {
    const documents = Array.from({ length: Math.min(AT_ONCE, size - from) }, (_, at) => ({
      id: from + at + 1,
      user,
      path: `notes/${from + at}.md`,
      text: write(WORDS_EACH),
    }));
    await sql.transaction(async (tx) => {
      const insert = (table: string, columns: string, rows: readonly (readonly SqlValue[])[]) =>
        tx.run(
          `INSERT INTO ${table} (${columns}) VALUES ${rows.map((row) => `(${row.map(() => "?").join()})`).join()}`,
          ...rows.flat(),
        );
      await insert(
        "memory_documents",
        'id, "user", path, text, bytes, version, embedded, updated_at',
        documents.map(({ id, path, text }) => [
          ...[id, user, path, text],
          ...[Buffer.byteLength(text), 1, 1, now],
        ]),
      );
      await indexWords(tx, sql.engine, documents);
      await insert(
        "memory_vectors",
        'document, "user", signs, vector, change',
        documents.map(({ id }) => {
          const vector = createVector(random);
          return [id, user, signsOfVector(vector), toBytes(vector), id];
        }),
      );
    });
  }
  await sql.run('INSERT INTO memory_changes ("user", change) VALUES (?, ?)', user, size);
  if (sql.engine !== "postgres") return;
  await sql.run("ALTER TABLE memory_words ADD PRIMARY KEY (owner, word, document)");
  // As the database does by itself after a while.
  await sql.run("VACUUM ANALYZE");
}
