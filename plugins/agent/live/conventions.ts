/** OpenTelemetry's names for generative AI, which are in development: the one place that spells them. */
import type { Attributes } from "../../../kernel/kit.ts";
import type { ModelName } from "../../../kernel/plugin.ts";

/** Providers by the names that the conventions give them. */
const PROVIDERS: Readonly<Record<string, string>> = { "openai-compatible": "openai" };

export const INVOKE_AGENT = "invoke_agent postern";
export const chatName = ({ name }: ModelName): string => `chat ${name}`;
export const toolName = (tool: string): string => `execute_tool ${tool}`;

export const agentAttributes = (turn: {
  readonly id: string;
  readonly thread: string;
  readonly user: string;
  readonly channel: string;
}): Attributes => ({
  "gen_ai.operation.name": "invoke_agent",
  "gen_ai.agent.name": "postern",
  "gen_ai.conversation.id": turn.thread,
  "user.id": turn.user,
  "postern.turn.id": turn.id,
  "postern.channel": turn.channel,
});

export const chatAttributes = ({ provider, name }: ModelName): Attributes => ({
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": PROVIDERS[provider] ?? provider,
  "gen_ai.request.model": name,
});

export const usageAttributes = (tokens: {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
}): Attributes => ({
  "gen_ai.usage.input_tokens": tokens.inputTokens,
  "gen_ai.usage.output_tokens": tokens.outputTokens,
  "gen_ai.usage.cache_read.input_tokens": tokens.cachedTokens,
});

export const toolAttributes = (tool: string, call: string): Attributes => ({
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.tool.name": tool,
  "gen_ai.tool.call.id": call,
  "gen_ai.tool.type": "function",
});

/** Ours: how it ended. */
export const STATUS = "postern.status";
export const FINISH_REASONS = "gen_ai.response.finish_reasons";
export const FIRST_TOKEN = "gen_ai.response.time_to_first_chunk";
export const SAID = {
  input: "gen_ai.input.messages",
  output: "gen_ai.output.messages",
  arguments: "gen_ai.tool.call.arguments",
  result: "gen_ai.tool.call.result",
} as const;
