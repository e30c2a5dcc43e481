/** A model: what it is called, and how it is to answer. */
import type { Declared } from "../schema/declare.ts";
import { Type } from "../schema/type.ts";

export const ModelName = Type.Object({ provider: Type.String(), name: Type.String() }, { $id: "ModelName" });
export type ModelName = Declared<typeof ModelName>;

/** How the model is to answer; what a provider does not know is left out. */
export interface Generation {
  readonly temperature?: number;
  readonly topP?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  /** Bounds all answers of the model in one turn; beyond it the turn is `incomplete`. */
  readonly maxOutputTokens?: number;
  /** In the provider's words: minimal, low, medium, high. */
  readonly reasoningEffort?: string;
  readonly reasoningSummary?: string;
  readonly cacheKey?: string;
  readonly safetyIdentifier?: string;
}
