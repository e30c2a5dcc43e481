/**
 * Limits that all nodes on one PostgreSQL count together. One statement decides: a visit to the database reports what its node took
 * and books a block of permits for it.
 *
 * Never more than the limit. A visit has its key for itself. It counts every place that was taken within the window and every
 * block that is out, and grants no more than the limit leaves. A block counts in full, as if all of it had been taken at the last
 * moment at which its node may use it. So for each window, at any time:
 *     taken within it ≤ reported within it + blocks that are out ≤ limit.
 * A node uses a permit and notes it in one step, and drops its block before it reports: nothing is used between what it says and
 * what the database then believes. A report that is sent twice counts once. A node that died, or is cut off, reports nothing: its
 * block counts as taken until its window ends, and it could not use the block for longer either.
 *
 * Exactly the limit. No caller is refused while another living node holds a block: it is recalled, and the visit made again. When
 * the last places are given out there is no surplus, so each further visit takes a place or finds none. Where all is reported and
 * nothing left, nothing can be until the oldest place leaves its window, so until then no node asks.
 */
import { setImmediate as giveWay } from "node:timers/promises";
import { createMutex } from "../../../kernel/kit/concurrency.ts";
import type { LimitVerdict } from "../../../kernel/kit/store.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import type { LimitWindow, OpenLimiter, Store } from "../services.ts";
import { longestMs, record, type Take, verdictOf, type WindowState } from "./places.ts";

export type FleetStore = Pick<Store, "tables" | "node" | "signals">;

/** The message with which nodes recall permits: first to those that hold some, then back from each. */
interface Recall {
  readonly name: string;
  readonly key: string;
  /** The holders that are asked to give permits back. */
  readonly holders?: readonly string[];
  /** The node that gave permits back. */
  readonly holder?: string;
}

/** What a visit found, and a clock of the time since. */
interface Seen {
  readonly now: number;
  readonly windows: readonly WindowState[];
  /** The other living nodes that hold permits, as `<node>:<number>`. */
  readonly holders: readonly string[];
  elapsed(): number;
}

interface Bucket {
  readonly key: string;
  /** What is left of its block. */
  held: number;
  /** What was taken since the last visit. */
  taken: Take[];
  waiting: number;
  drawing?: Promise<boolean> | undefined;
  seen?: Seen;
}

const TOPIC = "limiter";
const MAX_BLOCK_MS = 60_000;
/** A caller waits this long for others to give permits back, then it is refused. */
const RECALL_TIMEOUT_MS = 2000;
/** A holder that did not reply is not asked again for a while: it is probably dead, and soon known to be. */
const SILENCE_MS = 15_000;
/** Keys and rows that no longer count are dropped whenever so many keys were opened, or visits made. */
const SWEEP_EVERY = 1000;
const SWEPT_AT_ONCE = 1000;
/** Besides what is asked for, a part of what is left is granted: the last places are then not spread over nodes. */
export const SURPLUS_PART = 4;
export const MAX_SURPLUS = 100;

let limiters = 0;

