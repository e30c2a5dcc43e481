/** The items of a turn as a model reads them: secrets hidden, and what strangers wrote marked as theirs. */

import {
  escapeTags,
  type Outside,
  type RenderedMessage,
  redact,
  wrapOutput,
} from "../../../../kernel/kit.ts";
import type { Mask, ToolCall, ToolOutcome, TurnItem } from "../../../../kernel/plugin.ts";
import { renderContext } from "./user-context.ts";

/** What came with the user's message and stays with it. */
export interface Preface {
  readonly instructions: string | undefined;
  readonly context: Readonly<Record<string, unknown>> | undefined;
  readonly outside?: Outside | undefined;
}

/** Calls of the caller's functions, whose names may be those of tools of ours. */
const callers = new WeakSet<ToolCall>();

const NO_RESULT = "There is no result: the turn ended before the call did.";

export interface Show {
  readonly mask: Mask;
  /** Own tools whose output is meant to be followed. */
  readonly trusted: ReadonlySet<string>;
  /** Results already rendered: a turn is rendered anew for each answer of the model. */
  readonly outputs?: WeakMap<TurnItem, string>;
}

export interface Rendered {
  readonly messages: RenderedMessage[];
  /** Calls that still wait for their results. */
  readonly open: readonly ToolCall[];
}

export function renderItems(
  items: readonly TurnItem[],
  preface: Preface,
  open: readonly ToolCall[],
  show: Show,
): Rendered {
  const messages: RenderedMessage[] = [];
  let waiting = [...open];
  const results = new Map<ToolCall, RenderedMessage>();
  // The calls of the last message, while it can still take one.
  let answer: ToolCall[] | undefined;
  // What was thought before the next answer.
  let thoughts = "";

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
    const reasoning = redact(show.mask, thoughts);
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
        ...(item.attachments?.length && { attachments: item.attachments }),
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
      if (answer === undefined) messages.push(renderUser(item, preface, show));
      else answerWith(redact(show.mask, item.text), answer);
    }
  }
  flush();
  return { messages, open: waiting };
}

/** Results that never came, so that what follows them is well-formed. */
export function withoutResult(calls: readonly ToolCall[]): RenderedMessage[] {
  return calls.map((call) => ({ role: "tool", call, output: NO_RESULT, failed: true }));
}

function renderUser(
  item: Extract<TurnItem, { type: "message" }>,
  preface: Preface,
  { mask }: Show,
): RenderedMessage {
  if (item.role === "system")
    return { role: "user", text: renderBlock("instructions", redact(mask, item.text)) };
  const blocks = [
    ...(preface.instructions ? [renderBlock("instructions", redact(mask, preface.instructions))] : []),
    ...(preface.context ? [renderBlock("user-context", redact(mask, renderContext(preface.context)))] : []),
    ...(preface.outside?.data === undefined ? [] : [renderOutside(preface.outside, mask)]),
    renderWords(item.text, preface.outside?.spans ?? [], (text) => escapeTags(redact(mask, text))),
  ];
  const { attachments } = item;
  return { role: "user", text: blocks.join("\n\n"), ...(attachments?.length && { attachments }) };
}

function renderOutside({ data, origin }: Outside, mask: Mask): string {
  return wrapOutput(redact(mask, JSON.stringify(data)), origin);
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
  const text = redact(show.mask, outcome.status === "ok" ? outcome.output : outcome.message);
  const isTrusted = show.trusted.has(call.name) && !callers.has(call);
  const output = isTrusted ? text : wrapOutput(text, call.name);
  show.outputs?.set(item, output);
  return output;
}
