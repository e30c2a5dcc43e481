/** The items of a turn as a model reads them: secrets hidden, and what strangers wrote marked as theirs. */

import { setImmediate } from "node:timers/promises";
import { isLong } from "../../../../kernel/kit/concurrency.ts";
import { redact } from "../../../../kernel/kit/secrets.ts";
import { isRecord } from "../../../../kernel/kit/text.ts";
import type { Outside } from "../../../../kernel/kit/turns.ts";
import { escapeTags, wrapOutput } from "../../../../kernel/kit/untrusted.ts";
import type { Mask, ToolCall, ToolOutcome, TurnItem } from "../../../../kernel/plugin.ts";
import type { Preamble } from "../../services.ts";
import type { RenderedMessage } from "../tokens.ts";
import { redactLong } from "./long-texts.ts";

/** Text that came with the user's message and stays with it. */
export type Preface = Pick<Preamble, "instructions" | "context" | "outside">;

/** Calls of the caller's functions, whose names may be those of tools of ours. */
const callers = new WeakSet<ToolCall>();

const NO_RESULT = "There is no result: the turn ended before the call did.";

export interface Show {
  readonly mask: Mask;
  /** Own tools whose output is meant to be followed. */
  readonly trusted: ReadonlySet<string>;
  /** Messages and results already rendered: a turn is rendered anew for each answer of the model. */
  readonly outputs?: WeakMap<TurnItem, string>;
  /** True where it is only counted, and nobody is shown it: looking for secrets takes long in a long text. */
  readonly isCounted?: boolean;
  /** Long texts without their secrets. */
  readonly hidden?: ReadonlyMap<string, string>;
}

const hideSecrets = ({ mask, hidden, isCounted = false }: Show, text: string): string =>
  isCounted ? text : (hidden?.get(text) ?? redact(mask, text));

/** Hides what is secret in the texts of a turn, before it is rendered at a stretch; if they are short, that is soon done there. */
export async function hideLong(
  mask: Mask,
  items: readonly TurnItem[],
  preface: Preface,
  hidden = new Map<string, string>(),
): Promise<ReadonlyMap<string, string>> {
  const texts = [...textsOf(items, preface)];
  if (!isLong({ length: texts.reduce((sum, text) => sum + text.length, 0) })) return hidden;
  let length = 0;
  for (const text of texts) {
    if (hidden.has(text)) continue;
    hidden.set(text, await redactLong(mask, text));
    length += text.length;
    if (!isLong({ length })) continue;
    length = 0;
    await setImmediate();
  }
  return hidden;
}

function* textsOf(
  items: readonly TurnItem[],
  { instructions, context, outside }: Preface,
): Generator<string> {
  if (instructions) yield instructions;
  if (context) yield renderContext(context);
  if (outside?.data !== undefined) yield JSON.stringify(outside.data);
  for (const item of items)
    if (item.type === "tool_result") yield resultOf(item.outcome);
    else if (item.type === "message" && item.outside?.data !== undefined) {
      yield JSON.stringify(item.outside.data);
      yield item.text;
    } else if (item.type !== "tool_call") yield item.text;
}

const resultOf = (outcome: ToolOutcome): string =>
  outcome.status === "ok" ? outcome.output : outcome.message;

export function renderItems(
  items: readonly TurnItem[],
  preface: Preface,
  open: readonly ToolCall[],
  show: Show,
) {
  const messages: RenderedMessage[] = [];
  let waiting = [...open];
  const results = new Map<ToolCall, RenderedMessage>();
  // The calls of the last message, while it can still take one.
  let answer: ToolCall[] | undefined;
  // The thoughts before the next answer.
  let thoughts = "";
  // What came with the turn belongs to the message that began it, not to those that it took while it ran.
  let before = preface;

  // Calls that ran side by side end in any order; their results are told in the order of the calls.
  const flush = (): void => {
    for (const call of waiting) {
      const result = results.get(call);
      if (result !== undefined) messages.push(result);
    }
    waiting = waiting.filter((call) => !results.has(call));
    results.clear();
  };
  const close = (): void => {
    flush();
    messages.push(...withoutResult(waiting));
    waiting = [];
  };

  const answerWith = (text: string, calls: ToolCall[]): void => {
    const reasoning = hideSecrets(show, thoughts);
    thoughts = "";
    messages.push({ role: "assistant", text, calls, ...(reasoning !== "" && { reasoning }) });
  };

  for (const item of items) {
    if (item.type === "reasoning") thoughts = item.text;
    else if (item.type === "tool_result") {
      const call = waiting.find((other) => other.id === item.call && !results.has(other));
      if (call === undefined) continue;
      results.set(call, {
        role: "tool",
        call,
        output: outputOf(item, call, item.outcome, show),
        failed: item.outcome.status !== "ok",
        ...attachedTo(item),
      });
      answer = undefined;
    } else if (item.type === "tool_call") {
      if (answer === undefined) {
        close();
        answer = [];
        answerWith("", answer);
      }
      answer.push(item.call);
      waiting.push(item.call);
      if (item.external) callers.add(item.call);
    } else {
      close();
      answer = item.role === "assistant" ? [] : undefined;
      if (answer === undefined) {
        messages.push(renderUser(item, item.outside ? item : before, show));
        if (item.role === "user") before = {};
      } else answerWith(hideSecrets(show, item.text), answer);
    }
  }
  flush();
  const hasMessage = items.some((item) => item.type === "message" && item.role !== "assistant");
  return { messages: hasMessage ? messages : withInstructions(messages, preface, show), open: waiting };
}

