/** The documents themselves: one text for each user and path, earlier texts kept as versions. */

import { distinctOrigins } from "../../kernel/kit/turns.ts";
import { Fault, type Origin, type Sql, type Transaction } from "../../kernel/plugin.ts";
import { cleanPath } from "./path.ts";
import type { Writing } from "./services.ts";
import type { MemoryEntry, MemoryFile, MemoryVersion, MemoryWriter } from "./wire.ts";
import { indexWords, type LaterRows } from "./word-index.ts";

export interface Ranked {
  readonly id: number;
  readonly score: number;
}

/** A document, or where it is long its beginning. */
export interface Excerpt {
  readonly id: number;
  readonly path: string;
  readonly text: string;
  readonly isWhole: boolean;
  readonly updatedAt: string;
  readonly origins?: readonly Origin[];
}

const MAX_BYTES = 256 * 1024;
const MAX_VERSIONS = 100;
/** Ranking looks at this much of a long document. */
const MAX_EXCERPT_LENGTH = 6000;
/** So much of a document is looked at for its first line. */
const MAX_LINE_LENGTH = 160;
/** One statement for any number of documents up to this: those not asked for are numbered -1. */
const MAX_FETCHED = 64;
const FETCHED = Array.from({ length: MAX_FETCHED }, () => "?").join();

export type Documents = ReturnType<typeof createDocuments>;

