/** Numbers as people read them: tokens, dollars, bytes and durations. */
import { dollars } from "../../../kernel/kit/words.ts";
import type { TurnRecord } from "../../../kernel/plugin.ts";

export function thousands(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(1)}k`;
}

export function percentOf(part: number): string {
  return part > 0 && part < 0.01 ? "<1%" : `${Math.round(part * 100)}%`;
}

/** The model, tokens and cost of a turn; empty if the model counts no tokens. */
export function spendingOf({ model, usage }: Pick<TurnRecord, "model" | "usage">): string {
  const { inputTokens, outputTokens, totalCost } = usage;
  if (inputTokens + outputTokens === 0) return "";
  const cost = Number(totalCost);
  const tokens = `${thousands(inputTokens)} tokens in, ${thousands(outputTokens)} out`;
  return [model.name, tokens, ...(cost > 0 ? [dollars(cost)] : [])].join(" · ");
}

export function sizeOf(bytes: number): string {
  if (bytes < 1000) return plural(bytes, "byte");
  return bytes < 1_000_000
    ? `${Math.round(bytes / 1000)} kB`
    : `${Number((bytes / 1_000_000).toFixed(1))} MB`;
}

export function durationOf(millis: number): string {
  if (millis < 1000) return `${Math.round(millis)} ms`;
  const whole = Math.floor(millis / 1000);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** How long something has been going on, in whole seconds after a space; nothing in the first one. */
export const elapsedOf = (millis: number): string =>
  millis < 1000 ? "" : ` ${durationOf(Math.floor(millis / 1000) * 1000)}`;
