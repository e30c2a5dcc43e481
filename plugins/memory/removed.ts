/** Documents that were removed: each is kept with its versions for 30 days, in which it can be restored. */
import { Fault, type Sql, type Transaction } from "../../kernel/plugin.ts";
import { cleanPath } from "./path.ts";
import type { RemovedDocument } from "./services.ts";
import { indexWords } from "./word-index.ts";

const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000;

interface KeptVersion {
  readonly version: number;
  readonly text: string;
  readonly written_at: string;
  readonly origins: string | null;
  readonly writer: string | null;
}

export function createRemovedDocuments(sql: Sql) {
  const oldest = () => new Date(Date.now() - MAX_AGE_MS).toISOString();

  return {
    /** False where there is no such document. */
    remove: (user: string, given: string): Promise<boolean> =>
      sql.transaction(async (tx) => {
        const path = cleanPath(given);
        const found = await tx.get<{ id: number; version: number }>(
          'SELECT id, version FROM memory_documents WHERE "user" = ? AND path = ?',
          user,
          path,
        );
        if (found === undefined) return false;
        const versions = await tx.all<KeptVersion>(
          "SELECT version, text, written_at, origins, writer FROM memory_versions WHERE document = ? ORDER BY version",
          found.id,
        );
        await tx.run(
          'INSERT INTO memory_removed ("user", path, version, versions, removed_at) VALUES (?, ?, ?, ?, ?)',
          user,
          path,
          found.version,
          JSON.stringify(versions),
          new Date().toISOString(),
        );
        await tx.run("DELETE FROM memory_removed WHERE removed_at < ?", oldest());
        return (await tx.run("DELETE FROM memory_documents WHERE id = ?", found.id)) > 0;
      }),

    /** The last removed first. */
    list: (user: string): Promise<readonly RemovedDocument[]> =>
      sql.all<RemovedDocument>(
        'SELECT path, version, removed_at AS "removedAt" FROM memory_removed WHERE "user" = ? AND removed_at >= ? ORDER BY id DESC',
        user,
        oldest(),
      ),

    /** Undefined where nothing of that path was removed, or at that time. */
    restore: (user: string, given: string, removedAt?: string) =>
      sql.transaction(async (tx) => {
        const path = cleanPath(given);
        const at = removedAt === undefined ? "" : "AND removed_at = ?";
        const kept = await tx.get<{ id: number; version: number; versions: string }>(
          `SELECT id, version, versions FROM memory_removed WHERE "user" = ? AND path = ? AND removed_at >= ? ${at} ORDER BY id DESC LIMIT 1`,
          user,
          path,
          oldest(),
          ...(removedAt === undefined ? [] : [removedAt]),
        );
        const versions = JSON.parse(kept?.versions ?? "[]") as readonly KeptVersion[];
        const last = versions.at(-1);
        if (kept === undefined || last === undefined) return undefined;
        const document = await tx.get<{ id: number }>(
          `INSERT INTO memory_documents ("user", path, text, bytes, version, updated_at, origins)
           VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT ("user", path) DO NOTHING RETURNING id`,
          user,
          path,
          last.text,
          Buffer.byteLength(last.text),
          kept.version,
          last.written_at,
          last.origins,
        );
        if (document === undefined) throw isTaken(path);
        await keepVersions(tx, document.id, versions);
        await indexWords(tx, sql.engine, [{ id: document.id, user, path, text: last.text }]);
        await tx.run("DELETE FROM memory_removed WHERE id = ?", kept.id);
        return { path, version: kept.version };
      }),
  };
}

async function keepVersions(tx: Transaction, document: number, versions: readonly KeptVersion[]) {
  for (const { version, text, written_at, origins, writer } of versions)
    await tx.run(
      "INSERT INTO memory_versions (document, version, text, written_at, origins, writer) VALUES (?, ?, ?, ?, ?, ?)",
      document,
      version,
      text,
      written_at,
      origins,
      writer,
    );
}

function isTaken(path: string): Fault {
  const message = `there is another ${path} by now: remove that one first, then restore with --removed-at`;
  return new Fault("invalid", "memory_exists", message, { param: "path" });
}
