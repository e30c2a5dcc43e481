/** Every rate limit uses one code, the same headers and the same words. */
import { Fault } from "../fault.ts";
import type { LimitVerdict } from "../vocabulary/store.ts";

export const RATE_LIMIT_EXCEEDED = "rate_limit_exceeded";
/** Scripts of other origins may read these. */
export const RATE_LIMIT_HEADERS = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

/** Writes the remaining calls into the response headers, and throws a fault when there are none. */
export function applyLimit(
  verdict: LimitVerdict,
  answer: { set(headers: Record<string, string>): void },
  /** `perRequests` adds the names that clients of the Responses API read. */
  { perRequests = false }: { readonly perRequests?: boolean } = {},
): void {
  const { limit, remaining, resetSecs } = verdict;
  answer.set({
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(resetSecs),
    ...(perRequests && {
      "x-ratelimit-limit-requests": String(limit),
      "x-ratelimit-remaining-requests": String(remaining),
      "x-ratelimit-reset-requests": `${resetSecs}s`,
    }),
  });
  if (!verdict.ok)
    throw new Fault("limited", RATE_LIMIT_EXCEEDED, limitWords(verdict), { retryAfterSecs: resetSecs });
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
