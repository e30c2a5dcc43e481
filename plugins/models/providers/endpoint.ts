/** Where a model is reached, and how a provider's server is asked for one answer. */
import type { ModelPart, ModelRequest } from "../../../kernel/kit.ts";

/** One answer of a server, its errors as they came. */
export type Speak = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<readonly ModelPart[]>;

export type ProviderName = "openai" | "anthropic" | "ollama" | "openai-compatible";

export interface Endpoint {
  /** The model's name there. */
  readonly name: string;
  readonly baseUrl: string;
  readonly key: string | undefined;
}
