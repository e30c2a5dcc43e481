/** Providers whose models differ in what they take: their packages know. */

import type { ToolCall } from "../../../kernel/plugin.ts";
import type { ModelPart, ModelRequest } from "../services.ts";
import { callErrorOf, refusalText } from "./explain.ts";
import type { LanguageModel, StreamPart } from "./language-model.ts";
import { callOptions, type Manner } from "./prompt.ts";
import { endParts, noFinishReason } from "./reader.ts";
import { openReply, type ProviderSettings, type Speak } from "./server.ts";
import { createThoughtReader, createThoughts } from "./thoughts.ts";

/**
 * Chat completions, which every proxy of OpenAI's has. Only the Responses API tells a summary of what a model thought,
 * and lets models from GPT-5.6 on think where there are tools.
 */
export async function speakOpenAI(endpoint: ProviderSettings): Promise<Speak> {
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
        if (callErrorOf(error).statusCode !== 404) throw error;
        hasResponses = false;
      }
    }
    yield* chat(request, signal);
  };
}

export async function speakAnthropic(endpoint: ProviderSettings): Promise<Speak> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  return speakWith(createAnthropic(placeOf(endpoint)).messages(endpoint.name), ANTHROPIC);
}

/** Always told both: a package would otherwise look for them in the environment itself. */
function placeOf({ baseUrl, key }: ProviderSettings) {
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
      parallelToolCalls: tools.length > 0 ? parallelCalls : undefined,
      strictJsonSchema: format?.type === "json_schema" ? format.strict : undefined,
      promptCacheKey: generation.cacheKey,
      safetyIdentifier: generation.safetyIdentifier,
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
    const calls: ToolCall[] = [];
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
        if (given.type === "tool-call")
          calls.push({ id: given.toolCallId, name: given.toolName, params: given.input });
        yield [];
      }
    }
  };
}

function endOf(
  { finishReason, usage }: Extract<StreamPart, { type: "finish" }>,
  calls: readonly ToolCall[],
): readonly ModelPart[] {
  const { unified, raw } = finishReason;
  // The packages end a stream that was cut as if it were whole, only without the server's reason.
  if (raw === undefined && (unified === "other" || unified === "interrupted")) throw noFinishReason();
  return endParts({
    calls,
    reason: unified,
    usage: {
      inputTokens: usage.inputTokens.total ?? 0,
      outputTokens: usage.outputTokens.total ?? 0,
      cachedTokens: usage.inputTokens.cacheRead ?? 0,
      reasoningTokens: usage.outputTokens.reasoning ?? 0,
    },
  });
}

/** Fields that an answer can do without. */
const HINTS =
  /reasoning|thinking|effort|summar|prompt_cache|cache_control|safety_identifier|user_id|parallel_tool|seed/i;

function withoutHints({ parallelCalls: _, generation = {}, ...request }: ModelRequest): ModelRequest {
  const { seed, reasoningEffort, reasoningSummary, cacheKey, safetyIdentifier, ...wanted } = generation;
  return { ...request, generation: wanted };
}

/**
 * `fetch` as the packages need it, on undici's plain request: a third less of a turn's work than the web platform's own, whose
 * every request and header becomes an object of its own. It follows no redirect.
 */
async function leanFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const { method, body: sent, signal } = init;
  if (input instanceof Request || method !== "POST" || typeof sent !== "string")
    throw new TypeError("only a text can be posted to a model");
  const given = init.headers instanceof Headers ? Object.fromEntries(init.headers) : { ...init.headers };
  try {
    const { statusCode, headers, body } = await openReply(input, {
      headers: given as Record<string, string>,
      body: sent,
      signal: signal ?? undefined,
    });
    const chunks = body[Symbol.asyncIterator]();
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => void body.destroy(),
    });
    const isBodyless = statusCode === 204 || statusCode === 304;
    return new Response(isBodyless ? null : stream, { status: statusCode, headers: flat(headers) });
  } catch (error) {
    if (signal?.aborted) throw error;
    // The words by which the packages know that nobody answered, and that another try makes sense.
    throw new TypeError("fetch failed", { cause: error });
  }
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
}
