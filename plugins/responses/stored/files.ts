/** The files that users upload to name them in requests: they are kept in the store, in parts, until they expire. */

import { randomUUIDv7 } from "node:crypto";
import { cleanFileName, mimeOfName, sniff, UNKNOWN } from "../../../kernel/kit/files.ts";
import { defineTables, type KeptBytes } from "../../../kernel/kit/store.ts";
import { Fault, type Queries } from "../../../kernel/plugin.ts";
import type { Store, UserStorage } from "../../store/services.ts";

export interface StoredFile {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly mime: string;
  readonly purpose: string;
  readonly bytes: number;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  /** The token with a scope that it was uploaded with. */
  readonly token?: string;
}

interface NewFile {
  readonly name: string;
  readonly mime: string;
  readonly purpose: string;
  readonly data: Uint8Array;
  readonly expiresAfterSecs?: number;
  readonly token?: string;
}

interface FileQuery {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly after?: string;
  readonly purpose?: string;
}

export const MAX_FILES = 1000;
// Copying a store reads hundreds of rows at once: rows of this size fit into memory.
const PART_BYTES = 128 * 1024;

export const OWNER = "response files";

export const MIGRATIONS = defineTables(
  ({ text, integer, bytes, strict, keyed }) => `
  CREATE TABLE response_files (
    id ${text} PRIMARY KEY,
    "user" ${text} NOT NULL,
    name ${text} NOT NULL,
    mime ${text} NOT NULL,
    purpose ${text} NOT NULL,
    bytes ${integer} NOT NULL,
    created_at ${text} NOT NULL,
    expires_at ${text},
    -- The token with a scope that it came with.
    token ${text}
  ) ${keyed};
  CREATE INDEX response_files_by_user ON response_files ("user", id);
  CREATE INDEX response_files_by_end ON response_files (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE response_file_parts (
    file ${text} NOT NULL REFERENCES response_files (id) ON DELETE CASCADE,
    part ${integer} NOT NULL,
    data ${bytes} NOT NULL,
    PRIMARY KEY (file, part)
  ) ${strict};`,
);

export const KEEPS: readonly KeptBytes[] = [
  { kind: "files", bytes: 'SELECT sum(bytes) FROM response_files WHERE "user" = ?' },
];

interface Columns extends Omit<StoredFile, "createdAt" | "expiresAt" | "token"> {
  readonly token: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
}

const ID = /^file-[0-9a-f]{32}$/;
const KEPT = "(expires_at IS NULL OR expires_at > ?)";
const now = () => new Date().toISOString();

export type StoredFiles = Awaited<ReturnType<typeof createStoredFiles>>;

