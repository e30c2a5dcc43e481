/** The contents of files: one for each user and digest, in parts, so that neither a reader nor a writer holds a large one whole. */
import { createHash } from "node:crypto";
import type { Queries, Sql, Transaction } from "../../kernel/plugin.ts";
import { type InAccount, MAX_FILE_BYTES, recount, tooLarge } from "./account.ts";
import { mimeOfContent } from "./file-type.ts";

/** As large as one part, which is read and written in one statement. */
export const PART_BYTES = 1 << 20;

export interface Content {
  readonly id: number;
  readonly digest: string;
  readonly bytes: number;
  readonly mime: string;
}

/** What is about to become the content of a file: its bytes, or where they were many, the row that they are in already. */
export interface Incoming {
  readonly digest: string;
  readonly bytes: number;
  readonly mime: string;
  readonly data?: Uint8Array;
  readonly staged?: number;
}

export const digestOf = (data: Uint8Array): string => createHash("sha256").update(data).digest("hex");

export type Contents = ReturnType<typeof createContents>;

export function createContents(
  sql: Sql,
  inAccount: InAccount,
  take: ((user: string, bytes: number) => Promise<void>) | undefined,
) {
  /** Each part is committed alone: a transaction that waits for a slow sender would make everybody wait. */
  async function addPart(user: string, staged: number | undefined, part: number, data: Uint8Array) {
    await take?.(user, data.byteLength);
    return await inAccount(
      user,
      async (tx, account) => {
        const content =
          staged ??
          (await insert(tx, user, { digest: null, bytes: 0, mime: mimeOfContent(data), at: timeNow() }));
        await tx.run(
          "UPDATE workspace_contents SET bytes = bytes + ? WHERE id = ?",
          data.byteLength,
          content,
        );
        await tx.run(INSERT_PART, content, part, data);
        account.count({ bytes: data.byteLength });
        await account.close();
        return content;
      },
      // The transaction that makes it a file's content flushes this too.
      { flush: false },
    );
  }

  return {
    /** Takes bytes in as they come. What is left behind where they break off is swept away, at the latest a day later. */
    async receive(user: string, path: string, data: AsyncIterable<Uint8Array>): Promise<Incoming> {
      const hash = createHash("sha256");
      let bytes = 0;
      let parts = 0;
      let mime: string | undefined;
      let staged: number | undefined;
      let waiting: Uint8Array[] = [];
      let waitingBytes = 0;
      try {
        for await (const chunk of data)
          for (let at = 0; at < chunk.byteLength; ) {
            const piece = chunk.subarray(at, at + PART_BYTES - waitingBytes);
            at += piece.byteLength;
            bytes += piece.byteLength;
            if (bytes > MAX_FILE_BYTES) throw tooLarge(path);
            hash.update(piece);
            waiting.push(piece);
            waitingBytes += piece.byteLength;
            if (waitingBytes < PART_BYTES) continue;
            const part = Buffer.concat(waiting);
            mime ??= mimeOfContent(part);
            staged = await addPart(user, staged, parts++, part);
            [waiting, waitingBytes] = [[], 0];
          }
        const rest = Buffer.concat(waiting);
        mime ??= mimeOfContent(rest);
        const digest = hash.digest("hex");
        if (staged === undefined) {
          await take?.(user, bytes);
          return { digest, bytes, mime, data: rest };
        }
        if (rest.byteLength > 0) await addPart(user, staged, parts, rest);
        return { digest, bytes, mime, staged };
      } catch (error) {
        if (staged !== undefined) await this.discard(user, [staged]);
        throw error;
      }
    },

    /** Forgets contents that came in and belong to no file. */
    async discard(user: string, staged: readonly number[]): Promise<void> {
      if (staged.length === 0) return;
      await inAccount(user, async (tx) => {
        for (const id of staged)
          await tx.run("DELETE FROM workspace_contents WHERE id = ? AND staged_at IS NOT NULL", id);
        await recount(tx, user);
      });
    },

    /** Returns the content with this digest, made where there was none, and how many bytes that added. */
    async keep(
      tx: Transaction,
      user: string,
      { digest, bytes, mime, data, staged }: Incoming,
    ): Promise<{ readonly content: Content; readonly added: number }> {
      const known = await tx.get<Content>(
        'SELECT id, digest, bytes, mime FROM workspace_contents WHERE "user" = ? AND digest = ?',
        user,
        digest,
      );
      if (staged !== undefined) {
        // Its bytes were counted as they came in.
        if (known === undefined) {
          await tx.run(
            "UPDATE workspace_contents SET digest = ?, staged_at = NULL WHERE id = ?",
            digest,
            staged,
          );
          return { content: { id: staged, digest, bytes, mime }, added: 0 };
        }
        await tx.run("DELETE FROM workspace_contents WHERE id = ?", staged);
        return { content: known, added: -bytes };
      }
      if (known !== undefined) return { content: known, added: 0 };
      const id = await insert(tx, user, { digest, bytes, mime, at: null });
      await tx.run(INSERT_PART, id, 0, data ?? new Uint8Array());
      return { content: { id, digest, bytes, mime }, added: bytes };
    },

    read: (content: number, bytes: number, offset = 0, length = bytes) =>
      readParts(sql, content, bytes, offset, length),

    async *stream(content: number): AsyncGenerator<Uint8Array> {
      for (let part = 0; ; part++) {
        const found = await sql.get<{ data: Uint8Array }>(
          "SELECT data FROM workspace_parts WHERE content = ? AND part = ?",
          content,
          part,
        );
        if (found === undefined) return;
        if (found.data.byteLength > 0) yield found.data;
        if (found.data.byteLength < PART_BYTES) return;
      }
    },
  };
}

const INSERT_PART = "INSERT INTO workspace_parts (content, part, data) VALUES (?, ?, ?)";
const timeNow = () => new Date().toISOString();

async function insert(
  tx: Transaction,
  user: string,
  row: {
    readonly digest: string | null;
    readonly bytes: number;
    readonly mime: string;
    readonly at: string | null;
  },
): Promise<number> {
  const inserted = await tx.get<{ id: number }>(
    'INSERT INTO workspace_contents ("user", digest, bytes, mime, staged_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
    user,
    row.digest,
    row.bytes,
    row.mime,
    row.at,
  );
  return (inserted as { id: number }).id;
}

async function readParts(
  sql: Queries,
  content: number,
  bytes: number,
  offset: number,
  length: number,
): Promise<Uint8Array> {
  const from = Math.min(Math.max(0, Math.floor(offset)), bytes);
  const to = Math.min(from + Math.max(0, Math.floor(length)), bytes);
  if (from === to) return new Uint8Array();
  const first = Math.floor(from / PART_BYTES);
  const rows = await sql.all<{ data: Uint8Array }>(
    "SELECT data FROM workspace_parts WHERE content = ? AND part BETWEEN ? AND ? ORDER BY part",
    content,
    first,
    Math.floor((to - 1) / PART_BYTES),
  );
  const start = first * PART_BYTES;
  const [only] = rows;
  const whole = rows.length === 1 && only ? only.data : Buffer.concat(rows.map(({ data }) => data));
  return whole.subarray(from - start, to - start);
}
