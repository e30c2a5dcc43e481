/** What a chat shows of a gate: its question in Markdown, and the answers to choose from. */

import { decisionsAt, type Field, fieldsOf, type Piece, sayRule, tell } from "../../kernel/kit/display.ts";
import { isRecord, tryJson, visible, visibleJson, visibleLine } from "../../kernel/kit/text.ts";
import type { Doubt, PlannedStep } from "../../kernel/kit/turns.ts";
import type { Gate, Question, Reply, TurnInput } from "../../kernel/plugin.ts";
import { escapeMarkdown } from "./text/marks.ts";

export interface GateChoice {
  readonly label: string;
  readonly input: TurnInput;
}

export interface GateWording {
  /** One line that tells it from other questions. */
  readonly title: string;
  /** In Markdown. */
  readonly words: string;
  readonly choices: readonly GateChoice[];
  /** What is typed next is the answer to it. */
  readonly typed?: { readonly key: string; readonly field: Field } | undefined;
}

/** Of all calls that one approval is about. More than this is not agreed to in a chat. */
const MAX_SHOWN = 6000;
const MAX_TITLE = 100;

export function wordGate(gate: Exclude<Gate, { type: "external_tool" }>): GateWording {
  if (gate.type === "approval") return approval(gate);
  if (gate.type === "question") return serverQuestion(gate);
  const input = (decision: "done" | "deny"): TurnInput => ({
    type: "authentication",
    gate: gate.id,
    decision,
  });
  return {
    title: `${visibleLine(gate.call.name)} needs a credential.`,
    words: `**${escapeMarkdown(gate.call.name)} needs a credential.** ${escapeMarkdown(gate.message)}`,
    choices: [
      { label: "Try again", input: input("done") },
      { label: "Deny", input: input("deny") },
    ],
  };
}

function approval(gate: Extract<Gate, { type: "approval" }>): GateWording {
  const { call, others = [], grants, doubts = [], steps, offer } = gate;
  const labels = {
    once: steps ? "Allow these steps" : others.length > 0 ? "Allow all of them once" : "Allow once",
    always: "Always allow this tool",
    destination: "Allow, and this destination from now on",
    rule: offer ? `Allow, and ${sayRule(offer)} from now on` : "",
    deny: "Deny",
  };
  const calls = steps ? steps.map(stepWords) : [call, ...others].map(({ params }) => paramLines(params));
  const all = calls.join("\n\n");
  const isWhole = all.length <= MAX_SHOWN;
  const may = doubts.length > 0 ? [] : grants.map((grant) => `- ${escapeMarkdown(grant)}`);
  const question = steps ? `May these ${steps.length} steps be made?` : `May ${visibleLine(call.name)} run?`;
  const words = [
    ...(doubts.length > 0 ? reasons(doubts) : [`**${escapeMarkdown(question)}**`]),
    ...(others.length > 0
      ? [`${calls.length} calls of ${escapeMarkdown(call.name)}, one answer for all:`]
      : []),
    ...(isWhole
      ? [all]
      : [
          fence(all.slice(0, MAX_SHOWN).toWellFormed()),
          "This is only its beginning. Read all of it and allow it in the web UI or the terminal.",
        ]),
    ...(may.length > 0 ? [may.join("\n")] : []),
  ].join("\n\n");
  const decisions = decisionsAt(gate);
  return {
    title:
      `${question} ${steps ? steps.map(({ title }) => visibleLine(title)).join(", ") : visibleJson(call.params)}`
        .slice(0, MAX_TITLE)
        .toWellFormed(),
    words,
    choices: (isWhole ? decisions : decisions.filter((one) => one === "deny")).map((decision) => ({
      label: labels[decision],
      input: { type: "approval", gate: gate.id, decision },
    })),
  };
}

