/**
 * Slows down guessing. After a few wrong tokens from one address each further refusal waits for the one before it, so that an
 * address gets fewer and fewer guesses. Only refusals wait: a valid token is never delayed by other people's guesses, even
 * from the same address. Nodes on one PostgreSQL count together.
 */
import { setTimeout as sleep } from "node:timers/promises";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import { createMutex } from "../../../kernel/kit/concurrency.ts";
import type { Sql } from "../../../kernel/plugin.ts";

const FREE_FAILURES = 5;
const STEP_MS = 200;
const MAX_STEP_MS = 2000;
// Clients and proxies give up after about a minute; they should get their 401 before that.
const MAX_WAIT_MS = 30_000;
const FORGET_AFTER_MS = 5 * 60_000;
const MAX_ADDRESSES = 10_000;

export function createThrottle(sql?: Sql) {
  const countHere = createCount();
  const countTogether = sql?.engine === "postgres" ? createSharedCount(sql) : undefined;
  return {
    /** Counts a wrong token from this address, and resolves when the refusal may be sent. */
    async failed(from: string): Promise<void> {
      const network = networkOf(from);
      const here = countHere(network);
      // Without the database each node still counts for itself. An address that already waits the maximum need not be counted further.
      const together = here < MAX_WAIT_MS ? await countTogether?.(network).catch(() => 0) : here;
      const wait = Math.max(here, together ?? 0);
      if (wait > 0) await sleep(wait, undefined, { ref: false });
    },
  };
}

/** Counts a failure and returns how many milliseconds its refusal has to wait. */
function createCount(): (network: string) => number {
  // As a size: with `max` the arrays of all its places would be made at every start.
  const records = new LRUCache<string, { failures: number; nextAt: number }>({
    maxSize: MAX_ADDRESSES,
    sizeCalculation: () => 1,
    ttl: FORGET_AFTER_MS,
  });
  return (network) => {
    const record = records.get(network) ?? { failures: 0, nextAt: 0 };
    record.failures++;
    // Set again on each failure, so that the time to live starts anew.
    records.set(network, record);
    if (record.failures <= FREE_FAILURES) return 0;
    const now = Date.now();
    const step = Math.min(MAX_STEP_MS, STEP_MS * (record.failures - FREE_FAILURES));
    record.nextAt = Math.min(Math.max(now, record.nextAt) + step, now + MAX_WAIT_MS);
    return record.nextAt - now;
  };
}

const NOW = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/** Counts in the same way for all nodes, by the database's clock. */
const COUNT = `
  INSERT INTO gateway_guesses AS known (network, failures, next_at, failed_at) VALUES (?, 1, 0, ${NOW})
  ON CONFLICT (network) DO UPDATE SET
    failures = CASE WHEN known.failed_at < ${NOW} - ${FORGET_AFTER_MS} THEN 1 ELSE known.failures + 1 END,
    next_at = CASE
      WHEN known.failed_at < ${NOW} - ${FORGET_AFTER_MS} OR known.failures < ${FREE_FAILURES} THEN 0
      ELSE least(
        greatest(${NOW}, known.next_at)
          + least(${MAX_STEP_MS}, ${STEP_MS} * (known.failures + 1 - ${FREE_FAILURES})),
        ${NOW} + ${MAX_WAIT_MS})
    END,
    failed_at = ${NOW}
  RETURNING greatest(0, next_at - ${NOW}) AS wait`;

const FORGET = `DELETE FROM gateway_guesses WHERE failed_at < ${NOW} - ${FORGET_AFTER_MS}`;
const FORGET_EVERY = 100;

function createSharedCount(sql: Sql): (network: string) => Promise<number> {
  let count = 0;
  // Guesses from one network wait for the same row: a flood of them must not use up every connection of this node.
  const inTurn = createMutex();
  return async (network) =>
    inTurn(network, async () => {
      if (++count % FORGET_EVERY === 0) await sql.run(FORGET);
      return (await sql.get<{ readonly wait: number }>(COUNT, network))?.wait ?? 0;
    });
}

/** Somebody with one IPv6 address usually has the whole /64 network. */
function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.parse(address).parts.slice(0, 4).join(":");
}
