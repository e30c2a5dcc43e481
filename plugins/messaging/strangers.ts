/** Messages of people that no account is known for: they get a code, operators are told, and the first messages wait. */
import type { Transaction } from "../../kernel/plugin.ts";
import type { NewJob } from "../jobs/services.ts";
import type { InboxRow } from "./inbox.ts";
import { openOutbox, type Recipient } from "./outbox.ts";
import { type ChannelParts, topicOf } from "./parts.ts";
import type { IncomingMessage } from "./services.ts";
import { escapeMarkdown } from "./text/marks.ts";

/** A message that is being dealt with. */
export interface ReceivedMessage {
  readonly row: InboxRow;
  readonly message: IncomingMessage;
  /** Whom the answer is for. */
  readonly to: Recipient;
}

/** Messages of a stranger that are kept until somebody decides; later and longer ones are not. */
const MAX_HELD = 3;
const MAX_HELD_LENGTH = 16_000;
const MAX_OPERATOR_CHATS = 10;

/** The job waits for somebody who says whose it is. */
export async function takeStranger(
  parts: ChannelParts,
  { row, message, to }: ReceivedMessage,
  job: NewJob,
): Promise<void> {
  const { sql, service, inbox, outbox, requests, write } = parts;
  const canWait = message.isAuthentic !== false;
  const operators = (await parts.accounts.listUsers()).filter(({ role }) => role === "operator");
  // One after the other, so that no more of them are listed than may be.
  const isShort = JSON.stringify(job).length <= MAX_HELD_LENGTH;
  const removed = await requests.oneAtATime("stranger", () =>
    sql.transaction(async (tx) => {
      const asked = await requests.ask(tx, service.name, message, to);
      const held = await tx.get<{ count: number }>(
        `SELECT count(*) AS count FROM messaging_outbox WHERE "user" = ? AND status = 'held'`,
        to.user,
      );
      const isHeld = canWait && isShort && Number(held?.count) < MAX_HELD && job.message !== "";
      const id = isHeld ? (await parts.jobs.submit(job, tx)).id : undefined;
      await inbox.finish(tx, row, to.user, id);
      if (id !== undefined) await outbox.owe(tx, to, id, true);
      if (!canWait) return asked.removed;
      if (asked.isToTell && !service.isSilentToStrangers)
        await outbox.sayAside(tx, to, write(codeWords(asked.code)));
      // When the list is full, somebody may be filling it, and operators would hear of each.
      if (asked.isNew && asked.removed === undefined)
        await tellOperators(
          parts,
          tx,
          operators.map((one) => one.id),
          strangerWords(message, to.user, asked.code),
        );
      return asked.removed;
    }),
  );
  if (removed !== undefined) await requests.drop(removed);
}

/** In the chats in which operators are paired, on any channel. */
async function tellOperators(
  { sql, service, store, write }: ChannelParts,
  tx: Transaction,
  operators: readonly string[],
  words: string,
): Promise<void> {
  if (operators.length === 0) return;
  const rows = await tx.all<{ channel: string; line: string; conversation: string; user: string }>(
    `SELECT channel, line, conversation, "user" FROM messaging_conversations
     WHERE is_group = 0 AND "user" IN (${operators.map(() => "?").join(", ")}) ORDER BY line LIMIT ${MAX_OPERATOR_CHATS}`,
    ...operators,
  );
  for (const { channel, ...to } of rows) {
    const content = channel === service.name ? write(words) : { parts: [{ text: words }] };
    await openOutbox(sql, channel, "").sayAside(tx, to, content);
    if (channel !== service.name) await store.signals.send(topicOf(channel), "", tx);
  }
}

function codeWords(code: string): string {
  return `I do not know you yet. Give this code to the person who runs this service, and they can let you in: ${code}`;
}

function strangerWords({ sender, text }: IncomingMessage, identity: string, code: string): string {
  const name = sender.name === undefined ? identity : `${sender.name} (${identity})`;
  const asked = escapeMarkdown(`${name} wants to talk to me: ${text.slice(0, 200).toWellFormed()}`);
  return `${asked}\n\nLet them in with \`/pair ${code} <account>\`, or turn them away with \`/deny ${code}\`.`;
}
