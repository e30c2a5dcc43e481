/**
 * Slows down whoever guesses. After a few wrong tokens from one address every further answer to it waits its
 * turn, so that guessing in parallel gains nothing. What was right before is not made to wait.
 */
import { setTimeout as sleep } from "node:timers/promises";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

const FREE_FAILURES = 5;
const STEP_MILLIS = 200;
const LONGEST_STEP_MILLIS = 2000;
const LONGEST_WAIT_MILLIS = 5000;
const FORGET_MILLIS = 5 * 60_000;
const MOST_ADDRESSES = 10_000;

interface Guesser {
  failures: number;
  /** When the next answer to this address may go out. */
  nextAt: number;
}

export interface Throttle {
  failed(address: string): void;
  /** Waits this address's turn; seconds to come back in, where the queue is too long to wait. */
  wait(address: string): Promise<number | undefined>;
}

export function createThrottle(): Throttle {
  // Counted from the last failure: looking does not make a record younger.
  const records = new LRUCache<string, Guesser>({ max: MOST_ADDRESSES, ttl: FORGET_MILLIS });
  return {
    failed(from) {
      const address = networkOf(from);
      const record = records.get(address) ?? { failures: 0, nextAt: 0 };
      record.failures++;
      records.set(address, record);
    },
    async wait(from) {
      const record = records.get(networkOf(from));
      if (record === undefined || record.failures < FREE_FAILURES) return undefined;
      const now = Date.now();
      const step = Math.min(LONGEST_STEP_MILLIS, STEP_MILLIS * (record.failures - FREE_FAILURES + 1));
      const at = Math.max(now, record.nextAt) + step;
      if (at - now > LONGEST_WAIT_MILLIS) return Math.ceil((record.nextAt - now) / 1000);
      record.nextAt = at;
      await sleep(at - now, undefined, { ref: false });
      return undefined;
    },
  };
}

/** Whoever has one IPv6 address has the 2⁶⁴ beside it too. */
function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.parse(address).parts.slice(0, 4).join(":");
}
