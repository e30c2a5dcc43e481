/**
 * Gates in a chat: the sentence of one with its answers as buttons, or as numbers to type. A gate that is told here can be answered
 * on the page and the other way round; whichever answer is first counts, and the message here says that it was given.
 *
 * A typed answer names its question by a code, unless the question is the only open one and was there to be read when the answer was
 * typed: otherwise a number could allow what its writer has not seen.
 */
import { createHash } from "node:crypto";

import { type Field, mistakeIn } from "../../kernel/kit/display.ts";
import { visibleLine } from "../../kernel/kit/text.ts";
import type { Gate, Transaction, TurnInput } from "../../kernel/plugin.ts";
import { type GateChoice, type GateWording, wordGate } from "./gate-wording.ts";
import type { Content, Part, Recipient } from "./outbox.ts";
import type { ChannelParts } from "./parts.ts";
import type { SentMessage } from "./services.ts";
import { escapeMarkdown } from "./text/marks.ts";

/** What is kept of a gate while nobody has answered it. */
interface AskedGate extends Pick<GateWording, "title" | "choices" | "typed"> {
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

export interface GateAnswer {
  readonly gate: string;
  readonly thread: string;
  readonly isOfTask: boolean;
  readonly label: string;
  readonly input: TurnInput;
}

/** Some services count in seconds. */
const CLOCK_MS = 1000;
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

  /** Questions of this conversation that wait for this person, oldest first. */
  async function openIn(line: string, user: string): Promise<readonly GateRow[]> {
    const rows = await sql.all<GateRow>(
      `SELECT ${COLUMNS} FROM messaging_gates WHERE channel = ? AND line = ? AND "user" = ? AND answer IS NULL ORDER BY opened_at`,
      ...[channel, line, user],
    );
    if (rows.length === 0) return rows;
    const pending = new Set((await approvals.pending(user)).map(({ id }) => id));
    return rows.filter(({ id }) => pending.has(id));
  }

  async function showAnswered(row: GateRow, signal: AbortSignal): Promise<void> {
    const { id, conversation, answer } = row;
    const { text, html } = parse(row);
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
      const { title, words, choices, typed } = wordGate(gate);
      const code = codeOf(gate.id);
      const path = gate.task?.path.map(visibleLine).map(escapeMarkdown).join(" › ");
      const asked = path === undefined ? words : `${words}\n\nA delegated task asks this: ${path}`;
      const numbered = choices.map(({ label }, at) => `${at + 1}. ${label}`).join("\n");
      const byNumber = `${numbered}\n\nReply with the number and the code of this question, as in "1 ${code}"${typed ? `, or with the answer, as in "${code} my answer"` : ""}.`;
      const byButton = typed ? `If several questions are open, begin with the code of this one: ${code}` : "";
      const how = hasButtons(choices) ? byButton : byNumber;
      const { parts } = write(how === "" ? asked : `${asked}\n\n${how}`);
      const last = parts.at(-1) as Part;
      const buttons = choices.map(({ label }, at) => ({ text: label, value: `gate:${gate.id}:${at}` }));
      const { thread } = gate;
      const isOfTask = gate.task !== undefined;
      const kept: AskedGate = { thread, isOfTask, title, text: last.text, html: last.html, choices, typed };
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
      const row = await sql.get<GateRow>(
        `SELECT ${COLUMNS} FROM messaging_gates WHERE channel = ? AND id = ? AND answer IS NULL`,
        ...[channel, id],
      );
      if (row === undefined) return "This was answered already.";
      if (row.user !== user) return "Only the person who was asked can answer this.";
      const choice = parse(row).choices[Number(at)];
      return choice ? answerOf(row, choice) : "This was answered already.";
    },