/** A turn without a message has its instructions at its beginning, after the results it brings. */
function withInstructions(
  messages: RenderedMessage[],
  { instructions }: Preface,
  show: Show,
): RenderedMessage[] {
  if (!instructions) return messages;
  const found = messages.findIndex(({ role }) => role !== "tool");
  const at = found === -1 ? messages.length : found;
  const said = { role: "user", text: renderBlock("instructions", hideSecrets(show, instructions)) } as const;
  return messages.toSpliced(at, 0, said);
}

/** Results that never came, so that what follows them is well-formed. */
export function withoutResult(calls: readonly ToolCall[]): RenderedMessage[] {
  return calls.map((call) => ({ role: "tool", call, output: NO_RESULT, failed: true }));
}

function renderUser(
  item: Extract<TurnItem, { type: "message" }>,
  preface: Preface,
  show: Show,
): RenderedMessage {
  const text = show.outputs?.get(item) ?? messageText(item, preface, show);
  show.outputs?.set(item, text);
  return { role: "user", text, ...(item.role !== "system" && attachedTo(item)) };
}

function messageText(item: Extract<TurnItem, { type: "message" }>, preface: Preface, show: Show): string {
  if (item.role === "system") return renderBlock("instructions", hideSecrets(show, item.text));
  const { instructions, context, outside } = preface;
  const blocks = [
    ...(instructions ? [renderBlock("instructions", hideSecrets(show, instructions))] : []),
    ...(context ? [renderBlock("user-context", hideSecrets(show, renderContext(context)))] : []),
    ...(outside?.data === undefined
      ? []
      : [wrapOutput(hideSecrets(show, JSON.stringify(outside.data)), outside.origin)]),
    renderWords(item.text, outside?.spans ?? [], (text) => escapeTags(hideSecrets(show, text))),
  ];
  return blocks.join("\n\n");
}

function attachedTo({ attachments }: Extract<TurnItem, { type: "message" | "tool_result" }>) {
  return attachments?.length ? { attachments } : {};
}

/** The message, with what people outside wrote in it marked as theirs. */
function renderWords(
  text: string,
  spans: NonNullable<Outside["spans"]>,
  show: (text: string) => string,
): string {
  let end = 0;
  const pieces = spans.map(({ from, to }) => {
    const piece = `${show(text.slice(end, from))}<outside>${show(text.slice(from, to))}</outside>`;
    end = to;
    return piece;
  });
  return `${pieces.join("")}${show(text.slice(end))}`;
}

export function renderBlock(tag: string, text: string): string {
  return `<${tag}>\n${escapeTags(text)}\n</${tag}>`;
}

function outputOf(item: TurnItem, call: ToolCall, outcome: ToolOutcome, show: Show): string {
  const known = show.outputs?.get(item);
  if (known !== undefined) return known;
  const text = hideSecrets(show, resultOf(outcome));
  const isTrusted = show.trusted.has(call.name) && !callers.has(call);
  const output = isTrusted ? text : wrapOutput(text, call.name);
  show.outputs?.set(item, output);
  return output;
}

/** §2.5 What a caller tells about the user: keys and their fields as lines, all that is deeper as raw JSON. */
export function renderContext(context: Readonly<Record<string, unknown>>): string {
  return Object.entries(context)
    .flatMap(([key, value]) =>
      isFields(value)
        ? [
            `${plain(key)}:`,
            ...Object.entries(value).map(([name, inner]) => `  ${plain(name)}: ${showField(inner)}`),
          ]
        : [`${plain(key)}: ${showField(value)}`],
    )
    .join("\n");
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && Object.keys(value).length > 0;
}

function showField(value: unknown): string {
  return typeof value === "string" ? plain(value) : JSON.stringify(value);
}

/** As it is, unless it would read as more lines, as something other than a text, or as nothing. */
function plain(text: string): string {
  return /^$|^\s|\s$|[\p{Cc}\u2028\u2029]|^[[{"]/u.test(text) ? JSON.stringify(text) : text;
}
