/** Makes a job of a message that came in, and messages of the turn that answered it. */
import { randomUUIDv7 } from "node:crypto";
import { answerText, identityOf } from "../../kernel/kit.ts";
import {
  Fault,
  type Job,
  type Log,
  reason,
  type Services,
  type Sql,
  type Transaction,
} from "../../kernel/plugin.ts";
import type { NewJob } from "../jobs/services.ts";
import type { WantedModel } from "../models/services.ts";
import { type ConversationRow, createCommands } from "./chat-commands.ts";
import { createFiles } from "./files.ts";
import { createGates, type GateAnswer } from "./gates.ts";
import { AlreadyDone, type InboxRow, type InboxTable } from "./inbox.ts";
import {
  type Content,
  type OutboxTable,
  type OwedRow,
  openOutbox,
  type Part,
  type Recipient,
} from "./outbox.ts";
import type { Requests } from "./requests.ts";
import type { ChatService, IncomingMessage } from "./services.ts";
import { writeMessages } from "./text/markdown.ts";
import { escapeMarkdown } from "./text/marks.ts";

export interface TurnParts {
  readonly service: ChatService;
  readonly sql: Sql;
  readonly inbox: InboxTable;
  readonly outbox: OutboxTable;
  readonly requests: Requests;
  readonly jobs: Services["jobs"];
  readonly threads: Services["threads"];
  readonly identities: Services["identities"];
  readonly accounts: Pick<Services["accounts"], "find" | "listUsers">;
  readonly approvals: Services["approvals"];
  readonly attachments: Services["attachments"];
  readonly agent: Services["agent"];
  readonly workspace: Services["workspace"] | undefined;
  readonly tasks: Pick<Services["tasks"], "open"> | undefined;
  readonly log: Log;
  /** Called before somebody's message becomes a job. */
  onJob(user: string): void;
  /** Tells whoever holds this channel that something waits to be sent. */
  wake(channel: string, tx: Transaction): Promise<void>;
}

/** A message that is being dealt with. */
interface Incoming {
  readonly row: InboxRow;
  readonly message: IncomingMessage;
  readonly to: Recipient;
}

/** Answers of one line that wait to be sent; beyond them what is said there is not answered. */
const MAX_UNSENT = 100;
/** Messages of a stranger that are kept until somebody decides; later ones are not. */
const MAX_HELD = 5;
const MAX_OPERATOR_CHATS = 10;
const TASK_CHANNEL = "task";

