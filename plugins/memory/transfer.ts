/** Documents that become another user's. */
import type { Sql, Transaction } from "../../kernel/plugin.ts";
import { type IndexedDocument, indexWords } from "./word-index.ts";

/** With their texts, which may be long. */
const GIVEN_AT_ONCE = 100;

/** Gives documents to another user: those whose path the other has go below a folder named after the first. Vectors are made anew. */
export async function giveDocuments(
  tx: Transaction,
  engine: Sql["engine"],
  from: string,
  to: string,
): Promise<void> {
  const paths = (user: string) =>
    tx.all<{ id: number; path: string }>(
      'SELECT id, path FROM memory_documents WHERE "user" = ? ORDER BY id',
      user,
    );
  const [own, others] = await Promise.all([paths(from), paths(to)]);
  const occupied = new Set(others.map(({ path }) => path));
  const taken = new Set([...own, ...others].map(({ path }) => path));
  for (const { id, path } of own.filter((row) => occupied.has(row.path)))
    await tx.run("UPDATE memory_documents SET path = ? WHERE id = ?", freePath(path, from, taken), id);
  for (let at = 0; at < own.length; at += GIVEN_AT_ONCE) {
    const ids = own.slice(at, at + GIVEN_AT_ONCE).map(({ id }) => id);
    const places = ids.map(() => "?").join();
    const [given] = await Promise.all([
      tx.all<IndexedDocument>(
        `UPDATE memory_documents SET "user" = ?, embedded = 0 WHERE id IN (${places}) RETURNING id, "user", path, text`,
        to,
        ...ids,
      ),
      tx.run(`DELETE FROM memory_vectors WHERE document IN (${places})`, ...ids),
    ]);
    await indexWords(tx, engine, given);
  }
}

/** A path below the folder that is not taken, and is from now on. */
function freePath(path: string, folder: string, taken: Set<string>): string {
  let free = `${folder}/${path}`;
  for (let count = 2; taken.has(free); count++) free = `${folder}-${count}/${path}`;
  taken.add(free);
  return free;
}