export function openFleetLimiter(
  sql: Sql,
  name: string,
  windows: readonly LimitWindow[],
  { node: { id: node, living }, signals }: FleetStore,
): OpenLimiter {
  const number = -++limiters;
  const self = `${node}:${number}`;
  const longest = longestMs(windows);
  const blockMs = Math.min(MAX_BLOCK_MS, ...windows.map(({ seconds }) => seconds * 1000));
  const statement = drawing(windows, living, blockMs);
  const buckets = new Map<string, Bucket>();
  const silent = new Map<string, number>();
  const inTurn = createMutex();
  const listening = signals.listen(TOPIC, (text) => hear(JSON.parse(text) as Recall));
  let opened = 0;
  let visits = 0;

  function open(key: string): Bucket {
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      if (++opened % SWEEP_EVERY === 0) sweep();
      bucket = { key, held: 0, taken: [], waiting: 0 };
      buckets.set(key, bucket);
    }
    return bucket;
  }

  /** Drops those of which the database no longer counts anything. */
  function sweep(): void {
    for (const [key, bucket] of buckets) {
      const isVoid = bucket.seen === undefined || bucket.seen.elapsed() > blockMs + longest;
      if (isVoid && bucket.waiting === 0) buckets.delete(key);
    }
  }

  /** The database's time: rather too late than too early, so that what is reported counts for longer and never for less. */
  const timeOf = ({ seen }: Bucket): number => (seen === undefined ? 0 : seen.now + seen.elapsed());

  /** Uses a permit and notes it, in one step. */
  function use(bucket: Bucket): boolean {
    if (bucket.held === 0 || bucket.seen === undefined || bucket.seen.elapsed() >= blockMs) return false;
    bucket.held--;
    record(bucket.taken, timeOf(bucket));
    return true;
  }

  function verdict(bucket: Bucket, ok?: boolean): LimitVerdict {
    const states = (bucket.seen?.windows ?? []).map((window) => ({
      ...window,
      left: window.left + bucket.held,
      oldest: window.oldest ?? bucket.taken[0]?.taken_at,
    }));
    return verdictOf(ok ?? states.every(({ left }) => left > 0), states, timeOf(bucket));
  }

  /** Visits for a key are made one after the other. */
  const visit = (bucket: Bucket, count: () => number): Promise<void> =>
    inTurn(bucket.key, async () => {
      // A node that holds a block has to hear when it is recalled.
      await listening.ready();
      // Those who waited first use what the visit before has drawn for them.
      await giveWay();
      const report = bucket.taken;
      const elapsed = startClock();
      // Nothing of the block is used from here on.
      bucket.taken = [];
      bucket.held = 0;
      try {
        const { granted, ...seen } = await ask(bucket.key, report, count());
        bucket.seen = { ...seen, elapsed };
        bucket.held = granted;
      } catch (error) {
        // The database may have heard it or not: what counts once is said again.
        bucket.taken = report;
        throw error;
      }
    });

  async function ask(key: string, report: readonly Take[], wanted: number) {
    if (++visits % SWEEP_EVERY === 0) await sql.run(SWEEP);
    const row = await sql.transaction(async (tx) => {
      // The lock comes in a statement of its own: the next one then sees what those before us did.
      const [, drawn] = await Promise.all([
        tx.get(LOCK, `${name} ${key}`),
        tx.get<Row>(statement, name, key, node, number, JSON.stringify(report), wanted),
      ]);
      return drawn;
    });
    if (row === undefined) throw new Error("the limiter's statement returned nothing");
    const { now, granted } = row;
    const states = windows.map((window, at) => ({
      ...window,
      left: Number(row[`room_${at}`]) - granted,
      oldest: (row[`oldest_${at}`] as number | null) ?? undefined,
    }));
    return { now, granted, windows: states, holders: row.holders?.split(",") ?? [] };
  }

  /** Nothing is left, no node holds any, and the oldest place is still in its window. */
  function isFull(bucket: Bucket): boolean {
    const { held, taken, seen } = bucket;
    if (held > 0 || seen === undefined || seen.holders.length > 0) return false;
    const now = timeOf(bucket);
    return seen.windows.some(({ left, oldest = taken[0]?.taken_at ?? 0, seconds }) => {
      return left <= 0 && now < oldest + seconds * 1000;
    });
  }

  /** Draws a block for those who wait. False if there was nothing, and no other node has permits to give back. */
  function draw(bucket: Bucket): Promise<boolean> {
    bucket.drawing ??= visit(bucket, () => bucket.waiting)
      .then(() => bucket.held > 0 || recall(bucket))
      .finally(() => {
        bucket.drawing = undefined;
      });
    return bucket.drawing;
  }

  /** Resolves when all who hold permits have given them back, or have had their time. False if there are none to ask. */
  async function recall({ key, seen }: Bucket): Promise<boolean> {
    const holders = seen?.holders.filter((holder) => (silent.get(holder) ?? 0) < performance.now()) ?? [];
    if (holders.length === 0) return false;
    const pending = new Set(holders);
    const { promise, resolve } = Promise.withResolvers<void>();
    const replies = signals.listen(TOPIC, (text) => {
      const { name: other, key: given, holder } = JSON.parse(text) as Recall;
      if (other === name && given === key && holder !== undefined) pending.delete(holder);
      if (pending.size === 0) resolve();
    });
    const timer = setTimeout(resolve, RECALL_TIMEOUT_MS);
    try {
      await replies.ready();
      await tell({ name, key, holders });
      await promise;
    } finally {
      clearTimeout(timer);
      replies();
    }
    for (const holder of pending) silent.set(holder, performance.now() + SILENCE_MS);
    return true;
  }

  const tell = (message: Recall): Promise<void> => signals.send(TOPIC, JSON.stringify(message));

  function hear({ name: other, key, holders, holder }: Recall): void {
    const bucket = buckets.get(key);
    if (holder !== undefined) silent.delete(holder);
    if (other !== name || bucket === undefined || !holders?.includes(self)) return;
    visit(bucket, () => 0)
      .then(() => tell({ name, key, holder: self }))
      // The node that asked gets no reply, and counts the block as used.
      .catch(() => {});
  }

  return {
    async take(key) {
      const bucket = open(key);
      const elapsed = startClock();
      for (let hasMore = true; !use(bucket); ) {
        if (!hasMore || isFull(bucket) || elapsed() > RECALL_TIMEOUT_MS) return verdict(bucket, false);
        bucket.waiting++;
        hasMore = await draw(bucket).finally(() => bucket.waiting--);
      }
      return verdict(bucket, true);
    },
    async peek(key) {
      const bucket = open(key);
      const elapsed = startClock();
      do await visit(bucket, () => 0);
      while (elapsed() < RECALL_TIMEOUT_MS && (await recall(bucket)));
      return verdict(bucket);
    },
    async close() {
      listening();
      const held = [...buckets.values()].filter(({ held: left, taken }) => left > 0 || taken.length > 0);
      await Promise.allSettled(held.map((bucket) => visit(bucket, () => 0)));
    },
  };
}

