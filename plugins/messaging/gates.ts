/**
 * Gates in a chat: the sentence of one with its answers as buttons, or as numbers to type. A gate that is told here can be answered
 * on the page and the other way round; whichever answer is first counts, and the message here says that it was given.
 */
import {
  decisionsAt,
  type Field,
  fieldsOf,
  mistakeIn,
  visibleJson,
  visibleLine,
  whyHeld,
} from "../../kernel/kit.ts";
import type { Gate, Question, Reply, Services, Sql, Transaction, TurnInput } from "../../kernel/plugin.ts";
import type { Part, Recipient } from "./outbox.ts";
import type { ChatService, SentMessage } from "./services.ts";
import { writeMessages } from "./text/markdown.ts";

/** What is kept of a gate while nobody has answered it. */
interface AskedGate {
  readonly thread: string;
  /** As it was sent, without the answers. */
  readonly text: string;
  readonly html?: string | undefined;
  readonly choices: readonly Choice[];
  /** What is typed next is the answer to it. */
  readonly typed?: { readonly key: string; readonly field: Field } | undefined;
  /** A delegated task asked it: its turn's answer is for whoever delegated it, and not for the chat. */
  readonly isOfTask: boolean;
}

interface Choice {
  readonly label: string;
  readonly input: TurnInput;
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

type Asking = Exclude<Gate, { type: "external_tool" }>;

/** Of all calls that one approval is about. More than this is not agreed to in a chat. */
const MAX_SHOWN = 6000;
const PRESSED = /^gate:([\w-]{1,64}):(\d{1,3})$/;
const COLUMNS = 'id, "user", conversation, line, content, sent, answer';

export function createGates(
  sql: Sql,
  service: ChatService,
  approvals: Pick<Services["approvals"], "pending">,
) {
  const channel = service.name;
  const hasButtons = (choices: readonly Choice[]) => choices.length <= service.limits.buttons;

  async function find(condition: string, ...values: string[]): Promise<GateRow | undefined> {
    return sql.get<GateRow>(
      `SELECT ${COLUMNS} FROM messaging_gates WHERE channel = ? AND ${condition} AND answer IS NULL
       ORDER BY opened_at DESC LIMIT 1`,
      ...[channel, ...values],
    );
  }

  return {
    /** The messages that ask it, and what has to be kept for its answer, in the transaction that makes them due. */
    ask(
      gate: Gate,
      to: Recipient,
    ): { readonly parts: readonly Part[]; keep(tx: Transaction): Promise<unknown> } | undefined {
      if (gate.type === "external_tool") return undefined;
      const { words, choices, typed } = question(gate);
      const path = gate.task?.path.map(visibleLine).map(plain).join(" › ");
      const asked = path === undefined ? words : `${words}\n\nA delegated task asks this: ${path}`;
      const numbered = choices.map(({ label }, at) => `${at + 1}. ${label}`).join("\n");
      const how = hasButtons(choices)
        ? ""
        : `\n\n${numbered}\n\nReply with the number${typed ? ", or with the answer" : ""}.`;
      const parts = writeMessages(asked + how, {
        format: service.format,
        characters: service.limits.characters,
      });
      const last = parts.at(-1) as Part;
      const buttons = choices.map(({ label }, at) => ({ text: label, value: `gate:${gate.id}:${at}` }));
      const { thread } = gate;
      const isOfTask = gate.task !== undefined;
      const kept: AskedGate = { thread, isOfTask, text: last.text, html: last.html, choices, typed };
      return {
        parts: hasButtons(choices) ? [...parts.slice(0, -1), { ...last, buttons }] : parts,
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
      if (choice ?? named) return answerOf(row, (choice ?? named) as Choice);
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

    /** Notes which gates were answered elsewhere, and returns those whose message here does not say so yet. */
    async settle(): Promise<readonly ClosedGate[]> {
      const rows = await sql.all<GateRow>(
        `SELECT ${COLUMNS} FROM messaging_gates WHERE channel = ?`,
        channel,
      );
      const open = rows.filter(({ answer }) => answer === null);
      const pending = new Set<string>();
      for (const user of new Set(open.map(({ user }) => user)))
        for (const { id } of await approvals.pending(user)) pending.add(id);
      const closed = rows.flatMap((row): readonly ClosedGate[] => {
        const isElsewhere = row.answer === null && !pending.has(row.id);
        if (row.answer === null && !isElsewhere) return [];
        const { text, html } = JSON.parse(row.content) as AskedGate;
        const sent = row.sent === null ? undefined : (JSON.parse(row.sent) as SentMessage);
        return [{ id: row.id, to: row, text, html, sent, answer: row.answer ?? undefined }];
      });
      return closed;
    },
    forget: (tx: Transaction, id: string) => tx.run("DELETE FROM messaging_gates WHERE id = ?", id),
  };
}

export interface ClosedGate {
  readonly id: string;
  readonly to: { readonly conversation: string; readonly line: string; readonly user: string };
  readonly text: string;
  readonly html: string | undefined;
  readonly sent: SentMessage | undefined;
  /** Absent where it was answered elsewhere. */
  readonly answer: string | undefined;
}

function answerOf(row: GateRow, { label, input }: Choice): GateAnswer {
  const { thread, isOfTask } = JSON.parse(row.content) as AskedGate;
  return { gate: row.id, thread, isOfTask, label, input };
}

interface Wording {
  /** In Markdown. */
  readonly words: string;
  readonly choices: readonly Choice[];
  readonly typed?: AskedGate["typed"];
}

function question(gate: Asking): Wording {
  if (gate.type === "approval") return approval(gate);
  if (gate.type === "question") return serverQuestion(gate);
  const input = (decision: "done" | "deny"): TurnInput => ({
    type: "authentication",
    gate: gate.id,
    decision,
  });
  return {
    words: `**${plain(gate.call.name)} needs a credential.** ${plain(gate.message)}`,
    choices: [
      { label: "Try again", input: input("done") },
      { label: "Deny", input: input("deny") },
    ],
  };
}

function approval(gate: Extract<Gate, { type: "approval" }>): Wording {
  const { call, others = [], grants, doubts = [] } = gate;
  const labels = {
    once: others.length > 0 ? "Allow all of them once" : "Allow once",
    always: "Always allow this tool",
    destination: "Allow, and this destination from now on",
    deny: "Deny",
  };
  const why = whyHeld(gate);
  const calls = [call, ...others].map(({ name, params }) => `${visibleLine(name)} ${visibleJson(params)}`);
  const all = calls.join("\n");
  const isWhole = all.length <= MAX_SHOWN;
  const may = doubts.length > 0 ? [] : grants.map((grant) => `- ${plain(grant)}`);
  const words = [
    `**May ${plain(call.name)} run?**${why === "" ? "" : ` ${plain(why)}`}`,
    fence(all.slice(0, MAX_SHOWN).toWellFormed()),
    ...(isWhole
      ? []
      : ["This is only its beginning. Read all of it and allow it in the web UI or the terminal."]),
    ...(may.length > 0 ? [may.join("\n")] : []),
  ].join("\n\n");
  const decisions = decisionsAt(gate);
  return {
    words,
    choices: (isWhole ? decisions : decisions.filter((one) => one === "deny")).map((decision) => ({
      label: labels[decision],
      input: { type: "approval", gate: gate.id, decision },
    })),
  };
}

/** What a server asks: with one field it is answered here, with more on the page. */
function serverQuestion(gate: Extract<Gate, { type: "question" }>): Wording {
  const { server, questions } = gate;
  const reply = (replies: readonly Reply[]): TurnInput => ({
    type: "question",
    gate: gate.id,
    replies: [...replies],
  });
  const decline: Choice = {
    label: "Decline",
    input: reply(questions.map(({ key }) => ({ key, action: "decline" as const }))),
  };
  const asked = questions
    .map(({ message, url }) => `${plain(message)}${url === undefined ? "" : `\n${url}`}`)
    .join("\n\n");
  const words = `**${plain(server)} asks:** ${asked}`;
  const accepted = (content?: Record<string, unknown>): TurnInput =>
    reply(questions.map(({ key }) => ({ key, action: "accept" as const, ...(content ? { content } : {}) })));
  const fields = questions.flatMap((one) => (one.url === undefined ? (fieldsOf(one.schema) ?? []) : []));
  if (fields.length === 0) return { words, choices: [{ label: "Done", input: accepted() }, decline] };
  const [field] = fields as [Field];
  if (fields.length > 1 || questions.length > 1 || field.kind === "choices")
    return { words: `${words}\n\nAnswer it in the web UI or the terminal, or decline.`, choices: [decline] };
  const [{ key }] = questions as [Question];
  if (field.kind === "boolean" || field.kind === "choice") {
    const options =
      field.kind === "boolean"
        ? [
            { label: "Yes", value: true },
            { label: "No", value: false },
          ]
        : (field.choices ?? []);
    const choices = options.map(({ label, value }) => ({
      label: visibleLine(label),
      input: accepted({ [field.name]: value }),
    }));
    return { words: `${words}\n\n${plain(field.label)}`, choices: [...choices, decline] };
  }
  return {
    words: `${words}\n\n${plain(field.label)}: reply with the answer.`,
    choices: [decline],
    typed: { key, field },
  };
}

function accept(gate: string, { key, field }: NonNullable<AskedGate["typed"]>, value: unknown): TurnInput {
  return { type: "question", gate, replies: [{ key, action: "accept", content: { [field.name]: value } }] };
}

function typedValue({ kind }: Field, text: string): string | number {
  return kind === "number" || kind === "integer" ? Number(text) : text;
}

/** A stranger's words, so that none of them is a mark. */
function plain(text: string): string {
  return text.replaceAll(/[\\`*_~[\]<>#|]/g, (mark) => `\\${mark}`);
}

/** Longer than any run of marks inside. */
function fence(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const marks = "`".repeat(longest + 1);
  return `${marks}\n${text}\n${marks}`;
}