export function createTurns(parts: TurnParts) {
  const { service, sql, inbox, outbox, requests, jobs, threads, identities, agent } = parts;
  const channel = service.name;
  const gates = createGates(sql, service, parts.approvals);
  const files = createFiles(parts);
  const commands = createCommands({ ...parts, channel, conversationOf });
  const write = (markdown: string): Content => ({
    parts: writeMessages(markdown, { format: service.format, characters: service.limits.characters }),
  });

  /** Deals with one message, in one transaction. It can be called again until that has committed. */
  async function take(row: InboxRow): Promise<void> {
    const message = JSON.parse(row.message) as IncomingMessage;
    const identity = identityOf(channel, message.sender.id);
    const account = message.isAuthentic === false ? undefined : await identities.account(identity);
    const user = account ?? identity;
    const to: Recipient = { conversation: message.conversation, line: row.line, user, reply: message.reply };
    const incoming = { row, message, to };
    const isMeant = !message.isGroup || message.isMention || message.pressed !== undefined;
    if (!isMeant || (message.isGroup && account === undefined)) return await finish(incoming);
    if (account === undefined) return await takeStranger(incoming);
    try {
      await takeKnown(incoming);
    } catch (error) {
      // The person can do something about it.
      if (!(error instanceof Fault) || error.kind === "unavailable") throw error;
      await finish(incoming, (tx) => outbox.say(tx, to, write(error.message)));
    }
  }

  /** The message is dealt with, along with what is done in the same transaction. */
  const finish = (
    { row, to }: Pick<Incoming, "row" | "to">,
    work: (tx: Transaction) => Promise<unknown> = async () => {},
  ): Promise<void> =>
    sql.transaction(async (tx) => {
      await inbox.finish(tx, row, to.user);
      await work(tx);
    });

  async function takeKnown(incoming: Incoming): Promise<void> {
    const { row, message, to } = incoming;
    const tell = (words: string, keep?: (tx: Transaction) => Promise<unknown>) =>
      finish(incoming, async (tx) => {
        await keep?.(tx);
        if (words !== "") await outbox.sayAside(tx, to, write(words));
      });
    const unsent = await outbox.countUnsent(row.line);
    if (unsent >= MAX_UNSENT) {
      const words = "Too many of your messages wait for an answer: this one and later ones are not answered.";
      return await finish(incoming, async (tx) => {
        if (unsent === MAX_UNSENT) await outbox.say(tx, to, write(words));
      });
    }
    if (message.pressed === undefined && message.text.trim() === "/approvals")
      return await listGates(incoming);
    const command =
      message.pressed === undefined && !message.edits
        ? await commands.run(message.text, to, row.id)
        : undefined;
    if (command) return await tell(command.words, command.keep);
    const answer =
      message.pressed === undefined
        ? await gates.typed(message.text, to)
        : await gates.pressed(message.pressed, to.user);
    if (typeof answer === "string") return await tell(answer);
    const verdict = await agent.chatLimit.take(to.user);
    if (!verdict.ok)
      return await finish(incoming, (tx) =>
        outbox.say(
          tx,
          to,
          write(`Too many messages in a minute. Try again in ${verdict.resetSecs} seconds.`),
        ),
      );
    parts.onJob(to.user);
    if (answer) return await answerGate(incoming, answer);
    await takeMessage(incoming);
  }

  /** Asks everything again that waits for this person, wherever it was asked first. */
  async function listGates(incoming: Incoming): Promise<void> {
    const pending = await parts.approvals.pending(incoming.to.user);
    const asked = pending.flatMap((gate) => {
      const asking = gates.ask(gate, incoming.to);
      return asking ? [{ gate, ...asking }] : [];
    });
    await finish(incoming, async (tx) => {
      if (asked.length === 0) await outbox.sayAside(tx, incoming.to, write("Nothing waits for your answer."));
      for (const { gate, parts: messages, keep } of asked) {
        await keep(tx);
        await outbox.sayAside(tx, incoming.to, { parts: messages, gate: gate.id });
      }
    });
  }

  async function answerGate(incoming: Incoming, answer: GateAnswer): Promise<void> {
    const { row, to } = incoming;
    const { isOfTask } = answer;
    const turn = { input: answer.input, thread: answer.thread };
    const job: NewJob = {
      id: randomUUIDv7(),
      user: to.user,
      // The turn that delegated it waits for it: it must not wait for that one's place in the queue.
      channel: isOfTask ? TASK_CHANNEL : channel,
      message: answer.label,
      turn,
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

  /** What the tasks of a conversation ask that is not asked here yet. The ids are those asked before; ones that wait no more are dropped. */
  async function askTasks(known: Set<string>): Promise<void> {
    const waiting = new Set<string>();
    for (const { user, thread, rootThread } of (await parts.tasks?.open()) ?? []) {
      const gate = (await threads.find(user, thread))?.gate;
      if (gate === undefined) continue;
      waiting.add(gate.id);
      const to = known.has(gate.id) ? undefined : await recipientIn(user, rootThread);
      const asking = to && gates.ask(gate, to);
      if (!asking) continue;
      await sql.transaction(async (tx) => {
        if (await gates.isAsked(tx, gate.id)) return;
        await asking.keep(tx);
        await outbox.sayAside(tx, to, { parts: asking.parts, gate: gate.id });
      });
      // One that was answered is forgotten a moment before its turn begins.
      known.add(gate.id);
    }
    for (const id of known) if (!waiting.has(id)) known.delete(id);
  }

  /** The chat in which this thread goes on. */
  async function recipientIn(user: string, thread: string): Promise<Recipient | undefined> {
    const rows = await sql.all<ConversationRow & Recipient>(
      `SELECT conversation, line, thread, job FROM messaging_conversations WHERE channel = ? AND "user" = ?`,
      ...[channel, user],
    );
    // In a group others may have written since.
    const owed = (await outbox.owedBy(user)).map((row) => ({ ...row, thread: null }));
    for (const { conversation, line, thread: chosen, job } of [...owed, ...rows]) {
      const its = chosen ?? (job === null ? undefined : (await jobs.find(job))?.thread);
      if (its === thread) return { conversation, line, user };
    }
    return undefined;
  }

  async function takeMessage(incoming: Incoming): Promise<void> {
    const { row, message, to } = incoming;
    const edited = message.edits === undefined ? undefined : await inbox.find(message.edits);
    // Only the newest message can be worded anew: what came after it was said to the old words.
    if (edited && (edited.job === null || Number(edited.isNewest) === 0)) return await finish(incoming);
    const taken = await files.take(service, to.user, row.id, message.files ?? []);
    const text = [message.text.trim(), ...taken.notes].filter((line) => line !== "").join("\n\n");
    const { attachments, attached } = taken.turn;
    if (text === "" && attachments.length === 0 && !message.quoted?.length) return await finish(incoming);
    const conversation = await conversationOf(to.line);
    const before = edited?.job ? await takeBack(edited.job) : {};
    const job: NewJob = {
      ...jobOf(message, to, text),
      conversation: conversation?.name ?? nameOf(to.line),
      turn: {
        ...(conversation?.thread ? { thread: conversation.thread } : {}),
        ...(conversation?.model ? { model: JSON.parse(conversation.model) as WantedModel } : {}),
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
      await outbox.owe(tx, to, id);
      await tx.run(
        `INSERT INTO messaging_conversations (channel, line, conversation, is_group, "user", name, job) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (channel, line) DO UPDATE SET job = excluded.job, model = NULL, "user" = excluded."user"`,
        ...[channel, to.line, to.conversation, message.isGroup ? 1 : 0, to.user, nameOf(to.line), id],
      );
    });
    await taken.drop();
  }

  /** Stops the turn of a message that was worded anew. Returns where the new one goes on from. */
  async function takeBack(id: string): Promise<{ readonly thread?: string; readonly after?: string | null }> {
    const job = await jobs.cancel(id);
    const record = job?.turn === undefined ? undefined : await threads.turn(job.user, job.turn);
    return record ? { thread: record.thread, after: record.after ?? null } : {};
  }

  /** A stranger's message waits for somebody who says whose it is. */
  async function takeStranger({ row, message, to }: Incoming): Promise<void> {
    const canWait = message.isAuthentic !== false;
    const job: NewJob = {
      ...jobOf(message, to, message.text.trim()),
      conversation: nameOf(to.line),
      waitsForPairing: true,
    };
    const operators = (await parts.accounts.listUsers()).filter(({ role }) => role === "operator");
    // One after the other, so that no more of them are listed than may be.
    await requests.oneAtATime("stranger", () =>
      sql.transaction(async (tx) => {
        const asked = await requests.ask(tx, channel, message, to);
        const held = await tx.get<{ count: number }>(
          `SELECT count(*) AS count FROM messaging_outbox WHERE "user" = ? AND status = 'held'`,
          to.user,
        );
        const isHeld = canWait && asked !== undefined && Number(held?.count) < MAX_HELD && job.message !== "";
        const id = isHeld ? (await jobs.submit(job, tx)).id : undefined;
        await inbox.finish(tx, row, to.user, id);
        if (id !== undefined) await outbox.owe(tx, to, id, true);
        if (asked?.isToTell && canWait && !service.isSilentToStrangers)
          await outbox.sayAside(tx, to, write(codeWords(asked.code)));
        if (asked?.isNew && canWait)
          await tellOperators(
            tx,
            operators.map((one) => one.id),
            strangerWords(message, to.user, asked.code),
          );
      }),
    );
  }

  /** In the chats in which operators are paired, on any channel. */
  async function tellOperators(tx: Transaction, operators: readonly string[], words: string): Promise<void> {
    if (operators.length === 0) return;
    const rows = await tx.all<{ channel: string; line: string; conversation: string; user: string }>(
      `SELECT channel, line, conversation, "user" FROM messaging_conversations
       WHERE is_group = 0 AND "user" IN (${operators.map(() => "?").join(", ")}) ORDER BY line LIMIT ${MAX_OPERATOR_CHATS}`,
      ...operators,
    );
    for (const { channel: name, ...to } of rows) {
      const content = name === channel ? write(words) : { parts: [{ text: words }] };
      await openOutbox(sql, name, "").sayAside(tx, to, content);
      if (name !== channel) await parts.wake(name, tx);
    }
  }

  function conversationOf(line: string): Promise<ConversationRow | undefined> {
    return sql.get<ConversationRow>(
      "SELECT name, thread, model, job FROM messaging_conversations WHERE channel = ? AND line = ?",
      ...[channel, line],
    );
  }

  const nameOf = (line: string): string => `${channel} ${line}`;

  const jobOf = ({ quoted }: IncomingMessage, { user }: Recipient, text: string): NewJob => ({
    id: randomUUIDv7(),
    user,
    channel,
    message: text === "" && quoted?.length ? "(a quoted message)" : text,
    // Others wrote it: the model reads it as data.
    ...(quoted?.length ? { metadata: { quoted }, origin: channel } : {}),
  });

  /** The messages of a job that has completed; undefined where nothing is to be said. */
  async function answerOf(
    job: Job,
    { conversation, line }: OwedRow,
  ): Promise<{ readonly content: Content; keep?(tx: Transaction): Promise<unknown> } | undefined> {
    if (job.error?.code === "pairing_denied") return undefined;
    const record = job.turn === undefined ? undefined : await threads.turn(job.user, job.turn);
    const gate = record?.status === "waiting" ? record.gate : undefined;
    const asking = gate && gates.ask(gate, { conversation, line, user: job.user });
    // Where others took the turn over at its end, what it said is with the job alone.
    const isWhole = asking || (job.error === undefined && record?.error === undefined);
    const said = record && isWhole ? answerText(record) : (job.response ?? "");
    const { files: refs, notes } = record
      ? await files.of(record, service.limits.fileBytes)
      : { files: [], notes: [] };
    const words = [said.trim(), ...notes].filter((one) => one !== "").join("\n\n");
    const texts = words === "" && (asking || refs.length > 0) ? [] : write(words || "Done.").parts;
    const all = [...withFiles(texts, refs), ...(asking?.parts ?? [])];
    return asking
      ? { content: { parts: all, gate: gate?.id }, keep: asking.keep }
      : { content: { parts: all } };
  }

  /** A mail has its files with it; elsewhere each is a message of its own. */
  function withFiles(texts: readonly Part[], refs: Part["files"] = []): readonly Part[] {
    if (service.format !== "mail" || refs.length === 0)
      return [...texts, ...refs.map((file) => ({ text: "", files: [file] }))];
    const last = texts.at(-1) ?? { text: "" };
    return [...texts.slice(0, -1), { ...last, files: refs }];
  }

  return {
    take,
    write,
    askTasks,
    load: (user: string, refs: NonNullable<Part["files"]>) =>
      files.load(user, refs, service.limits.fileBytes),

    /** Fills in the answer that is owed for a job, where that has completed. `before` is waited for then. */
    async fill(row: OwedRow, before: () => Promise<void>): Promise<void> {
      const job = await jobs.find(row.job);
      if (job === undefined) return void (await outbox.loseOwed(row.job, "Its answer is no longer kept."));
      // It was kept while somebody let its sender in: it is theirs too.
      const account = job.waitingFor === "pairing" ? await identities.account(job.user) : undefined;
      if (account !== undefined) await identities.pair(job.user, account);
      if (job.status !== "completed") return;
      await before();
      const answer = await answerOf(job, row);
      await sql.transaction(async (tx) => {
        if (answer === undefined) await outbox.forgetOwed(job.id, tx);
        else if (await outbox.fill(tx, job.id, answer.content)) await answer.keep?.(tx);
      });
    },

    /** Says in the chat which of its questions were answered. */
    async settleGates(signal: AbortSignal): Promise<void> {
      for (const { id, to, text, html, sent, answer } of await gates.settle()) {
        const words = answer ?? "Answered elsewhere.";
        const done = write(`✓ ${words}`).parts[0]?.text ?? "";
        if (sent && service.edit) {
          const message = { key: `gate-${id}`, conversation: to.conversation, text: `${text}\n\n${done}` };
          await service
            .edit(sent, html === undefined ? message : { ...message, html: `${html}<p>${done}</p>` }, signal)
            .catch((error: unknown) => parts.log.debug({ error, channel }, "a question could not be edited"));
        }
        await sql.transaction(async (tx) => {
          await gates.forget(tx, id);
          if (answer === undefined && !service.edit)
            await outbox.sayAside(tx, to, write("The question above was answered elsewhere."));
        });
      }
    },

    /** It failed again and again: it is answered with that. */
    async giveUp(row: InboxRow, error: unknown): Promise<void> {
      if (error instanceof AlreadyDone) return;
      const message = JSON.parse(row.message) as IncomingMessage;
      const user = identityOf(channel, message.sender.id);
      const to = { conversation: message.conversation, line: row.line, user, reply: message.reply };
      parts.log.error({ error, channel }, `a message could not be dealt with: ${reason(error)}`);
      const words = "Something went wrong in the service; the log has the details.";
      await finish({ row, to }, (tx) => outbox.say(tx, to, write(words)));
    },
  };
}

function codeWords(code: string): string {
  return `I do not know you yet. Give this code to the person who runs this service, and they can let you in: ${code}`;
}

function strangerWords({ sender, text }: IncomingMessage, identity: string, code: string): string {
  const name = sender.name === undefined ? identity : `${sender.name} (${identity})`;
  const asked = escapeMarkdown(`${name} wants to talk to me: ${text.slice(0, 200).toWellFormed()}`);
  return `${asked}\n\nLet them in with \`/pair ${code} <account>\`, or turn them away with \`/deny ${code}\`.`;
}
