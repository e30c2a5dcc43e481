/** The end of an answer, as every provider's stream comes down to it. */

import { tryJson } from "../../../kernel/kit/text.ts";
import type { ToolCall } from "../../../kernel/plugin.ts";
import type { FinishReason, ModelPart } from "../services.ts";

export interface AnswerEnd {
  readonly calls: readonly ToolCall[];
  /** The provider's word for why it ended. */
  readonly reason: string;
  readonly usage: Omit<Extract<ModelPart, { type: "usage" }>, "type"> | undefined;
}

const CUT_SHORT = new Map<string, FinishReason>([
  ["length", "length"],
  ["max_tokens", "length"],
  ["content_filter", "content_filter"],
  ["content-filter", "content_filter"],
]);

export const noFinishReason = () => new Error("The stream ended without a finish reason.");

export function endParts({ calls, reason, usage }: AnswerEnd): readonly ModelPart[] {
  const cut = CUT_SHORT.get(reason);
  // The call that was being written when the tokens ran out is not one to make.
  const whole = cut === undefined ? calls : calls.filter(({ params }) => tryJson(params) !== undefined);
  return [
    ...whole.map((call) => ({ type: "call" as const, call })),
    // The reason for a proper end is not to be relied on: some servers end calls with "stop", too.
    { type: "finish", reason: cut ?? (whole.length > 0 ? "tool_calls" : "stop") },
    ...(usage ? [{ type: "usage" as const, ...usage }] : []),
  ];
}