    /** What a typed text answers of the open questions; a sentence if it fits none or several. `at`: when it was typed. */
    async typed(
      text: string,
      { line, user }: Recipient,
      at: number,
    ): Promise<GateAnswer | string | undefined> {
      const open = await openIn(line, user);
      const trimmed = text.trim();
      const words = trimmed.split(/\s+/);
      const [first = ""] = words;
      const last = words.at(-1) ?? "";
      for (const row of open) {
        const isCode = (word: string) => word.toLowerCase().replaceAll(/[^a-z\d]/g, "") === codeOf(row.id);
        if (isCode(first)) return namedAnswer(row, trimmed.slice(first.length).trimStart());
        if (isCode(last)) return namedAnswer(row, trimmed.slice(0, -last.length).trimEnd());
      }
      if (ANSWER_TO_ONE.test(trimmed)) return NO_SUCH_CODE;
      const [only, ...others] = open;
      const isClear = only !== undefined && others.length === 0 && isShown(only, at);
      if (isClear) return answerTo(only, text, hasButtons(parse(only).choices));
      const isAnswer = open.some((row) => answerTo(row, text, hasButtons(parse(row).choices)) !== undefined);
      return isAnswer ? whichOf(open) : undefined;
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

const LETTERS = "abcdefhkmnprstuwxyz";
const DIGITS = "23456789";
const ANSWER_TO_ONE = new RegExp(`^\\d{1,2}\\W+[${LETTERS}][${DIGITS}][${LETTERS}]$`, "i");

/** What a person types to name a question: neither a number nor a word. */
function codeOf(gate: string): string {
  const bytes = createHash("sha256").update(gate).digest();
  return [LETTERS, DIGITS, LETTERS].map((from, at) => from[(bytes[at] as number) % from.length]).join("");
}

const parse = ({ content }: GateRow): AskedGate => JSON.parse(content) as AskedGate;

function isShown({ sent }: GateRow, at: number): boolean {
  const shown = sent === null ? undefined : (JSON.parse(sent) as { readonly at?: string }).at;
  return shown !== undefined && at + CLOCK_MS >= Date.parse(shown);
}

/** The answer that a text is to this question; a sentence where it does not fit, and undefined where it is something else. */
function answerTo(row: GateRow, text: string, hasButtons: boolean): GateAnswer | string | undefined {
  const { choices, typed } = parse(row);
  const given = text.trim();
  // Beside buttons there are no numbers: one that is typed is not an answer to this.
  const [, number] = hasButtons ? [] : (/^(\d{1,2})[.)]?$/.exec(given) ?? []);
  const choice =
    (number === undefined ? undefined : choices[Number(number) - 1]) ??
    choices.find(({ label }) => label.toLowerCase() === given.toLowerCase());
  if (choice) return answerOf(row, choice);
  if (typed === undefined) return undefined;
  const value = typedValue(typed.field, given);
  const mistake = mistakeIn(typed.field, value);
  if (mistake) return `${typed.field.label} ${mistake}.`;
  return answerOf(row, { label: visibleLine(given), input: accept(row.id, typed, value) });
}

/** The answer to a question that was named by its code. */
function namedAnswer(row: GateRow, text: string): GateAnswer | string {
  return answerTo(row, text, false) ?? `That is no answer to this question:\n\n${listed([row])}`;
}

const NO_SUCH_CODE =
  "No open question has that code: it may have been answered already. /approvals asks again what is open.";

function whichOf(open: readonly GateRow[]): string {
  const [{ id }] = open as [GateRow];
  return `Say which question you answer by its code, as in "1 ${codeOf(id)}":\n\n${listed(open)}`;
}

function listed(open: readonly GateRow[]): string {
  return open
    .map((row) => {
      const { title = "", choices } = parse(row);
      const answers = choices.map(({ label }, at) => `${at + 1} ${escapeMarkdown(label)}`).join(", ");
      return `- ${codeOf(row.id)}: ${escapeMarkdown(title)} (${answers})`;
    })
    .join("\n");
}

function answerOf(row: GateRow, { label, input }: GateChoice): GateAnswer {
  const { thread, isOfTask } = parse(row);
  return { gate: row.id, thread, isOfTask, label, input };
}

function accept(gate: string, { key, field }: NonNullable<GateWording["typed"]>, value: unknown): TurnInput {
  return { type: "question", gate, replies: [{ key, action: "accept", content: { [field.name]: value } }] };
}

function typedValue({ kind }: Field, text: string): string | number {
  return kind === "number" || kind === "integer" ? Number(text) : text;
}
