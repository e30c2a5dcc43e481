/** Images, files and sound that came with what was said: kept beside their thread, read when a model is shown them. */

import { randomUUIDv7 } from "node:crypto";
import type { Extras } from "../../../../host/services.ts";
import { imageProblem, sniffImage } from "../../../../kernel/kit/files.ts";
import type { Attachment, Queries, Sql, Transaction } from "../../../../kernel/plugin.ts";
import type { Turn } from "../../services.ts";
import { IS_LISTED } from "../thread-row.ts";
import type { OwnTurn } from "../turns/items.ts";

/** Writes what the turn brings of the attachments that its input and its history name. */
export function writeAttachments(tx: Transaction, thread: string, turn: Turn): void {
  if (!turn.attached?.length) return;
  const named = new Map(namedIn(turn).map((attachment) => [attachment.id, attachment]));
  const add = `INSERT INTO attachments (id, thread, mime, name, data, text, origins) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id, thread) DO NOTHING`;
  for (const { id, data, text = null } of turn.attached) {
    const { mime, name = null, origins } = named.get(id) ?? {};
    const whose = origins ? JSON.stringify(origins) : null;
    if (mime !== undefined) void tx.run(add, id, thread, mime, name, data, text, whose);
  }
}

export type Attached = NonNullable<Extras["attached"]>[number];

const MAX_IMAGES = 8;
const MAX_IMAGE_BYTES = 5 * 2 ** 20;
const MAX_TOTAL_BYTES = 16 * 2 ** 20;
const MAX_NAME_LENGTH = 200;

/**
 * The images that came with the outcome of a call, as far as they are kept, and a line for each that is not. What they
 * are shows in their bytes; what they are called there counts for nothing.
 */
export function takeImages(given: readonly Attached[]): {
  readonly kept: readonly Attached[];
  readonly notes: readonly string[];
} {
  const kept: Attached[] = [];
  const notes: string[] = [];
  let together = 0;
  for (const { attachment, data } of given.slice(0, MAX_IMAGES)) {
    const mime = sniffImage(data);
    if (mime === undefined)
      notes.push("[An attachment was left out: it is no PNG, JPEG, GIF or WebP image.]");
    else if (
      imageProblem(data) !== undefined ||
      data.byteLength > MAX_IMAGE_BYTES ||
      together + data.byteLength > MAX_TOTAL_BYTES
    )
      notes.push("[An image was left out: it is too large.]");
    else {
      together += data.byteLength;
      const { name } = attachment;
      const about = { id: randomUUIDv7(), kind: "image", mime, size: data.byteLength } as const;
      kept.push({
        attachment: { ...about, ...(name && { name: name.slice(0, MAX_NAME_LENGTH).toWellFormed() }) },
        data,
      });
    }
  }
  const more = given.length - MAX_IMAGES;
  if (more > 0) notes.push(`[${more} more image${more === 1 ? " was" : "s were"} left out.]`);
  return { kept, notes };
}

/** Keeps nothing for a turn that is gone with its thread, or that another node has taken over. */
export function writeAttached(
  tx: Transaction,
  engine: Sql["engine"],
  own: OwnTurn,
  { attachment: { id, mime, name }, data }: Attached,
): Promise<number> {
  const bytes = engine === "postgres" ? "BYTEA" : "BLOB";
  const add = `INSERT INTO attachments (id, thread, mime, name, data)
    SELECT CAST(? AS TEXT), thread, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS ${bytes})
    FROM turns WHERE id = ? AND node = ?`;
  return tx.run(add, id, mime, name ?? null, data, own.id, own.node);
}

/** The attachments that a turn's input and its history name. */
export function namedIn({ input, preamble }: Turn): readonly Attachment[] {
  const outputs = input.type === "tool_outputs" ? input.outputs : [];
  return [input, ...outputs, ...(preamble?.history ?? [])].flatMap((one) =>
    "attachments" in one ? (one.attachments ?? []) : [],
  );
}

export interface StoredFile {
  readonly id: string;
  readonly mime: string;
  readonly name: string | null;
  readonly data: Uint8Array;
  readonly text: Uint8Array | null;
  readonly origins: string | null;
}

export function findAttachment(queries: Queries, user: string, id: string): Promise<StoredFile | undefined> {
  const find = `SELECT attachments.id, mime, name, data, text, origins FROM attachments
    JOIN threads ON threads.id = attachments.thread
    WHERE attachments.id = ? AND "user" = ? AND ${IS_LISTED} LIMIT 1`;
  return queries.get(find, id, user);
}

// A statement may have only so many values.
const AT_ONCE = 100;

/** Returns the texts or bytes that models are shown, for those that are there. */
export async function readAttachments(
  queries: Queries,
  thread: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    const find = `SELECT id, coalesce(text, data) AS data FROM attachments
      WHERE thread = ? AND id IN (${some.map(() => "?").join()})`;
    const rows = await queries.all<{ id: string; data: Uint8Array }>(find, thread, ...some);
    for (const { id, data } of rows) found.set(id, data);
  }
  return found;
}
