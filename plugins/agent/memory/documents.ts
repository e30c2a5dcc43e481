/** The documents themselves: one text for each user and path, earlier texts kept as versions. */
import { createHash } from "node:crypto";
import { Fault, type SyncSql } from "../../../kernel/plugin.ts";
import { cleanPath } from "./path.ts";

export interface Document {
  readonly path: string;
  readonly text: string;
  readonly updatedAt: string;
  readonly version: number;
}

interface Row {
  readonly id: number;
  readonly path: string;
  readonly text: string;
  readonly version: number;
  readonly updated_at: string;
}

const MOST_BYTES = 256 * 1024;
const MOST_VERSIONS = 100;

export type Documents = ReturnType<typeof createDocuments>;

export function createDocuments(sql: SyncSql) {
  const find = (user: string, path: string) =>
    sql.get<Row>(
      "SELECT id, path, text, version, updated_at FROM memory_documents WHERE user = ? AND path = ?",
      user,
      path,
    );

  return {
    read(user: string, path: string): Document | undefined {
      const row = find(user, cleanPath(path));
      return row && { path: row.path, text: row.text, updatedAt: row.updated_at, version: row.version };
    },

    /** The texts of those that are there, by path. */
    readTexts(user: string, paths: readonly string[]): ReadonlyMap<string, string> {
      const rows = sql.all<{ path: string; text: string }>(
        `SELECT path, text FROM memory_documents WHERE user = ? AND path IN (${paths.map(() => "?").join()})`,
        user,
        ...paths,
      );
      return new Map(rows.map(({ path, text }) => [path, text]));
    },

    readVersion(user: string, path: string, version: number): Document | undefined {
      const current = find(user, cleanPath(path));
      if (!current) return undefined;
      const row = sql.get<{ text: string; written_at: string }>(
        "SELECT text, written_at FROM memory_versions WHERE document = ? AND version = ?",
        current.id,
        version,
      );
      return row && { path: current.path, text: row.text, updatedAt: row.written_at, version };
    },

    /** Answers the document's number, and whether anything changed. */
    write(
      user: string,
      given: string,
      text: string,
    ): { path: string; version: number; id: number; changed: boolean } {
      const path = cleanPath(given);
      const bytes = Buffer.byteLength(text);
      if (bytes > MOST_BYTES) {
        const size = `${Math.ceil(bytes / 1024)} KiB`;
        throw new Fault(
          "invalid",
          "too_large",
          `the text for ${path} is ${size}; a document may be up to ${MOST_BYTES / 1024} KiB. Split it`,
          { param: "text" },
        );
      }
      const kept = text.replaceAll("\0", "").toWellFormed();
      const now = new Date().toISOString();
      return sql.transaction(() => {
        const before = find(user, path);
        if (before?.text === kept) return { path, version: before.version, id: before.id, changed: false };
        const version = (before?.version ?? 0) + 1;
        if (before) {
          sql.run(
            "UPDATE memory_documents SET text = ?, bytes = ?, version = ?, updated_at = ? WHERE id = ?",
            kept,
            bytes,
            version,
            now,
            before.id,
          );
        } else {
          sql.run(
            "INSERT INTO memory_documents (user, owner, path, text, bytes, version, updated_at) VALUES (?, ?, ?, ?, ?, 1, ?)",
            user,
            ownerToken(user),
            path,
            kept,
            bytes,
            now,
          );
        }
        const id = before?.id ?? find(user, path)?.id ?? 0;
        sql.run("INSERT INTO memory_versions VALUES (?, ?, ?, ?)", id, version, kept, now);
        sql.run(
          "DELETE FROM memory_versions WHERE document = ? AND version <= ?",
          id,
          version - MOST_VERSIONS,
        );
        return { path, version, id, changed: true };
      });
    },

    idOf: (user: string, path: string): number | undefined => find(user, cleanPath(path))?.id,

    /** Gives a document to another user, below a folder where that one has the path already. */
    give(id: number, to: string, folder: string): void {
      const row = sql.get<{ path: string }>("SELECT path FROM memory_documents WHERE id = ?", id);
      if (row === undefined) return;
      let path = row.path;
      for (let count = 1; find(to, path) !== undefined; count++)
        path = `${folder}${count === 1 ? "" : `-${count}`}/${row.path}`;
      // The text is named so that the word index is written anew; the vectors are made anew.
      sql.run(
        "UPDATE memory_documents SET user = ?, owner = ?, path = ?, text = text, embedded = 0 WHERE id = ?",
        to,
        ownerToken(to),
        path,
        id,
      );
      sql.run("DELETE FROM memory_vectors WHERE document = ?", id);
    },

    /** Forgets a document with all its versions. */
    remove(id: number): void {
      sql.run("DELETE FROM memory_documents WHERE id = ?", id);
    },

    tree(user: string): { path: string; updatedAt: string; bytes: number }[] {
      return sql.all(
        "SELECT path, updated_at AS updatedAt, bytes FROM memory_documents WHERE user = ? ORDER BY path",
        user,
      );
    },

    /** Those of the numbered documents that are this user's. */
    fetch(user: string, ids: readonly number[]): ReadonlyMap<number, Row> {
      const rows = new Map<number, Row>();
      for (const id of ids) {
        const row = sql.get<Row>(
          "SELECT id, path, text, version, updated_at FROM memory_documents WHERE id = ? AND user = ?",
          id,
          user,
        );
        if (row) rows.set(id, row);
      }
      return rows;
    },
  };
}

/**
 * The word that stands for a user in the word index, so that a search walks only that user's documents.
 * Digits only: the index stems words, and must not stem this one.
 */
export function ownerToken(user: string): string {
  const hash = createHash("sha256").update(user).digest();
  return `${hash.readBigUInt64BE(0)}${hash.readBigUInt64BE(8)}`;
}
