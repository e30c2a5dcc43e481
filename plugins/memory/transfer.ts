/** Documents that become another user's. */
import type { Sql, Transaction } from "../../kernel/plugin.ts";
import { giveWords, indexWords, ownerToken } from "./word-index.ts";

const GIVEN_AT_ONCE = 500;

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
  for (const { id, path: before } of own.filter((row) => occupied.has(row.path))) {
    const path = freePath(before, from, taken);
    const row = await tx.get<{ text: string }>(
      "UPDATE memory_documents SET path = ?, text = text WHERE id = ? RETURNING text",
      path,
      id,
    );
    await indexWords(tx, engine, id, { user: from, path, text: row?.text ?? "" });
  }
  for (let at = 0; at < own.length; at += GIVEN_AT_ONCE) {
    const ids = own.slice(at, at + GIVEN_AT_ONCE).map(({ id }) => id);
    const places = ids.map(() => "?").join();
    await Promise.all([
      // The text is named so that SQLite writes the word index anew.
      tx.run(
        `UPDATE memory_documents SET "user" = ?, owner = ?, text = text, embedded = 0 WHERE id IN (${places})`,
        to,
        ownerToken(to),
        ...ids,
      ),
      tx.run(`DELETE FROM memory_vectors WHERE document IN (${places})`, ...ids),
      giveWords(tx, engine, ids, from, to),
    ]);
  }
}

/** A path below the folder that is not taken, and is from now on. */
function freePath(path: string, folder: string, taken: Set<string>): string {
  let free = `${folder}/${path}`;
  for (let count = 2; taken.has(free); count++) free = `${folder}-${count}/${path}`;
  taken.add(free);
  return free;
}
