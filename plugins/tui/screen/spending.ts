/** Tokens and dollars as people read them. */
import type { TurnRecord } from "../../../kernel/plugin.ts";

export function thousands(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(1)}k`;
}

export function dollars(cost: number): string {
  return `$${cost.toFixed(cost < 0.01 ? 4 : 2)}`;
}

/** What a turn took; empty where the model counts nothing. */
export function spendingOf({ model, usage }: Pick<TurnRecord, "model" | "usage">): string {
  const { inputTokens, outputTokens, totalCost } = usage;
  if (inputTokens + outputTokens === 0) return "";
  const cost = Number(totalCost);
  const tokens = `${thousands(inputTokens)} tokens in, ${thousands(outputTokens)} out`;
  return [model.name, tokens, ...(cost > 0 ? [dollars(cost)] : [])].join(" · ");
}
