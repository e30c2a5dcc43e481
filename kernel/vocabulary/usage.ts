/** Tokens and what they cost. On the wire the total is counted too, and the prices stand together with their currency. */

import { type Declared, reshaped } from "./wire/form.ts";
import { Type } from "./wire/type.ts";

const tokens = {
  inputTokens: Type.Integer(),
  outputTokens: Type.Integer(),
  cachedTokens: Type.Integer(),
  reasoningTokens: Type.Integer(),
};

/** Decimal strings of US dollars; "0" where the price is not known. */
const counted = Type.Object({
  ...tokens,
  inputCost: Type.String(),
  outputCost: Type.String(),
  totalCost: Type.String(),
});

export const Cost = Type.Object({
  inputCostUsd: Type.String(),
  outputCostUsd: Type.String(),
  totalCostUsd: Type.String(),
  currency: Type.Literal("USD"),
});

export const Usage = reshaped(
  counted,
  Type.Object({ ...tokens, totalTokens: Type.Integer(), cost: Cost }, { $id: "Usage" }),
  {
    to: ({ inputCost, outputCost, totalCost, ...counts }) => ({
      ...counts,
      totalTokens: counts.inputTokens + counts.outputTokens,
      cost: {
        inputCostUsd: inputCost,
        outputCostUsd: outputCost,
        totalCostUsd: totalCost,
        currency: "USD" as const,
      },
    }),
    from: ({ totalTokens: _, cost, ...counts }) => ({
      ...counts,
      inputCost: cost.inputCostUsd,
      outputCost: cost.outputCostUsd,
      totalCost: cost.totalCostUsd,
    }),
  },
);
export type Usage = Declared<typeof Usage>;
