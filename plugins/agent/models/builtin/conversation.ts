/** What the built-in model reads out of the messages: they are the only state it has. */
import type { ModelMessage } from "../model.ts";

const BLOCK = /^\s*<(instructions|user-context|summary)(?:\s[^>]*)?>[\s\S]*?<\/\1>/;

/** The user's own words, without the blocks a channel put ahead of them. */
export function wordsOfUser(text: string): string {
  let rest = text;
  for (let block = BLOCK.exec(rest); block; block = BLOCK.exec(rest)) rest = rest.slice(block[0].length);
  return rest.trim();
}

const WRAPPER = /<tool-output(?:\s[^>]*)?>\n?([\s\S]*?)\n?<\/tool-output>/;

export interface Data {
  readonly text: string;
  /** The loop found words in it that read like orders. */
  readonly flagged: boolean;
}

/** A tool's output without the wrapper that marks it as data. */
export function unwrap(output: string): Data {
  const wrapped = WRAPPER.exec(output);
  if (wrapped?.[1] === undefined) return { text: output, flagged: false };
  return { text: wrapped[1], flagged: output.slice(0, wrapped.index).trim() !== "" };
}

export type ToolMessage = Extract<ModelMessage, { role: "tool" }>;

/** The results the model has not answered from yet: the tool messages at the end. */
export function freshResults(messages: readonly ModelMessage[]): readonly ToolMessage[] {
  const results: ToolMessage[] = [];
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (message?.role !== "tool") break;
    results.unshift(message);
  }
  return results;
}

/** The user's words that led to the message at this place. */
export function questionBefore(messages: readonly ModelMessage[], at: number): string {
  for (let index = at; index >= 0; index -= 1) {
    const message = messages[index];
    if (message?.role === "user") return wordsOfUser(message.text);
  }
  return "";
}

const RECENT = 8;

/** The last tool call shortly before the message at this place, for "and in Paris?". */
export function lastCallBefore(
  messages: readonly ModelMessage[],
  at: number,
): { name: string; params: string } | undefined {
  for (let index = at - 1; index >= Math.max(0, at - RECENT); index -= 1) {
    const message = messages[index];
    const call = message?.role === "assistant" ? message.calls.at(-1) : undefined;
    if (call) return call;
  }
  return undefined;
}
