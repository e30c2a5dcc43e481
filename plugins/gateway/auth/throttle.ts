/**
 * Slows down whoever guesses. After a few wrong tokens from one address each further refusal waits for the one before it, so that a
 * connection gets fewer and fewer guesses. Only refusals wait: whoever has a valid token notices nothing of others' guesses, even
 * from the same address.
 */
import { setTimeout as sleep } from "node:timers/promises";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

const FREE_FAILURES = 5;
const STEP_MILLIS = 200;
const LONGEST_STEP_MILLIS = 2000;
// Clients and proxies give up after a minute or so; they are to read 401, not to run into that.
const LONGEST_WAIT_MILLIS = 30_000;
const FORGET_MILLIS = 5 * 60_000;
const MOST_ADDRESSES = 10_000;

interface Guesser {
  failures: number;
  /** When the next refusal to this address may go out. */
  nextAt: number;
}

export interface Throttle {
  /** Counts a wrong token from this address, and resolves when that may be answered. */
  failed(address: string): Promise<void>;
}

export function createThrottle(): Throttle {
  const records = new LRUCache<string, Guesser>({ max: MOST_ADDRESSES, ttl: FORGET_MILLIS });
  return {
    async failed(from) {
      const address = networkOf(from);
      const record = records.get(address) ?? { failures: 0, nextAt: 0 };
      record.failures++;
      // Counted from the last failure.
      records.set(address, record);
      if (record.failures <= FREE_FAILURES) return;
      const now = Date.now();
      const step = Math.min(LONGEST_STEP_MILLIS, STEP_MILLIS * (record.failures - FREE_FAILURES));
      record.nextAt = Math.min(Math.max(now, record.nextAt) + step, now + LONGEST_WAIT_MILLIS);
      await sleep(record.nextAt - now, undefined, { ref: false });
    },
  };
}

/** Whoever has one IPv6 address has the 2⁶⁴ beside it too. */
function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.parse(address).parts.slice(0, 4).join(":");
}
