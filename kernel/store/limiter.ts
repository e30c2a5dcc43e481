/**
 * So many a minute, so many an hour, for each key: sliding windows over Bottleneck reservoirs. A taken
 * place comes back when it is as old as the window. With a store the places survive a restart.
 */
import Bottleneck from "bottleneck";
import type { Limiter, LimitVerdict, Store } from "../vocabulary/store.ts";

export interface LimitWindow {
  readonly limit: number;
  readonly seconds: number;
}

export interface LimiterOptions {
  /** Keeps the keys of different limiters apart in the store. */
  readonly name: string;
  readonly windows: readonly LimitWindow[];
  readonly store?: Store;
}

const MIGRATIONS = [
  `CREATE TABLE limiter_takes (name TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL);
   CREATE INDEX limiter_takes_by_key ON limiter_takes (name, key, at);`,
];

// Keys whose windows have emptied are dropped when the map has grown by this many.
const SWEEP_EVERY = 1000;

interface Reservoir extends LimitWindow {
  readonly bottleneck: Bottleneck;
  /** How many of `taken` have left this window and were given back. */
  returned: number;
}

interface Bucket {
  readonly reservoirs: readonly Reservoir[];
  /** When each place was taken, oldest first. */
  taken: number[];
}

export function createLimiter({ name, windows, store }: LimiterOptions): Limiter {
  const buckets = new Map<string, Bucket>();
  const longest = Math.max(...windows.map(({ seconds }) => seconds)) * 1000;
  const sql = store?.syncTables("limiter", MIGRATIONS);

  /** Nobody waits for it: what is counted here decides, and what is stored only after a restart. */
  function write(statement: string, key: string, at: number): void {
    sql?.batch(() => sql.run(statement, name, key, at)).catch(() => {});
  }

  function open(key: string, now: number): Bucket {
    const known = buckets.get(key);
    if (known) return known;
    if (buckets.size > 0 && buckets.size % SWEEP_EVERY === 0) sweep(now);
    const query = "SELECT at FROM limiter_takes WHERE name = ? AND key = ? AND at > ? ORDER BY at";
    const taken = sql?.all<{ at: number }>(query, name, key, now - longest).map(({ at }) => at) ?? [];
    const bucket: Bucket = {
      taken,
      reservoirs: windows.map((window) => {
        const returned = taken.findIndex((at) => at > now - window.seconds * 1000);
        const inside = returned === -1 ? 0 : taken.length - returned;
        const reservoir = Math.max(0, window.limit - inside);
        return {
          ...window,
          returned: taken.length - inside,
          bottleneck: new Bottleneck({ reservoir }),
        };
      }),
    };
    buckets.set(key, bucket);
    return bucket;
  }

  function sweep(now: number): void {
    for (const [key, { taken }] of buckets) {
      if ((taken.at(-1) ?? 0) <= now - longest) buckets.delete(key);
    }
  }

  async function giveBack({ reservoirs, taken }: Bucket, now: number): Promise<void> {
    for (const reservoir of reservoirs) {
      const from = reservoir.returned;
      while ((taken[reservoir.returned] ?? now) <= now - reservoir.seconds * 1000) reservoir.returned++;
      const count = reservoir.returned - from;
      if (count > 0) await reservoir.bottleneck.incrementReservoir(count);
    }
  }

  /** Forgets what every window has given back, here and in the store. */
  function forget(key: string, bucket: Bucket): void {
    const gone = Math.min(...bucket.reservoirs.map(({ returned }) => returned));
    if (gone === 0) return;
    const last = bucket.taken[gone - 1] as number;
    bucket.taken = bucket.taken.slice(gone);
    for (const reservoir of bucket.reservoirs) reservoir.returned -= gone;
    write("DELETE FROM limiter_takes WHERE name = ? AND key = ? AND at <= ?", key, last);
  }

  function verdict({ reservoirs, taken }: Bucket, ok: boolean, now: number): LimitVerdict {
    const states = reservoirs.map(({ limit, seconds, returned }) => ({
      limit,
      windowSecs: seconds,
      remaining: Math.max(0, limit - (taken.length - returned)),
      resetSecs: Math.max(1, Math.ceil(((taken[returned] ?? now) + seconds * 1000 - now) / 1000)),
    }));
    // Of two exhausted windows the later one decides when another try makes sense.
    const [tightest] = states.sort((a, b) => a.remaining - b.remaining || b.resetSecs - a.resetSecs);
    if (tightest === undefined) throw new Error("a limiter needs at least one window");
    return { ok, ...tightest };
  }

  /**
   * Answers what is left in the emptiest reservoir. Not a job of Bottleneck's: those of one key run one after the
   * other, through four timers each, which ends at 400 calls a second.
   */
  async function draw({ reservoirs }: Bucket, count: number): Promise<number> {
    const left = reservoirs.map(({ bottleneck }) => bottleneck.incrementReservoir(-count));
    return Math.min(...(await Promise.all(left)).map(Number));
  }

  async function look(key: string): Promise<{ bucket: Bucket; now: number; seen: LimitVerdict }> {
    const now = Date.now();
    const bucket = open(key, now);
    await giveBack(bucket, now);
    const seen = verdict(bucket, true, now);
    return { bucket, now, seen: { ...seen, ok: seen.remaining > 0 } };
  }

  return {
    async take(key) {
      const { bucket, now, seen } = await look(key);
      if (!seen.ok) return seen;
      // Of calls that come together, those who find a reservoir empty put back what they drew.
      if ((await draw(bucket, 1)) < 0) {
        await draw(bucket, -1);
        return verdict(bucket, false, now);
      }
      bucket.taken.push(now);
      write("INSERT INTO limiter_takes (name, key, at) VALUES (?, ?, ?)", key, now);
      forget(key, bucket);
      return verdict(bucket, true, now);
    },
    peek: async (key) => (await look(key)).seen,
  };
}
