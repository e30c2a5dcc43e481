/** The interface of a package's model. */
import type { OpenAIProvider } from "@ai-sdk/openai";

export type LanguageModel = Pick<ReturnType<OpenAIProvider["chat"]>, "doStream">;
export type CallOptions = Parameters<LanguageModel["doStream"]>[0];
export type PromptMessage = CallOptions["prompt"][number];
export type StreamPart =
  Awaited<ReturnType<LanguageModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];
export type ReasoningPart = Extract<AssistantPart, { type: "reasoning" }>;
type UserPart = Extract<PromptMessage, { role: "user" }>["content"][number];
export type FilePart = Extract<UserPart, { type: "file" }>;
