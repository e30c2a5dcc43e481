/** Reads the parts of an answer, whichever endpoint they come from. */

import { isRecord, tryJson } from "../../../kernel/kit/text.ts";
import type { ToolCall } from "../../../kernel/plugin.ts";
import type { FinishDetail, FinishReason, ModelPart } from "../services.ts";
import type { AnswerPart, FinishReason as GivenReason, StreamPart, Usage } from "./language-model.ts";

/**
 * `onEnd` gets all that the answer consisted of, in order, right before its last parts are returned; `isPaused`: the server wants
 * it back to continue. It returns whether the answer goes on. `given`: calls that came before a pause.
 */
export function createReader(
  onEnd: (answer: readonly AnswerPart[], isPaused: boolean) => boolean,
  given: ToolCall[] = [],
) {
  const answer = createAnswerReader();

  function readPart(part: StreamPart): readonly ModelPart[] {
    switch (part.type) {
      case "text-start":
      case "text-delta":
      case "text-end":
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end": {
        const type = part.type.startsWith("text") ? "text" : "reasoning";
        const delta = answer.read(type, part);
        return delta === "" ? [] : [{ type, delta }];
      }
      case "tool-call":
        given.push({ id: part.toolCallId, name: part.toolName, params: part.input });
        answer.addCall(part);
        return [];
      case "finish": {
        const isPaused = part.finishReason.raw === "pause_turn";
        const why = readDetail(part);
        if (onEnd(answer.whole(), isPaused)) return readUsage(part.usage);
        const cut = isPaused ? "length" : readFinish(part.finishReason);
        // The call that was being written when the tokens ran out is not one to make.
        const calls = cut === undefined ? given : given.filter(({ params }) => tryJson(params) !== undefined);
        return [
          ...calls.map((call) => ({ type: "call" as const, call })),
          { type: "finish", reason: cut ?? (calls.length > 0 ? "tool_calls" : "stop"), ...(why && { why }) },
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

/** Returns why an answer was cut. The reason of a proper end is not to be relied on: some servers end calls with "stop". */
function readFinish({ unified, raw }: GivenReason): FinishReason | undefined {
  // The packages end a stream that was cut as if it were whole, only without the server's reason.
  if (raw === undefined && (unified === "other" || unified === "interrupted"))
    throw new Error("The stream ended without a finish reason.");
  if (unified === "length") return "length";
  return unified === "content-filter" ? "content_filter" : undefined;
}

type FinishPart = Extract<StreamPart, { type: "finish" }>;

function readDetail({
  finishReason: { raw, unified },
  providerMetadata,
}: FinishPart): FinishDetail | undefined {
  if (raw === "model_context_window_exceeded")
    return { code: "model_window_full", message: "The answer was cut: the model's context window is full." };
  if (unified !== "content-filter") return undefined;
  const { category, explanation } = Object(providerMetadata?.["anthropic"]?.["stopDetails"]) as Declined;
  const about = typeof category === "string" ? ` (${category})` : "";
  const words = typeof explanation === "string" ? ` ${explanation}` : "";
  return { code: "model_declined", message: `The model declined to answer${about}.${words}` };
}

interface Declined {
  readonly category?: unknown;
  readonly explanation?: unknown;
}

/** Returns nothing if the server counted nothing. */
function readUsage({ inputTokens, outputTokens, raw }: Usage): readonly ModelPart[] {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return [];
  // Anthropic's, by how long it keeps them.
  const written = raw?.["cache_creation"];
  const hourWriteTokens = isRecord(written) && Number(written["ephemeral_1h_input_tokens"]);
  return [
    {
      type: "usage",
      inputTokens: inputTokens.total ?? 0,
      outputTokens: outputTokens.total ?? 0,
      cachedTokens: inputTokens.cacheRead ?? 0,
      ...(inputTokens.cacheWrite && { cacheWriteTokens: inputTokens.cacheWrite }),
      ...(hourWriteTokens && { hourWriteTokens }),
      reasoningTokens: outputTokens.reasoning ?? 0,
      // Nothing is no price: some servers always say 0.
      ...(Number(raw?.["cost"]) > 0 && { costUsd: Number(raw?.["cost"]) }),
    },
  ];
}

type CallPart = Extract<StreamPart, { type: "tool-call" }>;
type Piece = Exclude<
  Extract<StreamPart, { type: `text-${string}` | `reasoning-${string}` }>,
  { type: "reasoning-file" }
>;

function createAnswerReader() {
  const parts = new Map<string, AnswerPart>();
  let lastThought: string | undefined;
  return {
    /** Returns the text to show. */
    read(type: "text" | "reasoning", piece: Piece): string {
      const { id, providerMetadata: providerOptions } = piece;
      const delta = "delta" in piece ? piece.delta : "";
      const key = `${type} ${id}`;
      const known = parts.get(key);
      const text = (known?.type === type ? known.text : "") + delta;
      parts.set(key, { ...known, type, text, ...(providerOptions && { providerOptions }) });
      if (delta === "" || type === "text") return delta;
      const isNext = lastThought !== undefined && lastThought !== id;
      lastThought = id;
      return isNext ? `\n\n${delta}` : delta;
    },
    addCall({ toolCallId, toolName, input, providerMetadata: providerOptions }: CallPart): void {
      const type = "tool-call";
      parts.set(`${type} ${parts.size}`, {
        ...{ type, toolCallId, toolName, input },
        ...(providerOptions && { providerOptions }),
      });
    },
    whole: () => [...parts.values()],
  };
}
