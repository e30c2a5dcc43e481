/** What came in: one row for each message under the service's own id, written with the position in one commit. */

import { identityOf } from "../../kernel/kit/people.ts";
import { Fault, type Sql, type Transaction } from "../../kernel/plugin.ts";
import type { IncomingMessage } from "./services.ts";

export interface InboxRow {
  readonly seq: number;
  readonly id: string;
  readonly line: string;
  readonly message: string;
  readonly receivedAt: string;
}

/** Messages of one channel that wait to be dealt with; beyond them the service has to keep its own. */
const MAX_WAITING = 10_000;
/** What is kept of one message. More is no message that a person wrote. */
const MAX_TEXT_LENGTH = 100_000;
const MAX_QUOTES = 20;
const MAX_FILES = 50;
const MAX_NAME_LENGTH = 200;
const MAX_REPLY_LENGTH = 20_000;
/** More than run at once in one conversation. */
const MAX_JOBS = 50;

export type InboxTable = ReturnType<typeof openInbox>;

/** The conversation with one sender. */
const lineOf = ({ conversation, sender }: Pick<IncomingMessage, "conversation" | "sender">): string =>
  `${conversation} ${sender.id}`;

export function openInbox(sql: Sql, channel: string, node: string) {
  return {
    async position(): Promise<string | undefined> {
      const row = await sql.get<{ position: string | null }>(
        "SELECT position FROM messaging_channels WHERE name = ?",
        channel,
      );
      return row?.position ?? undefined;
    },

    /** Returns how many of them are new. */
    async accept(messages: readonly IncomingMessage[], position?: string): Promise<number> {
      const at = new Date().toISOString();
      return sql.transaction(async (tx) => {
        const isHolder = tx.run(
          `UPDATE messaging_channels SET position = COALESCE(?, position), received_at = COALESCE(?, received_at)
           WHERE name = ? AND node = ?`,
          ...[position ?? null, messages.length > 0 ? at : null, channel, node],
        );
        const waiting = tx.get<{ count: number }>(
          "SELECT count(*) AS count FROM messaging_inbox WHERE channel = ? AND message IS NOT NULL",
          channel,
        );
        if ((await isHolder) === 0)
          throw new Fault("unavailable", "channel_taken_over", `Another node holds the channel ${channel}.`);
        if (messages.length > 0 && Number((await waiting)?.count) >= MAX_WAITING)
          throw new Fault(
            "unavailable",
            "inbox_full",
            `Too many messages of ${channel} wait to be dealt with.`,
          );
        let added = 0;
        // One after the other: their order is that of the service.
        for (const message of messages)
          added += await tx.run(
            `INSERT INTO messaging_inbox (channel, id, line, "user", message, received_at) VALUES (?, ?, ?, ?, ?, ?)
             ON CONFLICT (channel, id) DO NOTHING`,
            ...[channel, message.id, lineOf(message), identityOf(channel, message.sender.id)],
            ...[JSON.stringify(bounded(message)), at],
          );
        return added;
      });
    },

    /** Those that are not dealt with yet, oldest first. */
    waiting: (limit: number): Promise<readonly InboxRow[]> =>
      sql.all<InboxRow>(
        `SELECT seq, id, line, message, received_at AS "receivedAt" FROM messaging_inbox WHERE channel = ? AND message IS NOT NULL ORDER BY seq LIMIT ?`,
        ...[channel, limit],
      ),

    /** It is dealt with when this transaction commits. Throws where it was before, so that nothing is done twice. */
    async finish(tx: Transaction, { seq }: Pick<InboxRow, "seq">, user: string, job?: string): Promise<void> {
      const changed = await tx.run(
        `UPDATE messaging_inbox SET message = NULL, "user" = ?, job = ? WHERE seq = ? AND message IS NOT NULL`,
        ...[user, job ?? null, seq],
      );
      if (changed === 0) throw new AlreadyDone();
    },

    /** The jobs of the last messages of a line, newest first. */
    async jobsOf(line: string): Promise<readonly string[]> {
      const rows = await sql.all<{ job: string }>(
        `SELECT job FROM messaging_inbox WHERE channel = ? AND line = ? AND job IS NOT NULL ORDER BY seq DESC LIMIT ${MAX_JOBS}`,
        ...[channel, line],
      );
      return rows.map(({ job }) => job);
    },

    find: (
      id: string,
    ): Promise<{ seq: number; line: string; job: string | null; isNewest: number } | undefined> =>
      sql.get(
        `SELECT seq, line, job, CASE WHEN EXISTS (SELECT 1 FROM messaging_inbox AS later WHERE later.channel = one.channel
           AND later.line = one.line AND later.seq > one.seq AND later.job IS NOT NULL) THEN 0 ELSE 1 END AS "isNewest"
         FROM messaging_inbox AS one WHERE channel = ? AND id = ?`,
        ...[channel, id],
      ),

    /** The message of this id is not to be dealt with should it still come. */
    async pass(tx: Transaction, id: string, line: string, user: string): Promise<void> {
      await tx.run(
        `INSERT INTO messaging_inbox (channel, id, line, "user", received_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (channel, id) DO NOTHING`,
        ...[channel, id, line, user, new Date().toISOString()],
      );
    },
  };
}

function bounded(message: IncomingMessage): IncomingMessage {
  const { sender, quoted, files, reply } = message;
  const isLong = reply !== undefined && JSON.stringify(reply).length > MAX_REPLY_LENGTH;
  return {
    ...message,
    text: cut(message.text, MAX_TEXT_LENGTH, "\n(The rest was too long.)"),
    sender: { ...sender, ...(sender.name === undefined ? {} : { name: cut(sender.name, MAX_NAME_LENGTH) }) },
    ...(quoted
      ? {
          quoted: quoted.slice(0, MAX_QUOTES).map(({ by, text, isOurs }) => ({
            by: cut(by, MAX_NAME_LENGTH),
            text: cut(text, MAX_TEXT_LENGTH / quoted.length),
            ...(isOurs && { isOurs }),
          })),
        }
      : {}),
    ...(files ? { files: files.slice(0, MAX_FILES) } : {}),
    ...(isLong ? { reply: undefined } : {}),
  };
}

function cut(text: string, length: number, end = "…"): string {
  // A NUL would end the text for SQLite, and PostgreSQL takes none.
  const clean = text.slice(0, length + 1).replaceAll("\0", "");
  return clean.length > length ? clean.slice(0, length).toWellFormed() + end : clean.toWellFormed();
}

/** Another node has dealt with the message. */
export class AlreadyDone extends Error {}
