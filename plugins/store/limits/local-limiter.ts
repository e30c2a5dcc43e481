/**
 * Limits that one process counts: sliding windows over Bottleneck reservoirs. A taken place comes back when it is as
 * old as the window. With SQL the places survive a restart.
 */

import Bottleneck from "bottleneck";
import type { LimitVerdict, Sql } from "../../../kernel/plugin.ts";
import { type LimitWindow, type OpenLimiter, tightest } from "./windows.ts";

export interface LocalLimiterOptions {
  readonly name: string;
  readonly windows: readonly LimitWindow[];
  readonly sql?: Sql;
}

// Keys whose windows have emptied are dropped when the map has grown by this many.
const SWEEP_EVERY = 1000;
/** Bottleneck answers from a timer, a millisecond later at best: what it is asked for serves this many takes. */
const BLOCK = 32;

interface Reservoir extends LimitWindow {
  readonly bottleneck: Bottleneck;
  /** How many of `taken` have left this window and were given back. */
  returned: number;
}

interface Bucket {
  readonly reservoirs: readonly Reservoir[];
  /** When each place was taken, oldest first. */
  taken: number[];
  /** Drawn from every reservoir and not taken yet. */
  permits: number;
  /** More are being drawn: how many there were. */
  drawing: Promise<number> | undefined;
  /** The last of what is being given back. */
  returning: Promise<unknown>;
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
    const states = windows.map((window) => {
      const returned = taken.findIndex((at) => at > now - window.seconds * 1000);
      const inside = returned === -1 ? 0 : taken.length - returned;
      return { ...window, returned: taken.length - inside, room: Math.max(0, window.limit - inside) };
    });
    const permits = Math.min(BLOCK, ...states.map(({ room }) => room));
    const bucket: Bucket = {
      taken,
      permits,
      drawing: undefined,
      returning: Promise.resolve(),
      reservoirs: states.map(({ room, ...state }) => ({
        ...state,
        bottleneck: new Bottleneck({ reservoir: room - permits }),
      })),
    };
    buckets.set(key, bucket);
    return bucket;
  }

  function sweep(now: number): void {
    for (const [key, { taken }] of buckets) {
      if ((taken.at(-1) ?? 0) <= now - longest) buckets.delete(key);
    }
  }

  function giveBack(bucket: Bucket, now: number): void {
    const { reservoirs, taken } = bucket;
    for (const reservoir of reservoirs) {
      const from = reservoir.returned;
      while ((taken[reservoir.returned] ?? now) <= now - reservoir.seconds * 1000) reservoir.returned++;
      const count = reservoir.returned - from;
      if (count === 0) continue;
      const given = reservoir.bottleneck.incrementReservoir(count);
      bucket.returning = bucket.returning.then(() => given);
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
   * Draws a block of permits; those who come meanwhile share it. Not jobs of Bottleneck's: those of one key run one
   * after the other, through four timers each, which ends at 400 calls a second.
   */
  function draw(bucket: Bucket): Promise<number> {
    bucket.drawing ??= drawBlock(bucket).finally(() => {
      bucket.drawing = undefined;
    });
    return bucket.drawing;
  }

  async function drawBlock(bucket: Bucket): Promise<number> {
    await bucket.returning;
    const { reservoirs } = bucket;
    const wanted = Math.min(BLOCK, roomOf(bucket));
    if (wanted <= 0) return 0;
    const change = async (count: number) =>
      Math.min(...(await Promise.all(reservoirs.map((each) => each.bottleneck.incrementReservoir(count)))));
    // What a reservoir did not have is put back into all of them.
    const lacking = Math.min(wanted, Math.max(0, -(await change(-wanted))));
    if (lacking > 0) await change(lacking);
    bucket.permits += wanted - lacking;
    return wanted - lacking;
  }

  /** How many places are left beside the permits that were drawn. */
  function roomOf({ reservoirs, taken, permits }: Bucket): number {
    return Math.min(...reservoirs.map(({ limit, returned }) => limit - (taken.length - returned))) - permits;
  }

  function take(key: string, bucket: Bucket, now: number): LimitVerdict {
    bucket.permits--;
    bucket.taken.push(now);
    write("INSERT INTO limiter_takes (name, key, at) VALUES (?, ?, ?)", key, now);
    forget(key, bucket);
    // Before they are needed, so that nobody waits for them.
    if (bucket.permits < BLOCK / 2 && roomOf(bucket) > 0) void draw(bucket);
    return verdict(bucket, true, now);
  }

  return {
    async take(key) {
      const bucket = await open(key);
      for (;;) {
        const now = Date.now();
        giveBack(bucket, now);
        if (bucket.permits > 0) return take(key, bucket, now);
        if ((await draw(bucket)) === 0) return verdict(bucket, false, now);
      }
    },
    async peek(key) {
      const bucket = await open(key);
      const now = Date.now();
      giveBack(bucket, now);
      const seen = verdict(bucket, true, now);
      return { ...seen, ok: seen.remaining > 0 };
    },
    close: async () => {},
  };
}
