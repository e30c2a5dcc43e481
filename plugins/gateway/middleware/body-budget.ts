/** How much memory bodies may take, for each caller and in all: from before they are read until the response is over. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import { Fault } from "../../../kernel/plugin.ts";
import type { BodyLimits } from "../settings.ts";

export type BodyBudget = ReturnType<typeof createBodyBudget>;

const MAX_CALLERS = 10_000;
const RETRY_SECS = 1;

const BUSY = new Fault("unavailable", "busy", "The service is busy: try again in a second.", {
  retryAfterSecs: RETRY_SECS,
});

export function createBodyBudget({ callerBytes, allBytes, minuteBytes }: BodyLimits) {
  const held = new Map<string, number>();
  // As a size: with `max` the arrays of all its places would be made at every start.
  const sent = new LRUCache<string, { bytes: number }>({
    maxSize: MAX_CALLERS,
    sizeCalculation: () => 1,
    ttl: 60_000,
  });
  let all = 0;

  const add = (caller: string, bytes: number): void => {
    all += bytes;
    const left = (held.get(caller) ?? 0) + bytes;
    if (left > 0) held.set(caller, left);
    else held.delete(caller);
  };

  const take = (caller: string, response: ServerResponse, bytes: number): void => {
    if ((held.get(caller) ?? 0) + bytes > callerBytes)
      throw limited("Too much of what you sent or asked for is still under way: wait for that, then go on.");
    if (all + bytes > allBytes) throw BUSY;
    add(caller, bytes);
    response.once("close", () => add(caller, -bytes));
  };

  return {
    /** Throws a fault if the caller has sent too much within a minute. The reader takes at most `maxBytes`. */
    count(caller: string, request: IncomingMessage, maxBytes: number): void {
      const bytes = sizeOf(request, maxBytes);
      if (bytes === 0) return;
      const minute = sent.get(caller) ?? { bytes: 0 };
      if (minute.bytes === 0) sent.set(caller, minute);
      if (minute.bytes + bytes > minuteBytes)
        throw limited(
          "You have sent too much within a minute: wait, then go on.",
          sent.getRemainingTTL(caller),
        );
      minute.bytes += bytes;
    },
    /** Throws a fault if the caller, or all of them together, hold too much. */
    hold(caller: string, request: IncomingMessage, response: ServerResponse, maxBytes: number): void {
      const bytes = sizeOf(request, maxBytes);
      if (bytes > 0) take(caller, response, bytes);
    },
    /** The same for a response that is complete: it stays in memory until its reader has taken it. */
    holdAnswer: take,
    get heldBytes(): number {
      return all;
    },
  };
}

/** A body whose length is not declared counts as the largest that may come; of one that is too large nothing is kept. */
function sizeOf({ headers }: IncomingMessage, maxBytes: number): number {
  if (headers["transfer-encoding"] !== undefined) return maxBytes;
  return Math.min(Number(headers["content-length"] ?? 0) || 0, maxBytes);
}

function limited(message: string, millis = RETRY_SECS * 1000): Fault {
  return new Fault("limited", "too_much_at_once", message, { retryAfterSecs: Math.ceil(millis / 1000) });
}
