/** A thread as Markdown. What a tool or a stranger wrote stays in its fence, and an answer in its place. */
import { visible, visibleJson, visibleLine } from "../../../../kernel/kit/text.ts";
import type { ThreadSummary } from "../../../../kernel/kit/turns.ts";
import type { Attachment, ToolCall, TurnInput, TurnItem, TurnRecord } from "../../../../kernel/plugin.ts";
import { contain, fence, inCode, plain } from "./containment.ts";

/** JSON that is longer is not laid out in lines. */
const MAX_PRETTY_LENGTH = 100_000;

export async function* toMarkdown(
  { title, createdAt }: ThreadSummary,
  turns: AsyncIterable<TurnRecord>,
): AsyncGenerator<string> {
  yield `# ${plain(visibleLine(title))}\n\n${timeOf(createdAt)}\n`;
  const names = new Map<string, string>();
  for await (const turn of turns) yield `\n${blocksOf(turn, names).join("\n\n")}\n`;
}

/** `names` has the tools of calls whose outcome comes in a later turn. */
function blocksOf(turn: TurnRecord, names: Map<string, string>): readonly string[] {
  const { model, createdAt, completedAt } = turn;
  const asked = inputBlocks(turn.input);
  const told = itemBlocks(turn, names);
  const heading = `## Postern · ${timeOf(completedAt ?? createdAt)} · ${plain(visibleLine(model.name))}`;
  return [
    ...(asked.length > 0 ? [`## You · ${timeOf(createdAt)}`, ...asked] : []),
    ...(told.length > 0 ? [heading, ...told] : []),
  ];
}

const timeOf = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`;

const DECISIONS = {
  once: "Allowed once.",
  always: "Always allowed.",
  destination: "Allowed, and to this destination from now on.",
  rule: "Allowed, and by a rule from now on.",
  deny: "Denied.",
  done: "Signed in.",
};

function inputBlocks(input: TurnInput): readonly string[] {
  switch (input.type) {
    case "message":
      return [contain(input.text), ...attached(input.attachments)];
    case "approval":
    case "authentication":
      return [DECISIONS[input.decision]];
    case "question":
      return input.replies.map(({ action, content = {} }) =>
        action === "accept" ? fence(pretty(JSON.stringify(content)), "json") : "Declined.",
      );
    case "tool_output":
      return [];
    case "tool_outputs":
      return [...(input.text ? [contain(input.text)] : []), ...attached(input.attachments)];
  }
}

type ResultItem = Extract<TurnItem, { type: "tool_result" }>;

function itemBlocks(turn: TurnRecord, names: Map<string, string>): readonly string[] {
  const results = new Map<string, ResultItem>();
  for (const item of turn.items) if (item.type === "tool_result") results.set(item.call, item);
  const blocks = turn.items.flatMap((item): readonly string[] => {
    if (item.type === "message") return messageBlocks(item, turn.input);
    if (item.type === "reasoning") return [folded("Reasoning", contain(item.text))];
    if (item.type === "tool_call") {
      const { call } = item;
      const result = results.get(call.id);
      results.delete(call.id);
      if (result === undefined) names.set(call.id, call.name);
      return [callBlock(call, result)];
    }
    // With its call, unless that was in an earlier turn.
    const name = names.get(item.call);
    if (!results.has(item.call) || name === undefined) return [];
    names.delete(item.call);
    return [folded(`Result of ${html(name)}`, resultBlocks(item))];
  });
  return [...blocks, ...endBlocks(turn)];
}

function messageBlocks(
  { role, text, attachments }: Extract<TurnItem, { type: "message" }>,
  input: TurnInput,
): readonly string[] {
  if (role === "assistant") return [contain(text), ...attached(attachments)];
  // The turn's own is written above it; others were brought along with it.
  if (role === "user" && input.type === "message" && input.text === text) return [];
  return [`**${role === "user" ? "You" : "Instructions"}:**`, contain(text), ...attached(attachments)];
}

function callBlock({ name, params }: ToolCall, result: ResultItem | undefined): string {
  const state =
    result === undefined ? "no result yet" : result.outcome.status === "ok" ? "succeeded" : "failed";
  const parts = ["Parameters:", fence(pretty(params), "json"), ...(result ? [resultBlocks(result)] : [])];
  return folded(`Tool ${html(name)}, ${state}`, parts.join("\n\n"));
}

function resultBlocks({ outcome, attachments }: ResultItem): string {
  const parts =
    outcome.status === "ok"
      ? ["Result:", fence(pretty(outcome.output))]
      : ["Error:", fence(visible(outcome.message))];
  return [...parts, ...attached(attachments)].join("\n\n");
}

function endBlocks({ status, error, gate, incomplete }: TurnRecord): readonly string[] {
  if (error !== undefined) return [`Failed (${inCode(error.code)}):`, fence(visible(error.message))];
  if (status === "waiting" && gate !== undefined)
    return [`_Waiting for you: ${inCode(visibleLine(gate.call.name))}_`];
  if (status === "cancelled") return ["_Stopped._"];
  if (status === "running" || status === "queued") return ["_Not finished yet._"];
  return incomplete === undefined ? [] : [`_Incomplete (${inCode(incomplete)})._`];
}

function attached(attachments: readonly Attachment[] = []): readonly string[] {
  const lines = attachments.map(
    ({ name, kind, mime }) =>
      `- Attached: ${inCode(visibleLine(name ?? kind))} (${plain(visibleLine(mime))})`,
  );
  return lines.length === 0 ? [] : [lines.join("\n")];
}

const folded = (summary: string, inside: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${inside}\n\n</details>`;

function html(text: string): string {
  const safe = visibleLine(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return `<code>${safe}</code>`;
}

function pretty(json: string): string {
  if (json.length > MAX_PRETTY_LENGTH) return visible(json);
  try {
    return visibleJson(JSON.stringify(JSON.parse(json), null, 2));
  } catch {
    return visible(json);
  }
}
