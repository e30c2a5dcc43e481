/**
 * Limits that one process counts: sliding windows over Bottleneck reservoirs. A taken place comes back when it is as
 * old as the window. With SQL the places survive a restart.
 */
import Bottleneck from "bottleneck";
import type { LimitVerdict, Sql } from "../../vocabulary/store.ts";
import { type LimitWindow, type OpenLimiter, tightest } from "./windows.ts";

export interface LocalLimiterOptions {
  readonly name: string;
  readonly windows: readonly LimitWindow[];
  readonly sql?: Sql;
}

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

export function createLocalLimiter({ name, windows, sql }: LocalLimiterOptions): OpenLimiter {
  const buckets = new Map<string, Bucket>();
  const opening = new Map<string, Promise<Bucket>>();
  const longest = Math.max(...windows.map(({ seconds }) => seconds)) * 1000;

  /** Nobody waits for it: what is counted here decides, and what is stored only after a restart. */
  function write(statement: string, key: string, at: number): void {
    sql?.transaction((tx) => tx.run(statement, name, key, at), { flush: false }).catch(() => {});
  }

  async function open(key: string): Promise<Bucket> {
    const known = buckets.get(key);
    if (known) return known;
    let bucket = opening.get(key);
    if (bucket === undefined) {
      // Those who come meanwhile share it.
      bucket = read(key).finally(() => opening.delete(key));
      opening.set(key, bucket);
    }
    return bucket;
  }

  async function read(key: string): Promise<Bucket> {
    const now = Date.now();
    if (buckets.size > 0 && buckets.size % SWEEP_EVERY === 0) sweep(now);
    const query = "SELECT at FROM limiter_takes WHERE name = ? AND key = ? AND at > ? ORDER BY at";
    const rows = (await sql?.all<{ at: number }>(query, name, key, now - longest)) ?? [];
    const taken = rows.map(({ at }) => at);
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
      seconds,
      remaining: limit - (taken.length - returned),
      oldest: taken[returned],
    }));
    return tightest(states, ok, now);
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
    const bucket = await open(key);
    const now = Date.now();
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
    close: async () => {},
  };
}
