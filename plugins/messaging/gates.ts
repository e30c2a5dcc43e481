/**
 * Gates in a chat: the sentence of one with its answers as buttons, or as numbers to type. A gate that is told here can be answered
 * on the page and the other way round; whichever answer is first counts, and the message here says that it was given.
 */

import { type Field, mistakeIn } from "../../kernel/kit/display.ts";
import { visibleLine } from "../../kernel/kit/text.ts";
import type { Gate, Transaction, TurnInput } from "../../kernel/plugin.ts";
import { type GateChoice, type GateWording, wordGate } from "./gate-wording.ts";
import type { Content, Part, Recipient } from "./outbox.ts";
import type { ChannelParts } from "./parts.ts";
import type { SentMessage } from "./services.ts";
import { escapeMarkdown } from "./text/marks.ts";

/** What is kept of a gate while nobody has answered it. */
interface AskedGate extends Pick<GateWording, "choices" | "typed"> {
  readonly thread: string;
  /** As it was sent, without the answers. */
  readonly text: string;
  readonly html?: string | undefined;
  /** A delegated task asked it: its turn's answer is for whoever delegated it, and not for the chat. */
  readonly isOfTask: boolean;
}

interface GateRow {
  readonly id: string;
  readonly user: string;
  readonly conversation: string;
  readonly line: string;
  readonly content: string;
  readonly sent: string | null;
  readonly answer: string | null;
}

/** How somebody answered a gate. */
export interface GateAnswer {
  readonly gate: string;
  readonly thread: string;
  readonly isOfTask: boolean;
  readonly label: string;
  readonly input: TurnInput;
}

const PRESSED = /^gate:([\w-]{1,64}):(\d{1,3})$/;
const COLUMNS = 'id, "user", conversation, line, content, sent, answer';

export type Gates = ReturnType<typeof createGates>;

