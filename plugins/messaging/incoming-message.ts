/** What becomes of one message: a command, an answer to a gate, or a job whose answer is owed. Always in one transaction. */
import { randomUUIDv7 } from "node:crypto";
import { identityOf } from "../../kernel/kit/people.ts";
import { MODEL, type Outside } from "../../kernel/kit/turns.ts";
import { Fault, reason, type Transaction } from "../../kernel/plugin.ts";
import type { NewJob } from "../jobs/services.ts";
import type { WantedModel } from "../models/services.ts";
import type { ChatCommands } from "./chat-commands.ts";
import type { Files } from "./files.ts";
import type { GateAnswer, Gates } from "./gates.ts";
import type { InboxRow } from "./inbox.ts";
import type { ChannelParts } from "./parts.ts";
import type { IncomingMessage, QuotedText } from "./services.ts";
import { type ReceivedMessage, takeStranger } from "./strangers.ts";

export interface IncomingParts extends ChannelParts {
  readonly gates: Gates;
  readonly files: Files;
  readonly commands: ChatCommands;
  /** Called before somebody's message becomes a job. */
  onJob(user: string): void;
}

/** Answers of one line that wait to be sent; beyond them what is said there is not answered. */
const MAX_UNSENT = 100;
const TASK_CHANNEL = "task";
/** A turn that runs reads what is said meanwhile. */
const TALK = { work: { steers: true }, keeping: { survivesRestart: true } } as const;

/** Deals with one message. It can be called again until its transaction has committed. */
export async function takeMessage(parts: IncomingParts, row: InboxRow): Promise<void> {
  const { outbox, write } = parts;
  const message = JSON.parse(row.message) as IncomingMessage;
  const identity = identityOf(parts.service.name, message.sender.id);
  const account = message.isAuthentic === false ? undefined : await parts.identities.account(identity);
  const received = receivedFrom(account ?? identity, message, row);
  const isMeant = !message.isGroup || message.isMention || message.pressed !== undefined;
  if (!isMeant || (message.isGroup && account === undefined)) return await finish(parts, received);
  if (account === undefined)
    return await takeStranger(parts, received, {
      ...jobOf(parts, received, message.text.trim()),
      conversation: parts.conversations.nameOf(row.line),
      waitsForPairing: true,
    });
  try {
    await takeKnown(parts, received);
  } catch (error) {
    // The person can do something about it.
    if (!(error instanceof Fault) || error.kind === "unavailable") throw error;
    await finish(parts, received, (tx) => outbox.say(tx, received.to, write(error.message)));
  }
}

/** It failed again and again: it is answered with that. */
export async function giveUp(parts: IncomingParts, row: InboxRow, error: unknown): Promise<void> {
  const { service, outbox, log, write } = parts;
  const message = JSON.parse(row.message) as IncomingMessage;
  const received = receivedFrom(identityOf(service.name, message.sender.id), message, row);
  log.error({ error, channel: service.name }, `a message could not be dealt with: ${reason(error)}`);
  const words = "Something went wrong in the service; the log has the details.";
  await finish(parts, received, (tx) => outbox.say(tx, received.to, write(words)));
}

const receivedFrom = (user: string, message: IncomingMessage, row: InboxRow): ReceivedMessage => ({
  row,
  message,
  to: { conversation: message.conversation, line: row.line, user, reply: message.reply },
});

/** When it was written, by the service's clock or ours, whichever says earlier. */
const typedAt = ({ message, row }: ReceivedMessage): number =>
  Math.min(...[row.receivedAt, message.sentAt ?? row.receivedAt].map((at) => Date.parse(at)));

/** The message is dealt with, along with what is done in the same transaction. */
const finish = (
  { sql, inbox }: ChannelParts,
  { row, to }: ReceivedMessage,
  work: (tx: Transaction) => Promise<unknown> = async () => {},
): Promise<void> =>
  sql.transaction(async (tx) => {
    await inbox.finish(tx, row, to.user);
    await work(tx);
  });

async function takeKnown(parts: IncomingParts, received: ReceivedMessage): Promise<void> {
  const { outbox, gates, commands, write } = parts;
  const { row, message, to } = received;
  const tell = (words: string, keep?: (tx: Transaction) => Promise<unknown>) =>
    finish(parts, received, async (tx) => {
      await keep?.(tx);
      if (words !== "") await outbox.sayAside(tx, to, write(words));
    });
  const unsent = await outbox.countUnsent(row.line);
  if (unsent >= MAX_UNSENT) {
    const words = "Too many of your messages wait for an answer: this one and later ones are not answered.";
    return await finish(parts, received, async (tx) => {
      if (unsent === MAX_UNSENT) await outbox.say(tx, to, write(words));
    });
  }
  const command = message.pressed === undefined ? await commands.run(message, to, row.id) : undefined;
  if (command) return await tell(command.words, command.keep);
  const answer =
    message.pressed === undefined
      ? await gates.typed(message.text, to, typedAt(received))
      : await gates.pressed(message.pressed, to.user);
  if (typeof answer === "string") return await tell(answer);
  const verdict = await parts.agent.chatLimit.take(to.user);
  if (!verdict.ok) {
    const words = `Too many messages in a minute. Try again in ${verdict.resetSecs} seconds.`;
    return await finish(parts, received, (tx) => outbox.say(tx, to, write(words)));
  }
  parts.onJob(to.user);
  await (answer ? answerGate(parts, received, answer) : submitMessage(parts, received));
}

