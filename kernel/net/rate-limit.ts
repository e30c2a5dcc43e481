/** What a rate limit says, wherever it answers: one code, the same headers, the same words. */
import { Fault } from "../fault.ts";
import type { LimitVerdict } from "../vocabulary/store.ts";

export const RATE_LIMIT_EXCEEDED = "rate_limit_exceeded";

/** What a script on another page may read of it. */
export const RATE_LIMIT_HEADERS = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

export interface LimitOptions {
  /** Also under the names that clients of the Responses API read. */
  readonly perRequests?: boolean;
}

/** Writes what is left of the limit into the answer; throws the fault where nothing is. */
export function applyLimit(
  verdict: LimitVerdict,
  answer: { set(headers: Record<string, string>): void },
  options: LimitOptions = {},
): void {
  answer.set(limitHeaders(verdict, options));
  if (verdict.ok) return;
  throw new Fault("limited", RATE_LIMIT_EXCEEDED, limitWords(verdict), {
    retryAfterSecs: verdict.resetSecs,
  });
}

function limitHeaders(
  { limit, remaining, resetSecs }: LimitVerdict,
  { perRequests = false }: LimitOptions,
): Record<string, string> {
  return {
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(resetSecs),
    ...(perRequests && {
      "x-ratelimit-limit-requests": String(limit),
      "x-ratelimit-remaining-requests": String(remaining),
      "x-ratelimit-reset-requests": `${resetSecs}s`,
    }),
  };
}

export function limitWords({ limit, windowSecs, resetSecs }: LimitVerdict): string {
  const requests = limit === 1 ? "1 request" : `${limit} requests`;
  return `The rate limit of ${requests} ${windowOf(windowSecs)} is reached; next request in ${durationOf(resetSecs)}.`;
}

function windowOf(seconds: number): string {
  if (seconds === 60) return "a minute";
  return seconds === 3600 ? "an hour" : `in ${durationOf(seconds)}`;
}

function durationOf(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
