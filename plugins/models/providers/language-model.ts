/** The interface of a package's model. The endpoints that we speak with ourselves have the same words. */
import type { OpenAIProvider } from "@ai-sdk/openai";

export type LanguageModel = Pick<ReturnType<OpenAIProvider["chat"]>, "doStream">;
export type CallOptions = Parameters<LanguageModel["doStream"]>[0];
export type ProviderOptions = NonNullable<CallOptions["providerOptions"]>;
export type PromptMessage = CallOptions["prompt"][number];
export type StreamPart =
  Awaited<ReturnType<LanguageModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
type FinishPart = Extract<StreamPart, { type: "finish" }>;
export type FinishReason = FinishPart["finishReason"];
export type Usage = FinishPart["usage"];
type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];
/** What an answer consists of. */
export type AnswerPart = Extract<AssistantPart, { type: "text" | "reasoning" | "tool-call" }>;
type UserPart = Extract<PromptMessage, { role: "user" }>["content"][number];
export type FilePart = Extract<UserPart, { type: "file" }>;
export type FunctionTool = Extract<NonNullable<CallOptions["tools"]>[number], { type: "function" }>;

/** Streams one answer of a model, as many parts at a time as have come; none is a sign of life. */
export type Endpoint = (options: CallOptions) => AsyncIterable<readonly StreamPart[]>;
