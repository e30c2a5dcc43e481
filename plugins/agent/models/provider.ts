/** Models of the network, through the providers' packages: loaded when first asked, errors put into words. */
import type { OpenAICompatibleProvider } from "@ai-sdk/openai-compatible";
import { Fault, type ModelName, reason } from "../../../kernel/plugin.ts";
import { describeForProvider } from "./flat-schema.ts";
import type { Model, ModelMessage, ModelPart, ModelRequest } from "./model.ts";

export type ProviderName = "openai" | "anthropic" | "ollama" | "openai-compatible";

export interface ProviderSettings {
  readonly provider: ProviderName;
  readonly name: string;
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly window: number;
}

type LanguageModel = ReturnType<OpenAICompatibleProvider["chatModel"]>;
type CallOptions = Parameters<LanguageModel["doStream"]>[0];
type PromptMessage = CallOptions["prompt"][number];
type StreamPart =
  Awaited<ReturnType<LanguageModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;

export function createProviderModel(settings: ProviderSettings): Model {
  const name: ModelName = { provider: settings.provider, name: settings.name };
  let loading: Promise<LanguageModel> | undefined;

  return {
    name,
    window: settings.window,
    async *stream(request, signal) {
      loading ??= load(settings);
      try {
        const { stream } = await (await loading).doStream(callOptions(request, signal));
        for await (const part of stream as AsyncIterable<StreamPart>) yield* partsOf(part);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw explain(error, name);
      }
    },
  };
}

async function load({ provider, name, baseUrl, key }: ProviderSettings): Promise<LanguageModel> {
  const { leanFetch } = await import("./lean-fetch.ts");
  // Always told both: a provider's package would otherwise look for them in the environment itself.
  const place = { baseURL: baseUrl, apiKey: key ?? "", fetch: leanFetch };
  switch (provider) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI(place).chat(name);
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic(place).messages(name);
    }
    default: {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const own = key === undefined ? {} : { apiKey: key };
      return createOpenAICompatible({
        ...own,
        baseURL: baseUrl,
        name: provider,
        includeUsage: true,
        fetch: leanFetch,
      }).chatModel(name);
    }
  }
}

function callOptions(request: ModelRequest, signal: AbortSignal): CallOptions {
  return {
    prompt: [{ role: "system", content: request.system }, ...request.messages.map(promptMessage)],
    abortSignal: signal,
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(request.tools.length > 0 && {
      tools: request.tools.map((tool) => ({
        type: "function" as const,
        name: tool.name,
        ...describeForProvider(tool),
      })),
      toolChoice: { type: "auto" as const },
    }),
  };
}

function promptMessage(message: ModelMessage): PromptMessage {
  switch (message.role) {
    case "user":
      return { role: "user", content: [{ type: "text", text: message.text }] };
    case "assistant":
      return {
        role: "assistant",
        content: [
          ...(message.text === "" ? [] : [{ type: "text" as const, text: message.text }]),
          ...message.calls.map((call) => ({
            type: "tool-call" as const,
            toolCallId: call.id,
            toolName: call.name,
            input: readParams(call.params),
          })),
        ],
      };
    case "tool":
      return {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: message.call.id,
            toolName: message.call.name,
            output: { type: message.failed ? "error-text" : "text", value: message.output },
          },
        ],
      };
  }
}

/** Providers take only objects back; what the model wrote wrongly is shown to it inside one. */
function readParams(params: string): unknown {
  try {
    const value: unknown = JSON.parse(params);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {}
  return { malformed: params };
}

function* partsOf(part: StreamPart): Generator<ModelPart> {
  switch (part.type) {
    case "text-delta":
      if (part.delta !== "") yield { type: "text", delta: part.delta };
      return;
    case "tool-call":
      yield { type: "call", call: { id: part.toolCallId, name: part.toolName, params: part.input } };
      return;
    case "finish":
      yield {
        type: "usage",
        inputTokens: part.usage.inputTokens.total ?? 0,
        outputTokens: part.usage.outputTokens.total ?? 0,
        cachedTokens: part.usage.inputTokens.cacheRead ?? 0,
        reasoningTokens: part.usage.outputTokens.reasoning ?? 0,
      };
      return;
    case "error":
      throw part.error;
  }
}

interface CallError {
  readonly statusCode?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** The provider's failure as a fault whose code says whether another try makes sense. */
function explain(error: unknown, { provider, name }: ModelName): Fault {
  const { statusCode, responseHeaders, cause } = (
    typeof error === "object" && error !== null ? error : {}
  ) as CallError;
  const who = `The model ${name} (${provider})`;
  const words = textOf(error);
  const fault = (code: string, message: string, retryAfterSecs?: number) =>
    new Fault("turn", code, message, {
      cause: error,
      ...(retryAfterSecs !== undefined && { retryAfterSecs }),
    });
  if (statusCode === 429)
    return fault(
      "model_limited",
      `${who} takes no more requests for now: ${words}`,
      retryAfter(responseHeaders),
    );
  if (statusCode !== undefined && statusCode >= 500)
    return fault("model_error", `${who} answered ${statusCode}: ${words}`, retryAfter(responseHeaders));
  if (statusCode === 401 || statusCode === 403)
    return fault(
      "model_unauthorized",
      `${who} refused our key (${statusCode}): ${words}. Check the API key.`,
    );
  if (statusCode !== undefined && statusCode >= 400)
    return fault("model_refused", `${who} refused the request (${statusCode}): ${words}`);
  const root = rootCause(cause ?? error);
  if (/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|CONNECT_TIMEOUT/.test(root))
    return fault("model_unreachable", `${who} cannot be reached: ${root}. Is its server running?`);
  return fault("model_cut", `${who} broke off its answer: ${words}${root === words ? "" : ` (${root})`}`);
}

function textOf(error: unknown): string {
  if (error instanceof Error) return reason(error);
  if (typeof error === "object" && error !== null && "message" in error) return String(error.message);
  return typeof error === "string" ? error : JSON.stringify(error);
}

function rootCause(error: unknown): string {
  let at = error;
  while (at instanceof Error && at.cause !== undefined) at = at.cause;
  const { code } = (typeof at === "object" && at !== null ? at : {}) as { code?: unknown };
  const words = at instanceof Error ? reason(at) : textOf(at);
  return typeof code === "string" && !words.includes(code) ? `${code} ${words}` : words;
}

/** Seconds, from either form in which servers send it. */
function retryAfter(headers: CallError["responseHeaders"]): number | undefined {
  const millis = Number(headers?.["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(millis)) return Math.max(0, millis / 1000);
  const given = headers?.["retry-after"];
  if (given === undefined) return undefined;
  const seconds = Number(given);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(given);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}
