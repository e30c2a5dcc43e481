/** What the loop asks of a model, whoever makes it. */

import type { JsonSchema } from "../schema/declare.ts";
import type { Generation, ModelName } from "./model.ts";
import type { Attachment, ToolCall } from "./tool-call.ts";
import type { Format, ToolChoice } from "./turn.ts";

export type InputKind = "image" | "file" | "audio";

export interface Model {
  readonly name: ModelName;
  /** Tokens of context it can take. */
  readonly window: number;
  /** What it can be shown besides text. */
  readonly takes: ReadonlySet<InputKind>;
  /**
   * The formats of an answer it can be asked for; any other can only be told to it in words. No promise: a server may
   * ignore what it is asked for, or take it only without tools, so that what comes has to be checked in any case.
   */
  readonly formats: ReadonlySet<Format["type"]>;
  /**
   * Streams one answer, as many parts at a time as have come; none is a sign of life from a model that thinks, or
   * writes a call that is not whole yet. Throws a `Fault` of kind `turn` when the provider fails.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelPart[]>;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly temperature: number | undefined;
  /**
   * Each of it is a hint, which a provider that has no such thing answers without. `temperature` here wins over the one
   * above; `maxOutputTokens` is of this one answer.
   */
  readonly generation?: Generation;
  /** A choice among some names only: where a provider cannot be told so, it is shown only these tools. */
  readonly toolChoice?: ToolChoice;
  /** False: at most one call in an answer. */
  readonly parallelCalls?: boolean;
  /** One of the model's `formats`. Where the provider refuses it after all, it is told to the model in words. */
  readonly format?: Format;
  /** For the server's own trace of it. */
  readonly traceparent?: string;
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

/** What a message carries besides its text, whole. */
export interface ModelAttachment {
  readonly kind: InputKind;
  readonly mime: string;
  readonly data: Uint8Array;
  readonly name?: string;
  /** How closely to look at an image: "low", "high" or "auto". */
  readonly detail?: string;
}

export type ModelMessage =
  | { readonly role: "user"; readonly text: string; readonly attachments?: readonly ModelAttachment[] }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly ToolCall[];
      /** What the model thought before it answered, for servers that want it back. */
      readonly reasoning?: string;
    }
  | {
      readonly role: "tool";
      readonly call: ToolCall;
      readonly output: string;
      readonly failed: boolean;
      readonly attachments?: readonly ModelAttachment[];
    };

/** What a model is shown, with the names of what is attached: the bytes are read for those that fit its window. */
export type RenderedMessage =
  | { readonly role: "user"; readonly text: string; readonly attachments?: readonly Attachment[] }
  | Extract<ModelMessage, { role: "assistant" }>
  | {
      readonly role: "tool";
      readonly call: ToolCall;
      readonly output: string;
      readonly failed: boolean;
      readonly attachments?: readonly Attachment[];
    };

export type FinishReason = "stop" | "length" | "content_filter" | "tool_calls";

export type ModelPart =
  | { readonly type: "text"; readonly delta: string }
  /** Thoughts, or a summary of them, as the provider shows them. */
  | { readonly type: "reasoning"; readonly delta: string }
  | { readonly type: "call"; readonly call: ToolCall }
  /** Once, after all text and calls. */
  | { readonly type: "finish"; readonly reason: FinishReason }
  | {
      readonly type: "usage";
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly cachedTokens: number;
      readonly reasoningTokens: number;
    };
