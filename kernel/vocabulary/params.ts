/** The params of a tool call, which a model wrote: what is wrong with them, in words that let it call again. */

import { describeMistakes, type Mistake } from "../schema/mistake.ts";
import type { ToolOutcome } from "./tool-call.ts";

export type ParamsVerdict =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly detail: string };

export function judgeParams(
  params: string,
  check: (value: unknown, size: number) => readonly Mistake[],
): ParamsVerdict {
  let value: unknown;
  try {
    value = JSON.parse(params);
  } catch (error) {
    return { ok: false, detail: `not JSON: ${(error as Error).message}` };
  }
  const mistakes = check(value, params.length);
  return mistakes.length === 0
    ? { ok: true, value }
    : { ok: false, detail: describeMistakes(mistakes, "params") };
}

/** §4.4: what the model reads. */
export function invalidParams(detail: string): Extract<ToolOutcome, { status: "error" }> {
  return { status: "error", code: "invalid_params", message: `Invalid parameters: ${detail}` };
}