export function createGates({
  sql,
  service,
  outbox,
  approvals,
  log,
  write,
}: Pick<ChannelParts, "sql" | "service" | "outbox" | "approvals" | "log" | "write">) {
  const channel = service.name;
  const hasButtons = (choices: readonly GateChoice[]) => choices.length <= service.limits.buttons;

  async function find(condition: string, ...values: string[]): Promise<GateRow | undefined> {
    return sql.get<GateRow>(
      `SELECT ${COLUMNS} FROM messaging_gates WHERE channel = ? AND ${condition} AND answer IS NULL
       ORDER BY opened_at DESC LIMIT 1`,
      ...[channel, ...values],
    );
  }

  async function showAnswered(row: GateRow, signal: AbortSignal): Promise<void> {
    const { id, conversation, answer } = row;
    const { text, html } = JSON.parse(row.content) as AskedGate;
    const done = write(`✓ ${answer ?? "Answered elsewhere."}`).parts[0]?.text ?? "";
    if (row.sent !== null && service.edit) {
      const message = { key: `gate-${id}`, conversation, text: `${text}\n\n${done}` };
      const whole = html === undefined ? message : { ...message, html: `${html}<p>${done}</p>` };
      await service
        .edit(JSON.parse(row.sent) as SentMessage, whole, signal)
        .catch((error: unknown) => log.debug({ error, channel }, "a question could not be edited"));
    }
    await sql.transaction(async (tx) => {
      await tx.run("DELETE FROM messaging_gates WHERE id = ?", id);
      if (answer === null && !service.edit)
        await outbox.sayAside(tx, row, write("The question above was answered elsewhere."));
    });
  }

  return {
    /** The messages that ask it, and what has to be kept for its answer, in the transaction that makes them due. */
    ask(
      gate: Gate,
      to: Recipient,
    ): { readonly content: Content; keep(tx: Transaction): Promise<unknown> } | undefined {
      if (gate.type === "external_tool") return undefined;
      const { words, choices, typed } = wordGate(gate);
      const path = gate.task?.path.map(visibleLine).map(escapeMarkdown).join(" › ");
      const asked = path === undefined ? words : `${words}\n\nA delegated task asks this: ${path}`;
      const numbered = choices.map(({ label }, at) => `${at + 1}. ${label}`).join("\n");
      const how = hasButtons(choices)
        ? ""
        : `\n\n${numbered}\n\nReply with the number${typed ? ", or with the answer" : ""}.`;
      const { parts } = write(asked + how);
      const last = parts.at(-1) as Part;
      const buttons = choices.map(({ label }, at) => ({ text: label, value: `gate:${gate.id}:${at}` }));
      const { thread } = gate;
      const isOfTask = gate.task !== undefined;
      const kept: AskedGate = { thread, isOfTask, text: last.text, html: last.html, choices, typed };
      return {
        content: {
          parts: hasButtons(choices) ? [...parts.slice(0, -1), { ...last, buttons }] : parts,
          gate: gate.id,
        },
        keep: (tx) =>
          tx.run(
            `INSERT INTO messaging_gates (id, channel, conversation, line, "user", content, opened_at)
             VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
             SET channel = excluded.channel, conversation = excluded.conversation, line = excluded.line, sent = NULL`,
            ...[gate.id, channel, to.conversation, to.line, to.user, JSON.stringify(kept), gate.openedAt],
          ),
      };
    },

    isAsked: async (tx: Transaction, id: string): Promise<boolean> =>
      (await tx.get("SELECT 1 FROM messaging_gates WHERE id = ?", id)) !== undefined,

    /** The answer that a pressed button stands for; a sentence where it counts no more, or is not theirs to give. */
    async pressed(value: string, user: string): Promise<GateAnswer | string> {
      const [, id = "", at = ""] = PRESSED.exec(value) ?? [];
      const row = await find("id = ?", id);
      if (row === undefined) return "This was answered already.";
      if (row.user !== user) return "Only the person who was asked can answer this.";
      const choice = (JSON.parse(row.content) as AskedGate).choices[Number(at)];
      return choice ? answerOf(row, choice) : "This was answered already.";
    },

    /** The answer that a typed text is to the gate that this conversation waits at; a sentence where it does not fit. */
    async typed(text: string, { line, user }: Recipient): Promise<GateAnswer | string | undefined> {
      const row = await find('line = ? AND "user" = ?', line, user);
      if (row === undefined) return undefined;
      const { choices, typed } = JSON.parse(row.content) as AskedGate;
      const given = text.trim();
      // Beside buttons there are no numbers: one that is typed is not an answer to this.
      const isNumber = !hasButtons(choices) && /^\d{1,2}$/.test(given);
      const choice = isNumber ? choices[Number(given) - 1] : undefined;
      const named = choices.find(({ label }) => label.toLowerCase() === given.toLowerCase());
      if (choice ?? named) return answerOf(row, (choice ?? named) as GateChoice);
      if (typed === undefined) return undefined;
      const value = typedValue(typed.field, given);
      const mistake = mistakeIn(typed.field, value);
      if (mistake) return `${typed.field.label} ${mistake}.`;
      return answerOf(row, { label: visibleLine(given), input: accept(row.id, typed, value) });
    },

    /** It is answered when this transaction commits. False where it was before. */
    close: async (tx: Transaction, { gate, label }: GateAnswer): Promise<boolean> =>
      (await tx.run("UPDATE messaging_gates SET answer = ? WHERE id = ? AND answer IS NULL", label, gate)) >
      0,

    /** Says in the chat which of its questions were answered, here or elsewhere. */
    async settle(signal: AbortSignal): Promise<void> {
      const rows = await sql.all<GateRow>(
        `SELECT ${COLUMNS} FROM messaging_gates WHERE channel = ?`,
        channel,
      );
      const open = rows.filter(({ answer }) => answer === null);
      const pending = new Set<string>();
      for (const user of new Set(open.map(({ user }) => user)))
        for (const { id } of await approvals.pending(user)) pending.add(id);
      for (const row of rows)
        if (row.answer !== null || !pending.has(row.id)) await showAnswered(row, signal);
    },
  };
}

function answerOf(row: GateRow, { label, input }: GateChoice): GateAnswer {
  const { thread, isOfTask } = JSON.parse(row.content) as AskedGate;
  return { gate: row.id, thread, isOfTask, label, input };
}

function accept(gate: string, { key, field }: NonNullable<GateWording["typed"]>, value: unknown): TurnInput {
  return { type: "question", gate, replies: [{ key, action: "accept", content: { [field.name]: value } }] };
}

function typedValue({ kind }: Field, text: string): string | number {
  return kind === "number" || kind === "integer" ? Number(text) : text;
}
