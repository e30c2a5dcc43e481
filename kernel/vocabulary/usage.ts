/** Tokens and what they cost. On the wire the total is counted too, and the price is a number beside its details. */
import { type Declared, named, nullable, reshaped } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";

const Counted = Type.Object({
  inputTokens: Type.Integer(),
  outputTokens: Type.Integer(),
  cachedTokens: Type.Integer(),
  reasoningTokens: Type.Integer(),
  /** Decimal strings of US dollars; "0" where the price is not known. */
  inputCost: Type.String(),
  outputCost: Type.String(),
  totalCost: Type.String(),
  /** What caps count for models whose price is not known: as if they were the dearest ones that are. */
  estimatedCost: Type.Optional(Type.String()),
  /** What the provider's cache saved of the input's cost; negative if more was written to it than read. */
  savedCost: Type.Optional(Type.String()),
});

export const WireUsage = Type.Object(
  {
    input_tokens: Type.Integer(),
    output_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    cached_tokens: Type.Integer(),
    reasoning_tokens: Type.Integer(),
    cost: Type.Number({ description: "In US dollars; 0 where the price is not known" }),
    cost_details: Type.Object({
      input_cost_usd: Type.String(),
      output_cost_usd: Type.String(),
      total_cost_usd: Type.String(),
      currency: Type.Literal("USD"),
    }),
    estimated_cost_usd: Type.Optional(
      Type.String({ description: "What caps count besides, for models whose price is not known" }),
    ),
  },
  { $id: "Usage" },
);

export const Usage = reshaped(Counted, WireUsage, {
  to: (usage) => ({
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    cached_tokens: usage.cachedTokens,
    reasoning_tokens: usage.reasoningTokens,
    cost: Number(usage.totalCost),
    cost_details: {
      input_cost_usd: usage.inputCost,
      output_cost_usd: usage.outputCost,
      total_cost_usd: usage.totalCost,
      currency: "USD" as const,
    },
    ...(usage.estimatedCost !== undefined && { estimated_cost_usd: usage.estimatedCost }),
  }),
  from: ({ cost_details: cost, estimated_cost_usd: estimated, ...counts }) => ({
    inputTokens: counts.input_tokens,
    outputTokens: counts.output_tokens,
    cachedTokens: counts.cached_tokens,
    reasoningTokens: counts.reasoning_tokens,
    inputCost: cost.input_cost_usd,
    outputCost: cost.output_cost_usd,
    totalCost: cost.total_cost_usd,
    ...(estimated !== undefined && { estimatedCost: estimated }),
  }),
});
export type Usage = Declared<typeof Usage>;

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  inputCost: "0",
  outputCost: "0",
  totalCost: "0",
};

/** US dollars that count for caps and budgets. */
export function countedUsd({ totalCost, estimatedCost = "0" }: Usage): number {
  return Number(totalCost) + Number(estimatedCost);
}

const BYTES_PER_TOKEN = 4;

/** Tokens of a text without asking its model: four bytes each, which is close for words and high for code. */
export function estimateText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

const summed = {
  count: Type.Integer(),
  failed: Type.Integer(),
  inputTokens: Type.Integer(),
  outputTokens: Type.Integer(),
  usd: named("cost", Type.Number({ description: "In US dollars; 0 where the price is not known" })),
  estimatedUsd: Type.Optional(
    named(
      "estimated_cost",
      Type.Number({ description: "What caps count besides, where the price is not known" }),
    ),
  ),
  cachedTokens: Type.Optional(Type.Integer({ description: "Of the input, what providers had cached" })),
  savedUsd: Type.Optional(
    named(
      "saved_cost",
      Type.Number({ description: "What caching saved; negative if more was written to caches than read" }),
    ),
  ),
};
const latency = {
  p50: named("p50_millis", nullable(Type.Number({ description: "How long the middle one took" }))),
  p95: named("p95_millis", nullable(Type.Number({ description: "What 95 of 100 did not exceed" }))),
};

export const Figure = Type.Object({ ...summed, ...latency }, { $id: "Figure" });
export type Figure = Declared<typeof Figure>;

const GroupFigure = Type.Object(
  {
    name: Type.String(),
    ...summed,
    ...latency,
    points: Type.Array(Type.Object({ at: Time, ...summed }), {
      description: "Over time, for the five with most; hours or days with nothing are left out",
    }),
  },
  { $id: "GroupFigure" },
);
export type GroupFigure = Declared<typeof GroupFigure>;

export const Figures = Type.Object(
  {
    total: Figure,
    points: Type.Array(Type.Object({ at: Time, ...summed, ...latency })),
    groups: Type.Array(GroupFigure, { description: "The fifty with most, largest first" }),
  },
  { $id: "Figures" },
);
export type Figures = Declared<typeof Figures>;

export const UsedStorage = Type.Object(
  {
    bytes: Type.Integer({ description: "The bytes of all kinds together" }),
    maxBytes: Type.Integer({ description: "A user may keep this much (USER_STORAGE_MB)" }),
    kinds: Type.Record(Type.String(), Type.Integer(), {
      description: "Bytes by kind: threads, files, memory and so on",
    }),
  },
  { $id: "UsedStorage" },
);
export type UsedStorage = Declared<typeof UsedStorage>;

/** How somebody answered questions of the gates. They alone see it. */
export const AnsweredQuestions = Type.Object(
  {
    count: Type.Integer({ description: "Questions that were answered, of the newest 500" }),
    yes: Type.Integer({ description: "How many of them were allowed, in whatever way" }),
    p50: named(
      "p50_millis",
      nullable(Type.Number({ description: "How long the middle one was looked at, from when it was shown" })),
    ),
    isHasty: Type.Boolean({ description: "Nearly all were allowed, half of them in about a second or less" }),
  },
  { $id: "AnsweredQuestions" },
);
export type AnsweredQuestions = Declared<typeof AnsweredQuestions>;

export const UsageBy = Type.Enum(["model", "tool", "user", "channel"]);
export type UsageBy = Declared<typeof UsageBy>;
