/** A model: what it is called, and how it is to answer. */
import type { Declared } from "../schema/declare.ts";
import { Type } from "../schema/type.ts";

export const ModelName = Type.Object({ provider: Type.String(), name: Type.String() }, { $id: "ModelName" });
export type ModelName = Declared<typeof ModelName>;

/** A model that may be chosen for a thread. */
export const ModelOption = Type.Object(
  {
    provider: Type.String(),
    name: Type.String(),
    role: Type.Optional(
      Type.Enum(["configured", "fallback"], { description: "What it is here, apart from any thread" }),
    ),
  },
  { $id: "ModelOption" },
);
export type ModelOption = Declared<typeof ModelOption>;

/** A model as somebody asks for it: where several providers have the name, the configured one is meant. */
export const WantedModel = Type.Object({
  provider: Type.Optional(Type.String({ maxLength: 100 })),
  name: Type.String({ minLength: 1, maxLength: 200 }),
});
export type WantedModel = Declared<typeof WantedModel>;

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
