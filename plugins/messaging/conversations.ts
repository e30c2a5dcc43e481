/** The chats of a channel: which thread, model and job the messages of each line go on with. */
import type { Sql, Transaction } from "../../kernel/plugin.ts";
import type { WantedModel } from "../models/services.ts";
import type { Recipient } from "./outbox.ts";

interface ConversationRow {
  readonly conversation: string;
  readonly line: string;
  readonly name: string;
  readonly thread: string | null;
  readonly model: string | null;
  readonly job: string | null;
}

export type ConversationTable = ReturnType<typeof openConversations>;

export function openConversations(sql: Sql, channel: string) {
  const nameOf = (line: string): string => `${channel} ${line}`;
  const SELECT = `SELECT conversation, line, name, thread, model, job FROM messaging_conversations WHERE channel = ?`;
  return {
    /** What the jobs of a line are told to go on with until it turns to another thread. */
    nameOf,
    find: (line: string) => sql.get<ConversationRow>(`${SELECT} AND line = ?`, channel, line),
    of: (user: string) => sql.all<ConversationRow>(`${SELECT} AND "user" = ?`, channel, user),
    /** The last message of the line became this job. */
    noteJob: (tx: Transaction, { line, conversation, user }: Recipient, isGroup: boolean, job: string) =>
      tx.run(
        `INSERT INTO messaging_conversations (channel, line, conversation, is_group, "user", name, job) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (channel, line) DO UPDATE SET job = excluded.job, model = NULL, "user" = excluded."user"`,
        ...[channel, line, conversation, isGroup ? 1 : 0, user, nameOf(line), job],
      ),
    /** From now on the line goes on with this thread, or a new one. `id` makes the name of its jobs new. */
    turnTo: (tx: Transaction, { line, conversation, user }: Recipient, id: string, thread?: string) =>
      tx.run(
        `INSERT INTO messaging_conversations (channel, line, conversation, "user", name, thread) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (channel, line) DO UPDATE
         SET name = excluded.name, thread = excluded.thread, model = NULL, job = NULL, "user" = excluded."user"`,
        ...[channel, line, conversation, user, `${nameOf(line)} ${id}`, thread ?? null],
      ),
    /** The next thread of the line uses this model. */
    chooseModel: (tx: Transaction, { line, conversation, user }: Recipient, model: WantedModel) =>
      tx.run(
        `INSERT INTO messaging_conversations (channel, line, conversation, "user", name, model) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (channel, line) DO UPDATE SET model = excluded.model`,
        ...[channel, line, conversation, user, nameOf(line), JSON.stringify(model)],
      ),
  };
}