/** Who else said a value stands before it, so that no value can deny it. */
function stepWords({ title, note, values }: PlannedStep, at: number): string {
  const lines = values.map(({ param, value, from, called }) => {
    const name = called === undefined ? "" : ` “${escapeMarkdown(called)}”`;
    const whose = from === undefined ? "" : ` *(${escapeMarkdown(from)})*`;
    return `- ${escapeMarkdown(param)}${name}${whose}:${value === "" ? "" : ` **${escapeMarkdown(value)}**`}`;
  });
  const why = note === undefined ? "" : `: ${note}`;
  return [`${at + 1}\\. **${escapeMarkdown(visibleLine(title))}**${why}`, ...lines].join("\n");
}

/** The strongest reason, with what a stranger said, and what else is not the person's. */
function reasons(doubts: readonly Doubt[]): readonly string[] {
  const { leads, also } = tell(doubts);
  const bold = (pieces: readonly Piece[]) =>
    pieces.map(({ text, mark }) => (mark ? `**${escapeMarkdown(text)}**` : escapeMarkdown(text))).join("");
  return [
    ...leads.flatMap(({ sentence, excerpt }) => [
      bold(sentence),
      ...(excerpt ? [`> ${escapeMarkdown(visibleLine(excerpt.map(({ text }) => text).join("")))}`] : []),
    ]),
    ...(also === "" ? [] : [`Also not yours: ${escapeMarkdown(also)}`]),
  ];
}

/** Each parameter on a line of its own, with its name in bold; a text of several lines as a block. */
function paramLines(params: string): string {
  const given = tryJson(params);
  if (!isRecord(given)) return escapeMarkdown(visibleLine(params));
  const lines = Object.entries(given).map(([name, value]) => {
    const label = `**${escapeMarkdown(visibleLine(name))}:**`;
    if (typeof value !== "string") return `${label} ${escapeMarkdown(visibleJson(JSON.stringify(value)))}`;
    return value.includes("\n")
      ? `${label}\n${fence(visible(value))}`
      : `${label} ${escapeMarkdown(visibleLine(value))}`;
  });
  return lines.join("\n");
}

/** What a server asks: with one field it is answered here, with more on the page. */
function serverQuestion(gate: Extract<Gate, { type: "question" }>): GateWording {
  const { server, questions } = gate;
  const reply = (replies: readonly Reply[]): TurnInput => ({
    type: "question",
    gate: gate.id,
    replies: [...replies],
  });
  const decline: GateChoice = {
    label: "Decline",
    input: reply(questions.map(({ key }) => ({ key, action: "decline" as const }))),
  };
  const asked = questions
    .map(({ message, url }) => `${escapeMarkdown(message)}${url === undefined ? "" : `\n${url}`}`)
    .join("\n\n");
  const words = `**${escapeMarkdown(server)} asks:** ${asked}`;
  const title = visibleLine(`${server} asks: ${questions.map(({ message }) => message).join(" ")}`)
    .slice(0, MAX_TITLE)
    .toWellFormed();
  const accepted = (content?: Record<string, unknown>): TurnInput =>
    reply(questions.map(({ key }) => ({ key, action: "accept" as const, ...(content ? { content } : {}) })));
  const fields = questions.flatMap((one) => (one.url === undefined ? (fieldsOf(one.schema) ?? []) : []));
  if (fields.length === 0) return { title, words, choices: [{ label: "Done", input: accepted() }, decline] };
  const [field] = fields as [Field];
  if (fields.length > 1 || questions.length > 1 || field.kind === "choices")
    return {
      title,
      words: `${words}\n\nAnswer it in the web UI or the terminal, or decline.`,
      choices: [decline],
    };
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
    return { title, words: `${words}\n\n${escapeMarkdown(field.label)}`, choices: [...choices, decline] };
  }
  return {
    title,
    words: `${words}\n\n${escapeMarkdown(field.label)}: reply with the answer.`,
    choices: [decline],
    typed: { key, field },
  };
}

/** Longer than any run of marks inside. */
function fence(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const marks = "`".repeat(longest + 1);
  return `${marks}\n${text}\n${marks}`;
}
