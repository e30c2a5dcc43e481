/**
 * Limits on SQLite, where one process counts. A key has a Bottleneck for each window, one chained to the next, and their reservoirs
 * decide. A permit is drawn from all of them and goes back to each when that window has passed since its use, so no window, wherever
 * it begins, holds more than its limit. Bottleneck replies from timers: permits are drawn in blocks, and the next block
 * before it is needed. What was taken is stored too, and the reservoirs of a key are restored from that when it is first used.
 */
import type Bottleneck from "bottleneck";
import type { Sql } from "../../../kernel/plugin.ts";
import type { LimitWindow, OpenLimiter } from "../services.ts";
import { longestMs, record, type Take, verdictOf } from "./places.ts";

interface Reservoir extends LimitWindow {
  /** Opened for the second block: most keys need no more than the first. */
  bottleneck?: Bottleneck;
  /** The permits in it, as it said last. */
  room: number;
  /** How many of the key's takes have left this window and gone back. */
  returned: number;
}

interface Bucket {
  readonly key: string;
  readonly openedAt: number;
  /** In the order of their times; those that have gone back to all reservoirs are dropped. */
  readonly takes: Take[];
  readonly reservoirs: readonly Reservoir[];
  /** Permits that were drawn and not used. */
  held: number;
  waiting: number;
  drawing?: Promise<void> | undefined;
  drawnAt: number;
  /** Resolves when the reservoirs are restored. */
  ready?: Promise<void>;
}

const BLOCK = 100;
/** Keys whose windows have emptied are dropped whenever so many were opened. */
const SWEEP_EVERY = 1000;

