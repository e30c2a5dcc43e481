/** Reads the parts of an answer, whichever endpoint they come from. */

import { tryJson } from "../../../kernel/kit/text.ts";
import type { ToolCall } from "../../../kernel/plugin.ts";
import type { FinishReason, ModelPart } from "../services.ts";
import type { FinishReason as GivenReason, ReasoningPart, StreamPart, Usage } from "./language-model.ts";

export interface WholeAnswer {
  readonly calls: readonly ToolCall[];
  readonly thoughts: readonly ReasoningPart[];
}

/** `onEnd` gets what the answer consisted of besides its text, right before its last parts are returned. */
export function createReader(onEnd: (answer: WholeAnswer) => void) {
  const given: ToolCall[] = [];
  const thoughts = createThoughtReader();

  function readPart(part: StreamPart): readonly ModelPart[] {
    switch (part.type) {
      case "text-delta":
        return part.delta === "" ? [] : [{ type: "text", delta: part.delta }];
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end": {
        const delta = thoughts.read(part);
        return delta === "" ? [] : [{ type: "reasoning", delta }];
      }
      case "tool-call":
        given.push({ id: part.toolCallId, name: part.toolName, params: part.input });
        return [];
      case "finish": {
        const cut = readFinish(part.finishReason);
        // The call that was being written when the tokens ran out is not one to make.
        const calls = cut === undefined ? given : given.filter(({ params }) => tryJson(params) !== undefined);
        onEnd({ calls, thoughts: thoughts.whole() });
        return [
          ...calls.map((call) => ({ type: "call" as const, call })),
          { type: "finish", reason: cut ?? (calls.length > 0 ? "tool_calls" : "stop") },
          ...readUsage(part.usage),
        ];
      }
      case "error":
        throw part.error;
      default:
        return [];
    }
  }

  return (parts: readonly StreamPart[]): readonly ModelPart[] => parts.flatMap(readPart);
}

/**
 * Returns why an answer was cut; undefined if it came to a proper end, whose reason is not to be relied on: some servers
 * end calls with "stop", too.
 */
function readFinish({ unified, raw }: GivenReason): FinishReason | undefined {
  // The packages end a stream that was cut as if it were whole, only without the server's reason.
  if (raw === undefined && (unified === "other" || unified === "interrupted"))
    throw new Error("The stream ended without a finish reason.");
  if (unified === "length") return "length";
  return unified === "content-filter" ? "content_filter" : undefined;
}

/** Returns nothing if the server counted nothing. */
function readUsage({ inputTokens, outputTokens, raw }: Usage): readonly ModelPart[] {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return [];
  return [
    {
      type: "usage",
      inputTokens: inputTokens.total ?? 0,
      outputTokens: outputTokens.total ?? 0,
      cachedTokens: inputTokens.cacheRead ?? 0,
      ...(inputTokens.cacheWrite && { cacheWriteTokens: inputTokens.cacheWrite }),
      reasoningTokens: outputTokens.reasoning ?? 0,
      // Nothing is no price: some servers always say 0.
      ...(Number(raw?.["cost"]) > 0 && { costUsd: Number(raw?.["cost"]) }),
    },
  ];
}

type ThoughtPart = Extract<StreamPart, { type: "reasoning-start" | "reasoning-delta" | "reasoning-end" }>;

function createThoughtReader() {
  const thoughts = new Map<string, ReasoningPart>();
  let last: string | undefined;
  return {
    /** Returns the text to show. */
    read(part: ThoughtPart): string {
      const { id, providerMetadata: providerOptions } = part;
      const delta = part.type === "reasoning-delta" ? part.delta : "";
      const known = thoughts.get(id) ?? { type: "reasoning", text: "" };
      thoughts.set(id, { ...known, text: known.text + delta, ...(providerOptions && { providerOptions }) });
      if (delta === "") return "";
      const isNext = last !== undefined && last !== id;
      last = id;
      return isNext ? `\n\n${delta}` : delta;
    },
    whole: () => [...thoughts.values()],
  };
}