async function answerGate(
  { sql, inbox, outbox, jobs, gates, service, write }: IncomingParts,
  { row, to }: ReceivedMessage,
  answer: GateAnswer,
): Promise<void> {
  const { isOfTask, input, thread } = answer;
  const job: NewJob = {
    id: randomUUIDv7(),
    user: to.user,
    // The turn that delegated it waits for it: it must not wait for that one's place in the queue.
    channel: isOfTask ? TASK_CHANNEL : service.name,
    message: answer.label,
    turn: { input, thread, ...(!isOfTask && TALK) },
  };
  await jobs.assertRoom(job);
  await sql.transaction(async (tx) => {
    if (!(await gates.close(tx, answer))) {
      await inbox.finish(tx, row, to.user);
      return void (await outbox.sayAside(tx, to, write("This was answered already.")));
    }
    const { id } = await jobs.submit(job, tx);
    await inbox.finish(tx, row, to.user, id);
    if (!isOfTask) await outbox.owe(tx, to, id);
  });
}

async function submitMessage(parts: IncomingParts, received: ReceivedMessage): Promise<void> {
  const { sql, inbox, outbox, jobs, threads, files, conversations, write } = parts;
  const { row, message, to } = received;
  const edited = message.edits === undefined ? undefined : await inbox.find(message.edits);
  // Only the newest message can be worded anew: what came after it was said to the old words.
  if (edited && (edited.job === null || Number(edited.isNewest) === 0)) return await finish(parts, received);
  const taken = await files.take(to.user, row.id, message.files ?? []);
  const text = [message.text.trim(), ...taken.notes].filter((line) => line !== "").join("\n\n");
  const { attachments, attached } = taken.turn;
  const isOnlyRefused = message.text.trim() === "" && taken.refusals.length === message.files?.length;
  const tellRefusals = async (tx: Transaction) => {
    if (taken.refusals.length > 0) await outbox.sayAside(tx, to, write(taken.refusals.join("\n\n")));
  };
  if (isOnlyRefused && !message.quoted?.length) return await finish(parts, received, tellRefusals);
  if (text === "" && attachments.length === 0 && !message.quoted?.length)
    return await finish(parts, received);
  const conversation = await conversations.find(to.line);
  // Somebody may have deleted the thread that was chosen here: then this begins a new one.
  const chosen = conversation?.thread ? await threads.find(to.user, conversation.thread) : undefined;
  const before = edited?.job ? await takeBack(parts, edited.job) : {};
  const bare = jobOf(parts, received, text);
  const job: NewJob = {
    ...bare,
    conversation: conversation?.name ?? conversations.nameOf(to.line),
    turn: {
      ...bare.turn,
      ...(chosen && { thread: chosen.id }),
      ...(conversation?.model ? { answer: { model: JSON.parse(conversation.model) as WantedModel } } : {}),
      ...before,
      ...(attachments.length > 0
        ? { input: { type: "message", text, attachments: [...attachments] }, attached }
        : {}),
    },
  };
  await jobs.assertRoom(job);
  await sql.transaction(async (tx) => {
    const { id } = await jobs.submit(job, tx);
    await inbox.finish(tx, row, to.user, id);
    // An edit may overtake its message.
    if (message.edits !== undefined && !edited) await inbox.pass(tx, message.edits, row.line, to.user);
    if (edited?.job) await outbox.forgetOwed(edited.job, tx);
    await tellRefusals(tx);
    await outbox.owe(tx, to, id);
    await conversations.noteJob(tx, to, message.isGroup === true, id);
  });
  await taken.drop();
}

/** Stops the turn of a message that was worded anew. Returns where the new one goes on from; another's turn that has read it goes on. */
async function takeBack(
  { agent, jobs, threads }: IncomingParts,
  id: string,
): Promise<{ readonly thread?: string; readonly after?: string | null }> {
  const { user = "", turn = "" } = (await jobs.find(id)) ?? {};
  if (await agent.takeBack(user, turn)) return {};
  const job = await jobs.cancel(id);
  const record = job?.turn === undefined ? undefined : await threads.turn(job.user, job.turn);
  return record?.id === job?.turn && record ? { thread: record.thread, after: record.after ?? null } : {};
}

const jobOf = (
  { service: { name: channel } }: ChannelParts,
  { message: { quoted }, to: { user } }: ReceivedMessage,
  text: string,
): NewJob => ({
  id: randomUUIDv7(),
  user,
  channel,
  message: text === "" && quoted?.length ? "(a quoted message)" : text,
  turn: { ...TALK, ...(quoted?.length && { preamble: { outside: outsideOf(quoted, channel) } }) },
});

/** The model reads it as data. */
function outsideOf(quoted: readonly QuotedText[], channel: string): Outside {
  const origins = quoted.some(({ isOurs }) => isOurs) && [MODEL, { kind: "outside" as const, name: channel }];
  return {
    origin: channel,
    data: { quoted: quoted.map(({ by, text }) => ({ by, text })) },
    ...(origins && { origins }),
  };
}
