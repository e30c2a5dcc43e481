/** Providers whose models differ in what they take: their packages know. */
import type { OpenAIProvider } from "@ai-sdk/openai";
import { describeForProvider } from "../flat-schema.ts";
import type { Endpoint, ModelMessage, ModelPart, ModelRequest, Speak } from "../model.ts";
import { objectText } from "../params.ts";
import { leanFetch } from "./lean-fetch.ts";

type LanguageModel = Pick<ReturnType<OpenAIProvider["chat"]>, "doStream">;
type CallOptions = Parameters<LanguageModel["doStream"]>[0];
type PromptMessage = CallOptions["prompt"][number];
type StreamPart =
  Awaited<ReturnType<LanguageModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;

export async function speakOpenAI(endpoint: Endpoint): Promise<Speak> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  return speakWith(createOpenAI(placeOf(endpoint)).chat(endpoint.name));
}

export async function speakAnthropic(endpoint: Endpoint): Promise<Speak> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  return speakWith(createAnthropic(placeOf(endpoint)).messages(endpoint.name));
}

/** Always told both: a package would otherwise look for them in the environment itself. */
function placeOf({ baseUrl, key }: Endpoint) {
  return { baseURL: baseUrl, apiKey: key ?? "", fetch: leanFetch };
}

function speakWith(model: LanguageModel): Speak {
  return async function* (request, signal) {
    const { stream } = await model.doStream(callOptions(request, signal));
    for await (const given of stream as AsyncIterable<StreamPart>) {
      const part = partOf(given);
      yield part === undefined ? [] : [part];
    }
  };
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
            input: JSON.parse(objectText(call.params)) as unknown,
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

function partOf(part: StreamPart): ModelPart | undefined {
  switch (part.type) {
    case "text-delta":
      return part.delta === "" ? undefined : { type: "text", delta: part.delta };
    case "tool-call":
      return { type: "call", call: { id: part.toolCallId, name: part.toolName, params: part.input } };
    case "finish":
      // The packages end a stream that was cut as if it were whole, only without the server's reason.
      if (part.finishReason.raw === undefined) throw new Error("The stream ended without a finish reason.");
      return {
        type: "usage",
        inputTokens: part.usage.inputTokens.total ?? 0,
        outputTokens: part.usage.outputTokens.total ?? 0,
        cachedTokens: part.usage.inputTokens.cacheRead ?? 0,
        reasoningTokens: part.usage.outputTokens.reasoning ?? 0,
      };
    case "error":
      throw part.error;
    default:
      return undefined;
  }
}
