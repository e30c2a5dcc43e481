/** Files that people upload to send them with a message. Those that no message names go after a day. */

import { randomUUIDv7 } from "node:crypto";
import { cleanFileName, createDocumentReader, isTextual, sniffImage } from "../../../../kernel/kit/files.ts";
import { type Attachment, Fault, type Log, type Queries, type Sql } from "../../../../kernel/plugin.ts";
import type { Model } from "../../../models/services.ts";
import type { Store, UserStorage } from "../../../store/services.ts";
import type { Attachments } from "../../services.ts";
import { takeFile, textOfFile } from "./kinds.ts";
import { noteFor } from "./room.ts";
import { findAttachment, type StoredFile } from "./stored.ts";

export interface UploadParts {
  readonly sql: Sql;
  readonly store: Pick<Store, "exclusive" | "repeat">;
  readonly storage: Pick<UserStorage, "hold">;
  readonly models: { current(): Promise<readonly Model[]> };
  readonly log: Log;
  readonly fileBytes: number;
}

export interface OpenUploads extends Attachments {
  close(): Promise<void>;
}

const MB = 1_000_000;
const MAX_FILES = 10;
// Providers accept this much with one request.
const MESSAGE_BYTES = 20 * MB;
const MAX_WAITING = 40;
const KEPT_MS = 24 * 60 * 60 * 1000;
const ROUND_MS = 10 * 60 * 1000;

interface Used {
  readonly count: number;
  readonly bytes: number;
}

const now = () => new Date().toISOString();

export function createUploads(parts: UploadParts): OpenUploads {
  const { sql, store, fileBytes } = parts;
  const documents = createDocumentReader();
  const messageBytes = Math.max(MESSAGE_BYTES, fileBytes);
  const limits = { fileBytes, files: MAX_FILES, messageBytes };
  let underWay: Promise<unknown> = Promise.resolve();
  const stopRounds = store.repeat("delete uploads that no message names", ROUND_MS, async () => {
    underWay = sql
      .run("DELETE FROM uploads WHERE expires_at <= ?", now())
      .catch((error: unknown) =>
        parts.log.warn({ error }, "old uploads could not be deleted, retrying later"),
      );
    await underWay;
  });

  async function refuseFull(user: string, bytes: number, queries: Queries = sql): Promise<void> {
    const sum = `SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM uploads
      WHERE "user" = ? AND expires_at > ?`;
    const { count = 0, bytes: used = 0 } = (await queries.get<Used>(sum, user, now())) ?? {};
    const most = messageBytes * 5;
    if (count < MAX_WAITING && Number(used) + bytes <= most) return;
    const message = `You have ${count} files that no message has been sent with, and there may be ${MAX_WAITING} with ${megabytes(most)} together. Send or remove some first; they are deleted after a day.`;
    throw new Fault("invalid", "too_many_uploads", message, { param: "file" });
  }

  async function find(user: string, id: string): Promise<StoredFile | undefined> {
    const upload = `SELECT id, mime, name, data, text, origins FROM uploads WHERE id = ? AND "user" = ? AND expires_at > ?`;
    return (await sql.get<StoredFile>(upload, id, user, now())) ?? (await findAttachment(sql, user, id));
  }

  async function keep(user: string, name: string, data: Uint8Array, origins: Attachment["origins"]) {
    const { text8, ...taken } = await takeFile(name, data, (...which) => documents.read(user, ...which));
    const attachment = { id: randomUUIDv7(), ...taken, size: data.byteLength, name };
    // Two uploads at once must not both find the last room.
    await store.exclusive(`uploads of ${user}`, () =>
      sql.transaction(async (tx) => {
        await refuseFull(user, data.byteLength, tx);
        await tx.run(
          `INSERT INTO uploads (id, "user", mime, name, size, data, text, origins, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[attachment.id, user, taken.mime, name, data.byteLength, data, text8 ?? null],
          origins ? JSON.stringify(origins) : null,
          new Date(Date.now() + KEPT_MS).toISOString(),
        );
      }),
    );
    const [model] = await parts.models.current();
    const note = model && noteFor(attachment, model);
    return { ...attachment, note };
  }

  return {
    limits,

    async add(user, { name: given, data, origins }) {
      const name = cleanFileName(given);
      if (data.byteLength > fileBytes) {
        const message = `"${name}" is too large: a file may have at most ${megabytes(fileBytes)} here (ATTACHMENTS_MAX_MB).`;
        throw new Fault("invalid", "file_too_large", message, { param: "file" });
      }
      await refuseFull(user, data.byteLength);
      // Reading a document may take half a minute.
      const release = await parts.storage.hold(user, data.byteLength);
      try {
        return await keep(user, name, data, origins);
      } finally {
        release();
      }
    },

    textOf: (user, { name, data }) => textOfFile(name, data, (...which) => documents.read(user, ...which)),

    async read(user, id) {
      const row = await find(user, id);
      return row && { mime: row.mime, name: row.name ?? undefined, data: row.data, origins: originsOf(row) };
    },

    async remove(user, id) {
      return (await sql.run('DELETE FROM uploads WHERE id = ? AND "user" = ?', id, user)) > 0;
    },

    async bring(user, ids) {
      const named = [...new Set(ids)];
      const refusal = (code: string, message: string) =>
        new Fault("invalid", code, message, { param: "attachments" });
      if (named.length > MAX_FILES)
        throw refusal(
          "too_many_attachments",
          `A message may have at most ${MAX_FILES} attachments, and this one has ${named.length}.`,
        );
      const rows: StoredFile[] = [];
      let bytes = 0;
      // One after the other: what is read together must not be more than the limit.
      for (const id of named) {
        const row = await find(user, id);
        if (row === undefined)
          throw refusal(
            "attachment_not_found",
            `There is no attachment ${id}. It may have expired: uploads are kept for a day. Attach the file again.`,
          );
        bytes += row.data.byteLength;
        if (bytes > messageBytes)
          throw refusal(
            "attachments_too_large",
            `The attachments of a message may have ${megabytes(messageBytes)} together. Send them with several messages.`,
          );
        rows.push(row);
      }
      return {
        attachments: rows.map(attachmentOf),
        attached: rows.map(({ id, data, text }) => ({ id, data, text: text ?? undefined })),
        alongside: async (tx) => {
          const drop = `DELETE FROM uploads WHERE "user" = ? AND id IN (${named.map(() => "?").join()})`;
          if (named.length > 0) await tx.run(drop, user, ...named);
        },
      };
    },

    async close() {
      stopRounds();
      await Promise.all([underWay, documents.close()]);
    },
  };
}

const megabytes = (bytes: number): string => `${Math.round(bytes / MB)} MB`;

const originsOf = ({ origins }: StoredFile): Attachment["origins"] =>
  origins === null ? undefined : JSON.parse(origins);

function attachmentOf(row: StoredFile): Attachment {
  const { id, mime, name, data, text } = row;
  const kind = sniffImage(data) ? "image" : mime.startsWith("audio/") ? "audio" : "file";
  const isText = kind === "file" && (text !== null || isTextual(mime));
  return {
    ...{ id, kind, mime, size: data.byteLength, name: name ?? undefined },
    text: isText ? { bytes: (text ?? data).byteLength } : undefined,
    origins: originsOf(row),
  };
}