/** Milliseconds since now, by the faster of two clocks: one stands still while the machine sleeps, the other is set. */
function startClock(): () => number {
  const steady = performance.now();
  const wall = Date.now();
  return () => Math.ceil(Math.max(performance.now() - steady, Date.now() - wall));
}

// Rows of keys that no node asks for any more.
const SWEEP = `DELETE FROM limiter_takes WHERE ctid IN (
  SELECT ctid FROM limiter_takes WHERE expires_at < (extract(epoch FROM now()) * 1000)::bigint
  LIMIT ${SWEPT_AT_ONCE} FOR UPDATE SKIP LOCKED)`;

const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(?, 7300))";

type Row = Readonly<Record<`room_${number}` | `oldest_${number}`, number | null>> & {
  readonly now: number;
  readonly granted: number;
  readonly holders: string | null;
};

/** Takes the report, counts what stands in each window, and books a block for what is granted. */
function drawing(windows: readonly LimitWindow[], living: string, blockMs: number): string {
  const longest = longestMs(windows);
  const counts = windows.map(({ limit, seconds }, at) => {
    const inside = `FILTER (WHERE taken_at > now - ${seconds * 1000})`;
    return `(${limit} - coalesce(sum(places) ${inside}, 0))::bigint AS room_${at}, min(taken_at) ${inside} AS oldest_${at}`;
  });
  const room = `least(${windows.map((_, at) => `room_${at}`).join(", ")})`;
  return `
    WITH asked AS MATERIALIZED (
      SELECT CAST(? AS text) AS name, CAST(? AS text) AS key, CAST(? AS text) AS node, CAST(? AS bigint) AS number,
        CAST(? AS json) AS report, CAST(? AS bigint) AS wanted,
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
    ),
    expired AS (
      DELETE FROM limiter_takes AS takes USING asked
      WHERE takes.name = asked.name AND takes.key = asked.key AND takes.expires_at <= asked.now
        AND (takes.node <> asked.node OR takes.number <> asked.number)
    ),
    reported AS (
      INSERT INTO limiter_takes (name, key, node, number, taken_at, places, expires_at)
      SELECT asked.name, asked.key, asked.node, given.number, given.taken_at, given.places, given.taken_at + ${longest}
      FROM asked, json_to_recordset(asked.report) AS given (number bigint, taken_at bigint, places bigint)
      ON CONFLICT (name, key, node, number) DO NOTHING
      RETURNING taken_at, places
    ),
    standing AS (
      SELECT takes.taken_at, takes.places,
        CASE WHEN takes.number < 0 AND takes.places > 0 AND takes.expires_at > asked.now AND takes.node IN ${living}
          THEN takes.node || ':' || takes.number END AS holder
      FROM limiter_takes AS takes, asked
      WHERE takes.name = asked.name AND takes.key = asked.key
        AND (takes.node <> asked.node OR takes.number <> asked.number)
      UNION ALL SELECT taken_at, places, NULL FROM reported
    ),
    seen AS (
      SELECT now, wanted, string_agg(DISTINCT holder, ',') AS holders, ${counts.join(", ")}
      FROM asked LEFT JOIN standing ON true GROUP BY now, wanted
    ),
    decided AS (
      SELECT seen.*, CASE
        WHEN wanted = 0 OR ${room} <= 0 THEN 0
        ELSE least(${room}, wanted + least(${MAX_SURPLUS}, greatest(0, (${room} - wanted) / ${SURPLUS_PART})))
      END AS granted FROM seen
    ),
    booked AS (
      INSERT INTO limiter_takes (name, key, node, number, taken_at, places, expires_at)
      SELECT name, key, node, number, asked.now + ${blockMs}, granted, asked.now + ${blockMs + longest}
      FROM asked, decided
      ON CONFLICT (name, key, node, number) DO UPDATE
      SET taken_at = excluded.taken_at, places = excluded.places, expires_at = excluded.expires_at
    )
    SELECT * FROM decided`;
}