/** Without `sql` a restart forgets what was taken. */
export function openOwnLimiter(
  sql: Sql | undefined,
  name: string,
  windows: readonly LimitWindow[],
  node: string,
): OpenLimiter {
  const buckets = new Map<string, Bucket>();
  const clock = createSteadyClock();
  const longest = longestMs(windows);
  let opened = 0;
  let written: Promise<unknown> | undefined;

  /** What is in memory decides, and what is stored only after a restart: no caller waits for it. */
  function write(statement: string, ...values: (string | number)[]): void {
    written = sql?.transaction((tx) => tx.run(statement, ...values), { flush: false }).catch(() => {});
  }

  async function open(key: string): Promise<Bucket> {
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      if (++opened % SWEEP_EVERY === 0) sweep();
      const reservoirs = windows.map((window) => ({ ...window, room: window.limit, returned: 0 }));
      bucket = { key, openedAt: clock(), takes: [], reservoirs, held: 0, waiting: 0, drawnAt: 0 };
      buckets.set(key, bucket);
      bucket.ready = restore(bucket);
      // The next caller tries again.
      bucket.ready.catch(() => buckets.delete(key));
    }
    await bucket.ready;
    return bucket;
  }

  async function restore(bucket: Bucket): Promise<void> {
    const { key, takes, reservoirs, openedAt: now } = bucket;
    // What a clock noted that was ahead does not count, and nothing new is added to these rows.
    const rows = await sql?.all<Take>(
      `SELECT number, 0 AS first, taken_at, places FROM limiter_takes
       WHERE name = ? AND key = ? AND expires_at > ? AND taken_at <= ? ORDER BY taken_at`,
      ...[name, key, now, now],
    );
    takes.push(...(rows ?? []));
    const taken = takes.reduce((sum, { places }) => sum + places, 0);
    for (const reservoir of reservoirs) {
      const { places, end } = leaving(takes, reservoir, now);
      reservoir.room += places - taken;
      reservoir.returned = end;
    }
    // The reservoirs are opened with what the first block leaves: nobody waits for that one.
    bucket.held = Math.max(0, Math.min(BLOCK, ...reservoirs.map(({ room }) => room)));
    for (const reservoir of reservoirs) reservoir.room -= bucket.held;
  }

  function sweep(): void {
    const now = clock();
    for (const [key, { openedAt, takes, drawing }] of buckets) {
      const usedAt = Math.max(openedAt, takes.at(-1)?.taken_at ?? 0);
      if (drawing === undefined && usedAt <= now - longest) buckets.delete(key);
    }
    write("DELETE FROM limiter_takes WHERE name = ? AND expires_at <= ?", name, now);
  }

  /** What can be drawn now: permits whose window has passed are on their way back. */
  function roomOf({ takes, reservoirs }: Bucket, now: number): number {
    return Math.min(...reservoirs.map((each) => each.room + leaving(takes, each, now).places));
  }

  /** Uses a permit, and notes it for the next start. */
  function use(bucket: Bucket): boolean {
    if (bucket.held === 0) return false;
    const now = clock();
    bucket.held--;
    const { number, taken_at, places } = record(bucket.takes, now);
    write(
      `INSERT INTO limiter_takes (name, key, node, number, taken_at, places, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (name, key, node, number) DO UPDATE
       SET taken_at = excluded.taken_at, places = excluded.places, expires_at = excluded.expires_at`,
      ...[name, bucket.key, node, number, taken_at, places, taken_at + longest],
    );
    // A failure meets whoever has to wait for a permit.
    if (bucket.held < BLOCK / 2 && roomOf(bucket, now) > 0) draw(bucket).catch(() => {});
    return true;
  }

  function draw(bucket: Bucket): Promise<void> {
    bucket.drawing ??= drawBlock(bucket).finally(() => {
      bucket.drawing = undefined;
    });
    return bucket.drawing;
  }

  async function drawBlock(bucket: Bucket): Promise<void> {
    const { key, takes, reservoirs } = bucket;
    const chain = await openChain(bucket);
    const now = clock();
    for (const [at, reservoir] of reservoirs.entries()) {
      const { places, end } = leaving(takes, reservoir, now);
      if (places > 0) reservoir.room = (await chain[at]?.incrementReservoir(places)) ?? 0;
      reservoir.returned = end;
    }
    const gone = Math.min(...reservoirs.map(({ returned }) => returned));
    if (gone > 0) {
      takes.splice(0, gone);
      for (const reservoir of reservoirs) reservoir.returned -= gone;
      write("DELETE FROM limiter_takes WHERE name = ? AND key = ? AND expires_at <= ?", name, key, now);
    }
    const wanted = BLOCK + bucket.waiting - bucket.held;
    const weight = Math.min(wanted, ...reservoirs.map(({ room }) => room));
    if (weight <= 0) return;
    await chain[0]?.schedule({ weight }, async () => {});
    for (const reservoir of reservoirs) reservoir.room -= weight;
    bucket.held += weight;
  }

  async function openChain(bucket: Bucket): Promise<Bottleneck[]> {
    const { default: Limiter } = await import("bottleneck");
    // A Bottleneck would wait until a clock that was set back has caught up.
    const isBehind = Date.now() < bucket.drawnAt;
    bucket.drawnAt = Date.now();
    const chain = bucket.reservoirs.map((reservoir) => {
      if (isBehind) delete reservoir.bottleneck;
      // More than a reservoir has is refused, and does not wait in its queue.
      const options = { reservoir: reservoir.room, highWater: 0, strategy: Limiter.strategy.OVERFLOW };
      reservoir.bottleneck ??= new Limiter(options);
      return reservoir.bottleneck;
    });
    for (const [at, bottleneck] of chain.entries()) bottleneck.chain(chain[at + 1]);
    return chain;
  }

  function verdict(bucket: Bucket, ok?: boolean) {
    const now = clock();
    const states = bucket.reservoirs.map((reservoir) => {
      const { places, end } = leaving(bucket.takes, reservoir, now);
      const { limit, seconds, room } = reservoir;
      return { limit, seconds, left: room + places + bucket.held, oldest: bucket.takes[end]?.taken_at };
    });
    return verdictOf(ok ?? states.every(({ left }) => left > 0), states, now);
  }

  return {
    async take(key) {
      const bucket = await open(key);
      while (!use(bucket)) {
        if (roomOf(bucket, clock()) <= 0) return verdict(bucket, false);
        bucket.waiting++;
        await draw(bucket).finally(() => bucket.waiting--);
      }
      return verdict(bucket, true);
    },
    peek: async (key) => verdict(await open(key)),
    async close() {
      await written;
    },
  };
}

/** The places that have left a window and are not back in its reservoir, and where those begin that are still in it. */
function leaving(takes: readonly Take[], { seconds, returned }: Reservoir, now: number) {
  let places = 0;
  let end = returned;
  for (let take = takes[end]; take && take.taken_at <= now - seconds * 1000; take = takes[++end])
    places += take.places;
  return { places, end };
}

/** Continues from where it was when the system's clock is set back: places would stay taken for as long otherwise. */
function createSteadyClock(): () => number {
  let last = Date.now();
  let ahead = 0;
  return () => {
    ahead = Math.max(ahead, last - Date.now());
    last = Date.now() + ahead;
    return last;
  };
}
