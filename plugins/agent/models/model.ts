/** What the loop asks of a model, whoever makes it. */
import type { JsonSchema, ModelName, ToolCall } from "../../../kernel/plugin.ts";

export interface Model {
  readonly name: ModelName;
  /** Tokens of context it can take. */
  readonly window: number;
  /**
   * Streams one answer, as many parts at a time as have come; none is a sign of life from a model that thinks, or
   * writes a call that is not whole yet. Throws a `Fault` of kind `turn` when the provider fails.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelPart[]>;
}

/** One answer of a server, its errors as they came. */
export type Speak = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<readonly ModelPart[]>;

export interface Endpoint {
  /** The model's name there. */
  readonly name: string;
  readonly baseUrl: string;
  readonly key: string | undefined;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly temperature: number | undefined;
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

export type ModelMessage =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly ToolCall[] }
  | { readonly role: "tool"; readonly call: ToolCall; readonly output: string; readonly failed: boolean };

export type ModelPart =
  | { readonly type: "text"; readonly delta: string }
  | { readonly type: "call"; readonly call: ToolCall }
  | {
      readonly type: "usage";
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly cachedTokens: number;
      readonly reasoningTokens: number;
    };
