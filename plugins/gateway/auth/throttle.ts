/**
 * Slows down whoever guesses. After a few wrong tokens from one address each further refusal waits for the one before it, so that a
 * connection gets fewer and fewer guesses. Only refusals wait: whoever has a valid token notices nothing of others' guesses, even
 * from the same address. Nodes on one PostgreSQL count together.
 */
import { setTimeout as sleep } from "node:timers/promises";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import { createMutex } from "../../../kernel/kit.ts";
import type { Sql } from "../../../kernel/plugin.ts";

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

export function createThrottle(sql?: Sql): Throttle {
  const countHere = createCount();
  const countTogether = sql?.engine === "postgres" ? createSharedCount(sql) : undefined;
  return {
    async failed(from) {
      const network = networkOf(from);
      const here = countHere(network);
      // Without the database each node still counts for itself. Who waits as long as can be need not be counted further.
      const together = here < LONGEST_WAIT_MILLIS ? await countTogether?.(network).catch(() => 0) : here;
      const wait = Math.max(here, together ?? 0);
      if (wait > 0) await sleep(wait, undefined, { ref: false });
    },
  };
}

/** Counts a failure; answers how many milliseconds its refusal has to wait. */
function createCount(): (network: string) => number {
  const records = new LRUCache<string, Guesser>({ max: MOST_ADDRESSES, ttl: FORGET_MILLIS });
  return (network) => {
    const record = records.get(network) ?? { failures: 0, nextAt: 0 };
    record.failures++;
    // Counted from the last failure.
    records.set(network, record);
    if (record.failures <= FREE_FAILURES) return 0;
    const now = Date.now();
    const step = Math.min(LONGEST_STEP_MILLIS, STEP_MILLIS * (record.failures - FREE_FAILURES));
    record.nextAt = Math.min(Math.max(now, record.nextAt) + step, now + LONGEST_WAIT_MILLIS);
    return record.nextAt - now;
  };
}

const NOW = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/** The same among nodes, by the database's clock. */
const COUNT = `
  INSERT INTO gateway_guesses AS known (network, failures, next_at, failed_at) VALUES (?, 1, 0, ${NOW})
  ON CONFLICT (network) DO UPDATE SET
    failures = CASE WHEN known.failed_at < ${NOW} - ${FORGET_MILLIS} THEN 1 ELSE known.failures + 1 END,
    next_at = CASE
      WHEN known.failed_at < ${NOW} - ${FORGET_MILLIS} OR known.failures < ${FREE_FAILURES} THEN 0
      ELSE least(
        greatest(${NOW}, known.next_at)
          + least(${LONGEST_STEP_MILLIS}, ${STEP_MILLIS} * (known.failures + 1 - ${FREE_FAILURES})),
        ${NOW} + ${LONGEST_WAIT_MILLIS})
    END,
    failed_at = ${NOW}
  RETURNING greatest(0, next_at - ${NOW}) AS wait`;

const FORGET = `DELETE FROM gateway_guesses WHERE failed_at < ${NOW} - ${FORGET_MILLIS}`;
const FORGET_EVERY = 100;

function createSharedCount(sql: Sql): (network: string) => Promise<number> {
  let count = 0;
  // Two guesses from one network wait for the same row: a flood of them must not hold every connection of this node.
  const inTurn = createMutex();
  return async (network) =>
    inTurn(network, async () => {
      if (++count % FORGET_EVERY === 0) await sql.run(FORGET);
      return (await sql.get<{ readonly wait: number }>(COUNT, network))?.wait ?? 0;
    });
}

/** Whoever has one IPv6 address has the 2⁶⁴ beside it too. */
function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.parse(address).parts.slice(0, 4).join(":");
}
