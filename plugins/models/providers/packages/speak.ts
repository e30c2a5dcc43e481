/** Providers whose models differ in what they take: their packages know. */

import type { FinishReason, ModelPart, ModelRequest } from "../../../../kernel/kit.ts";
import type { Endpoint, Speak } from "../endpoint.ts";
import { refusalText } from "../explain.ts";
import { isWhole } from "../params.ts";
import type { LanguageModel, StreamPart } from "./language-model.ts";
import { leanFetch } from "./lean-fetch.ts";
import { callOptions, type Manner } from "./prompt.ts";
import { createThoughtReader, createThoughts } from "./thoughts.ts";

/**
 * Chat completions, which every proxy of OpenAI's has. Only the Responses API tells a summary of what a model thought,
 * and lets models from GPT-5.6 on think where there are tools.
 */
export async function speakOpenAI(endpoint: Endpoint): Promise<Speak> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  const provider = createOpenAI(placeOf(endpoint));
  const chat = speakWith(provider.chat(endpoint.name), CHAT);
  const responses = speakWith(provider.responses(endpoint.name), RESPONSES);
  let hasResponses = true;
  return async function* (request, signal) {
    if (hasResponses && needsResponses(endpoint.name, request)) {
      try {
        return yield* responses(request, signal);
      } catch (error) {
        if (statusOf(error) !== 404) throw error;
        hasResponses = false;
      }
    }
    yield* chat(request, signal);
  };
}

export async function speakAnthropic(endpoint: Endpoint): Promise<Speak> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  return speakWith(createAnthropic(placeOf(endpoint)).messages(endpoint.name), ANTHROPIC);
}

/** Always told both: a package would otherwise look for them in the environment itself. */
function placeOf({ baseUrl, key }: Endpoint) {
  return { baseURL: baseUrl, apiKey: key ?? "", fetch: leanFetch };
}

function needsResponses(name: string, { generation }: ModelRequest): boolean {
  return generation?.reasoningSummary !== undefined || /^gpt-5\.(?:[6-9]|\d\d)/.test(name);
}

const CHAT: Manner = {
  resultsCarryFiles: false,
  needsThoughts: false,
  wantsPastTools: false,
  leastTokens: 1,
  providerOptions: ({ tools, parallelCalls, format, generation = {} }) => ({
    openai: {
      ...(parallelCalls !== undefined && tools.length > 0 && { parallelToolCalls: parallelCalls }),
      ...(format?.type === "json_schema" && { strictJsonSchema: format.strict }),
      ...(generation.cacheKey !== undefined && { promptCacheKey: generation.cacheKey }),
      ...(generation.safetyIdentifier !== undefined && { safetyIdentifier: generation.safetyIdentifier }),
    },
  }),
};

const RESPONSES: Manner = {
  ...CHAT,
  leastTokens: 16,
  providerOptions: (request) => ({
    openai: {
      ...CHAT.providerOptions(request)["openai"],
      // The thread is ours to keep.
      store: false,
      // Not by itself: some accounts may not have summaries.
      reasoningSummary: request.generation?.reasoningSummary ?? null,
    },
  }),
};

const ANTHROPIC: Manner = {
  resultsCarryFiles: true,
  needsThoughts: true,
  wantsPastTools: true,
  leastTokens: 1,
  providerOptions: ({ parallelCalls, generation = {} }) => ({
    anthropic: {
      ...(parallelCalls === false && { disableParallelToolUse: true }),
      // There is no key to a cache; whoever names one wants what is said to be kept.
      ...(generation.cacheKey !== undefined && { cacheControl: { type: "ephemeral" } }),
      ...(generation.safetyIdentifier !== undefined && { metadata: { userId: generation.safetyIdentifier } }),
    },
  }),
};

function speakWith(model: LanguageModel, manner: Manner): Speak {
  const kept = createThoughts();
  const open = async (request: ModelRequest, signal: AbortSignal) =>
    (await model.doStream(callOptions(request, manner, kept, signal))).stream;

  return async function* (request, signal) {
    const stream = await open(request, signal).catch((error: unknown) => {
      if (!HINTS.test(refusalText(error))) throw error;
      return open(withoutHints(request), signal);
    });
    const thoughts = createThoughtReader();
    const calls: CallPart[] = [];
    for await (const given of stream as AsyncIterable<StreamPart>) {
      const thought = thoughts.read(given);
      if (thought !== "") yield [{ type: "reasoning", delta: thought }];
      else if (given.type === "text-delta" && given.delta !== "")
        yield [{ type: "text", delta: given.delta }];
      else if (given.type === "error") throw given.error;
      else if (given.type === "finish") {
        const parts = endOf(given, calls);
        kept.keep(
          parts.flatMap((part) => (part.type === "call" ? [part.call] : [])),
          thoughts.whole(),
        );
        yield parts;
      } else {
        if (given.type === "tool-call") calls.push(callOf(given));
        yield [];
      }
    }
  };
}

type CallPart = Extract<ModelPart, { type: "call" }>;

function callOf({ toolCallId, toolName, input }: Extract<StreamPart, { type: "tool-call" }>): CallPart {
  return { type: "call", call: { id: toolCallId, name: toolName, params: input } };
}

const CUT = new Map<string, FinishReason>([
  ["length", "length"],
  ["content-filter", "content_filter"],
]);

function endOf(
  { finishReason, usage }: Extract<StreamPart, { type: "finish" }>,
  calls: readonly CallPart[],
): readonly ModelPart[] {
  const { unified, raw } = finishReason;
  // The packages end a stream that was cut as if it were whole, only without the server's reason.
  if (raw === undefined && (unified === "other" || unified === "interrupted"))
    throw new Error("The stream ended without a finish reason.");
  const cut = CUT.get(unified);
  const whole = cut === undefined ? calls : calls.filter(({ call }) => isWhole(call.params));
  return [
    ...whole,
    { type: "finish", reason: cut ?? (whole.length > 0 ? "tool_calls" : "stop") },
    {
      type: "usage",
      inputTokens: usage.inputTokens.total ?? 0,
      outputTokens: usage.outputTokens.total ?? 0,
      cachedTokens: usage.inputTokens.cacheRead ?? 0,
      reasoningTokens: usage.outputTokens.reasoning ?? 0,
    },
  ];
}

function statusOf(error: unknown): number | undefined {
  return typeof error === "object" && error !== null && "statusCode" in error
    ? Number(error.statusCode)
    : undefined;
}

/** What the answer could do without. */
const HINTS =
  /reasoning|thinking|effort|summar|prompt_cache|cache_control|safety_identifier|user_id|parallel_tool|seed/i;

function withoutHints({ parallelCalls: _, generation = {}, ...request }: ModelRequest): ModelRequest {
  const { seed, reasoningEffort, reasoningSummary, cacheKey, safetyIdentifier, ...wanted } = generation;
  return { ...request, generation: wanted };
}