export function createDocuments(sql: Sql) {
  const COLUMNS = 'path, text, version, updated_at AS "updatedAt", origins';

  async function fetch(user: string, ids: readonly number[], text: string, isWhole: string) {
    if (ids.length === 0) return new Map<number, Excerpt>();
    // By number: SQLite would rather walk all that are the user's.
    const rows = await sql.all<Stored<Omit<Excerpt, "isWhole">> & { whole: number }>(
      `SELECT id, path, ${text} AS text, ${isWhole} AS whole, updated_at AS "updatedAt", origins FROM memory_documents
       WHERE "user" || '' = ? AND id IN (${FETCHED})`,
      user,
      ...Array.from({ length: MAX_FETCHED }, (_, at) => ids[at] ?? -1),
    );
    return new Map(rows.map(({ whole, ...row }) => [row.id, { ...withOrigins(row), isWhole: whole === 1 }]));
  }

  return {
    async read(user: string, path: string): Promise<MemoryFile | undefined> {
      const row = await sql.get<Stored<MemoryFile>>(
        `SELECT ${COLUMNS} FROM memory_documents WHERE "user" = ? AND path = ?`,
        user,
        cleanPath(path),
      );
      return row && withOrigins(row);
    },

    async readVersion(user: string, path: string, version: number): Promise<MemoryFile | undefined> {
      const row = await sql.get<Stored<MemoryFile>>(
        `SELECT path, kept.text, kept.version, written_at AS "updatedAt", kept.origins
         FROM memory_documents JOIN memory_versions AS kept ON document = id
         WHERE "user" = ? AND path = ? AND kept.version = ?`,
        user,
        cleanPath(path),
        version,
      );
      return row && withOrigins(row);
    },

    async history(user: string, path: string): Promise<readonly MemoryVersion[]> {
      const rows = await sql.all<Stored<Omit<MemoryFile, "path">> & { writer: string | null }>(
        `SELECT kept.text, kept.version, written_at AS "updatedAt", kept.origins, writer
         FROM memory_documents JOIN memory_versions AS kept ON document = id
         WHERE "user" = ? AND path = ? ORDER BY kept.version DESC`,
        user,
        cleanPath(path),
      );
      return rows.map(({ text, writer, ...row }) => ({
        ...withOrigins(row),
        bytes: Buffer.byteLength(text),
        writer: writer === null ? undefined : (JSON.parse(writer) as MemoryWriter),
      }));
    },

    /** The text as it is kept. A fault if it is too large. */
    cleanText(path: string, given: string): string {
      const bytes = Buffer.byteLength(given);
      if (bytes > MAX_BYTES) throw tooLarge(cleanPath(path), bytes);
      return given.replaceAll("\0", "").toWellFormed();
    },

    async write(
      tx: Transaction,
      user: string,
      given: string,
      text: string,
      { expected, origins, writer }: Writing = {},
      /** The words of its path and text, if they are known, and what of them is indexed later. */
      indexing: { readonly words?: string; readonly later?: LaterRows } = {},
    ) {
      const path = cleanPath(given);
      const bytes = Buffer.byteLength(text);
      const now = new Date().toISOString();
      const row = await tx.get<{ id: number; version: number; origins: string | null }>(
        `INSERT INTO memory_documents ("user", path, text, bytes, version, updated_at) VALUES (?, ?, ?, ?, 1, ?)
         ON CONFLICT ("user", path) DO UPDATE SET text = excluded.text, bytes = excluded.bytes,
           version = memory_documents.version + 1, updated_at = excluded.updated_at
         WHERE memory_documents.text <> excluded.text RETURNING id, version, origins`,
        user,
        path,
        text,
        bytes,
        now,
      );
      if (row === undefined) {
        const known = (await tx.get<{ id: number; version: number }>(
          'SELECT id, version FROM memory_documents WHERE "user" = ? AND path = ?',
          user,
          path,
        )) as { id: number; version: number };
        if (expected !== undefined && expected !== known.version) throw hasChanged(path, known.version);
        return { path, ...known, changed: false };
      }
      const { id, version } = row;
      if (expected !== undefined && expected !== version - 1) throw hasChanged(path, version - 1);
      // A document made from others' words stays so until the person writes it themselves.
      const whose = origins && distinctOrigins([...parse(row.origins), ...origins]);
      const stored = whose?.length ? JSON.stringify(whose) : null;
      await Promise.all([
        ...(stored === row.origins
          ? []
          : [tx.run("UPDATE memory_documents SET origins = ? WHERE id = ?", stored, id)]),
        tx.run(
          "INSERT INTO memory_versions (document, version, text, written_at, origins, writer) VALUES (?, ?, ?, ?, ?, ?)",
          id,
          version,
          text,
          now,
          stored,
          writer ? JSON.stringify(writer) : null,
        ),
        tx.run("DELETE FROM memory_versions WHERE document = ? AND version <= ?", id, version - MAX_VERSIONS),
        indexWords(tx, sql.engine, [{ id, user, path, text, words: indexing.words }], indexing.later),
      ]);
      return { path, version, id, changed: true };
    },

    /** Forgets up to so many documents of a user and returns how many. */
    removeSome: (tx: Transaction, user: string, most: number): Promise<number> =>
      tx.run(
        'DELETE FROM memory_documents WHERE id IN (SELECT id FROM memory_documents WHERE "user" = ? LIMIT ?)',
        user,
        most,
      ),

    async tree(user: string): Promise<readonly MemoryEntry[]> {
      const rows = await sql.all<Stored<MemoryEntry> & { readonly beginning: string }>(
        `SELECT path, updated_at AS "updatedAt", bytes, origins, substr(text, 1, ${MAX_LINE_LENGTH}) AS beginning
         FROM memory_documents WHERE "user" = ? ORDER BY path`,
        user,
      );
      return rows.map(({ beginning, ...row }) => ({
        ...withOrigins(row),
        firstLine: firstLineOf(beginning),
      }));
    },

    /** Returns those of the documents that are this user's. */
    fetch: (user: string, ids: readonly number[]) => fetch(user, ids, "text", "1"),

    /** The same, with no more of each than ranking looks at. */
    fetchExcerpts: (user: string, ids: readonly number[]) =>
      fetch(
        user,
        ids,
        `substr(text, 1, ${MAX_EXCERPT_LENGTH})`,
        `CASE WHEN bytes <= ${MAX_EXCERPT_LENGTH} THEN 1 ELSE 0 END`,
      ),
  };
}

/** The first line with words, without the marks of a heading. */
function firstLineOf(text: string): string {
  const line = text.split("\n").find((one) => one.trim() !== "") ?? "";
  return line.replace(/^#+ /, "").trim().toWellFormed();
}

type Stored<Read> = Omit<Read, "origins"> & { readonly origins: string | null };

function withOrigins<Row extends { readonly origins: string | null }>({ origins, ...row }: Row) {
  return { ...row, origins: origins === null ? undefined : parse(origins) };
}

function parse(origins: string | null): readonly Origin[] {
  return origins === null ? [] : (JSON.parse(origins) as readonly Origin[]);
}

function tooLarge(path: string, bytes: number): Fault {
  const size = `${Math.ceil(bytes / 1024)} KiB`;
  const message = `the text for ${path} is ${size}; a document may be up to ${MAX_BYTES / 1024} KiB. Split it`;
  return new Fault("invalid", "too_large", message, { param: "text" });
}

function hasChanged(path: string, version: number): Fault {
  const message = `${path} has changed since you read it (version ${version}): read it again, then write.`;
  return new Fault("invalid", "memory_changed", message, { param: "version" });
}