/** `totalBytes` limits all files of a user together. */
export async function createStoredFiles(
  store: Store,
  totalBytes: number,
  storage?: Pick<UserStorage, "take">,
) {
  const sql = await store.tables(OWNER, MIGRATIONS);

  /** Throws when the user has no room for this many more bytes. */
  async function refuseFull(user: string, bytes: number, queries: Queries = sql): Promise<void> {
    const used = await queries.get<{ count: number; bytes: number }>(
      `SELECT count(*) AS count, coalesce(sum(bytes), 0) AS bytes FROM response_files WHERE "user" = ? AND ${KEPT}`,
      ...[user, now()],
    );
    if ((used?.count ?? 0) >= MAX_FILES)
      throw full(`You have ${MAX_FILES} files, which is the most there may be.`);
    if ((used?.bytes ?? 0) + bytes > totalBytes)
      throw full(
        `Your files may have ${totalBytes / (1024 * 1024)} MiB together (RESPONSES_FILES_MB), and there is no room for this one.`,
      );
  }

  const files = {
    refuseFull,
    // Two uploads at once must not both take the last room.
    add: (
      user: string,
      { name: given, mime, purpose, data, expiresAfterSecs, token }: NewFile,
    ): Promise<StoredFile> =>
      store.exclusive(`response files of ${user}`, async () => {
        const createdAt = new Date();
        const name = cleanFileName(given);
        const expires =
          expiresAfterSecs === undefined ? null : new Date(createdAt.getTime() + expiresAfterSecs * 1000);
        const file: StoredFile = {
          id: `file-${randomUUIDv7().replaceAll("-", "")}`,
          ...{ user, name, purpose, mime: mimeOf(data, mime, name), bytes: data.byteLength, token },
          createdAt: createdAt.toISOString(),
          expiresAt: expires?.toISOString() ?? null,
        };
        await storage?.take(user, file.bytes);
        await sql.transaction(async (tx) => {
          await refuseFull(user, file.bytes, tx);
          const written = [
            tx.run(
              `INSERT INTO response_files (id, "user", name, mime, purpose, bytes, created_at, expires_at, token)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
              ...[file.id, user, name, file.mime, purpose, file.bytes, file.createdAt, file.expiresAt],
              token ?? null,
            ),
          ];
          for (let from = 0, part = 0; from < data.byteLength; from += PART_BYTES, part += 1)
            written.push(
              tx.run(
                "INSERT INTO response_file_parts (file, part, data) VALUES (?, ?, ?)",
                ...[file.id, part, data.subarray(from, from + PART_BYTES)],
              ),
            );
          await Promise.all(written);
        });
        return file;
      }),
    async find(user: string, id: string): Promise<StoredFile | undefined> {
      if (!ID.test(id)) return undefined;
      const row = await sql.get<Columns>(
        `SELECT * FROM response_files WHERE id = ? AND "user" = ? AND ${KEPT}`,
        ...[id, user, now()],
      );
      return row && read(row);
    },
    async list(user: string, { limit, order, after, purpose }: FileQuery): Promise<readonly StoredFile[]> {
      // Ids ascend with time.
      const beyond = order === "asc" ? "id > ?" : "id < ?";
      const rows = await sql.all<Columns>(
        `SELECT * FROM response_files WHERE "user" = ? AND ${KEPT}
           ${after === undefined ? "" : `AND ${beyond}`} ${purpose === undefined ? "" : "AND purpose = ?"}
         ORDER BY id ${order === "asc" ? "ASC" : "DESC"} LIMIT ?`,
        ...[user, now(), after, purpose, limit].filter((value) => value !== undefined),
      );
      return rows.map(read);
    },
    async *content({ id, bytes }: StoredFile): AsyncGenerator<Uint8Array> {
      let left = bytes;
      for (let part = 0; left > 0; part += 1) {
        const row = await sql.get<{ data: Uint8Array }>(
          "SELECT data FROM response_file_parts WHERE file = ? AND part = ?",
          ...[id, part],
        );
        // The reader was promised the whole length, and sees that the rest is missing.
        if (row === undefined) throw new Error("the file was deleted while it was read");
        left -= row.data.byteLength;
        yield row.data;
      }
    },
    async remove(user: string, id: string): Promise<boolean> {
      return (await sql.run('DELETE FROM response_files WHERE id = ? AND "user" = ?', id, user)) > 0;
    },
    /** The whole file in memory; undefined also when it was deleted while it was read. */
    async resolveFile(user: string, id: string) {
      const file = await files.find(user, id);
      if (file === undefined) return undefined;
      const parts = await sql.all<{ data: Uint8Array }>(
        "SELECT data FROM response_file_parts WHERE file = ? ORDER BY part",
        id,
      );
      const data: Uint8Array = Buffer.concat(parts.map((part) => part.data));
      return data.byteLength === file.bytes ? { mime: file.mime, name: file.name, data } : undefined;
    },
    removeExpired: () =>
      sql.run("DELETE FROM response_files WHERE expires_at IS NOT NULL AND expires_at <= ?", now()),
  };
  return files;
}

const read = ({ created_at, expires_at, token, ...row }: Columns): StoredFile => ({
  ...row,
  token: token ?? undefined,
  createdAt: created_at,
  expiresAt: expires_at,
});

const full = (why: string) =>
  new Fault("invalid", "file_quota_exceeded", `${why} Delete some with DELETE /files/{id}.`, {
    param: "file",
  });

const MIME = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}$/;

/** The bytes decide first, then the caller's declaration, then the name: clients often declare nothing. */
function mimeOf(bytes: Uint8Array, declared: string, name: string): string {
  const shown = sniff(bytes);
  if (shown !== undefined) return shown;
  const said = (declared.split(";")[0] ?? "").trim().toLowerCase();
  return said !== UNKNOWN && MIME.test(said) ? said : mimeOfName(name);
}
