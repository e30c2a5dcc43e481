/** Checks a routine before it is kept. */

import { isIdentity } from "../../../kernel/kit/people.ts";
import { Fault } from "../../../kernel/plugin.ts";
import type { RoutineBudget } from "../routine.ts";

export interface RoutineLimits {
  readonly perUser: number;
  readonly leastMinutes: number;
}

export const MAX_TEXT_LENGTH = 8000;
export const DEFAULT_TIMEOUT_SECS = 3600;
const MAX_TIMEOUT_SECS = 86_400;
const MAX_USD = 100_000;

export function assertText(text: string): string {
  const given = text.trim();
  if (given === "") throw invalid("empty_text", "Say what the routine should do.", "text");
  if (given.length > MAX_TEXT_LENGTH)
    throw invalid(
      "text_too_long",
      `The text of a routine has at most ${MAX_TEXT_LENGTH} characters.`,
      "text",
    );
  return given;
}

export function assertTimeout(secs: number): void {
  if (Number.isInteger(secs) && secs >= 1 && secs <= MAX_TIMEOUT_SECS) return;
  throw invalid("bad_timeout", "The timeout of a run is 1 second to 24 hours.", "timeout_secs");
}

export function assertBudget({ usd }: RoutineBudget): void {
  if (usd > 0 && usd <= MAX_USD) return;
  throw invalid("bad_budget", `A budget is more than $0 and at most $${MAX_USD}.`, "budget");
}

export function assertDelivery(name: string, known: ReadonlySet<string> | undefined): void {
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(name))
    throw invalid(
      "bad_delivery",
      `"${name.slice(0, 40)}" is not where answers can go. Use callback.`,
      "deliver",
    );
  if (known === undefined || known.has(name)) return;
  const there = [...known].join(", ");
  throw invalid(
    "unknown_delivery",
    `Answers cannot go to "${name}" here. ${there === "" ? "callback needs HTTP_ENABLED=true and HTTP_CALLBACK_URL." : `There is: ${there}.`}`,
    "deliver",
  );
}

/** Nobody who signs in could see or stop the routine of one. */
export function assertOwner(user: string): void {
  if (user !== "" && !isIdentity(user)) return;
  throw invalid(
    "not_an_account",
    "A routine belongs to an account. Pair the identity with one first.",
    "user",
  );
}

export function invalid(code: string, message: string, param?: string): Fault {
  return new Fault("invalid", code, message, { param, usage: true });
}
