/**
 * Limits that all nodes on one PostgreSQL hold together. Each node draws small blocks of permits and answers from them;
 * only where they are used up does it visit the database. The permits at hand are a number, not a Bottleneck reservoir:
 * that answers a moment later, and what is argued here rests on using and noting a permit in one step.
 *
 * Never more than the limit. A visit holds the lock of its key. It counts every place that was taken within the window and
 * every block that is out, and grants no more than the limit leaves. A block counts in full, as if all of it had been taken at the
 * last moment at which its node may use it. So for each window, at any time:
 *     taken within it ≤ reported within it + blocks that are out ≤ limit.
 * A node uses a permit and notes it in one step, and empties its block before it reports: nothing is used between what
 * it says and what the database then believes. What it says is its own time since the visit began, added to the database's: never earlier
 * than it was. A report that is sent twice counts once. A node that died, or is cut off, reports nothing: its block counts as taken
 * until its window ends, and it could not use the block for longer either.
 *
 * Exactly the limit. Nobody is refused while another living node holds a block: it is recalled, and the visit made again. When the
 * last places are given out there is no surplus, so each further visit takes a place or finds none; and where all is
 * reported and nothing left, nothing can be until the oldest place leaves its window, so until then nobody asks.
 */
import type { LimitVerdict, Sql, Store } from "../../../kernel/plugin.ts";
import { type Clock, startClock } from "./clock.ts";
import { type Answer, openPermits, type Take } from "./permits.ts";
import { type LimitWindow, type OpenLimiter, tightest } from "./windows.ts";

export interface FleetLimiterOptions {
  readonly name: string;
  readonly windows: readonly LimitWindow[];
  readonly store: Pick<Store, "node" | "signals">;
  readonly sql: Sql;
}

/** What nodes tell each other: give back what you hold, or that it was done. */
interface Recall {
  readonly name: string;
  readonly key: string;
  /** Who is asked to give back. */
  readonly holders?: readonly string[];
  /** Who has given back. */
  readonly holder?: string;
}

interface Waiting {
  readonly isTake: boolean;
  resolve(verdict: LimitVerdict): void;
  reject(error: unknown): void;
}

interface Bucket {
  readonly key: string;
  /** Drawn and not yet used. */
  permits: number;
  /** Used since the last visit. */
  taken: Take[];
  waiting: Waiting[];
  isServing: boolean;
  /** The last of its visits, which are made one after the other. */
  visiting: Promise<unknown>;
  seen: { readonly answer: Answer; readonly clock: Clock } | undefined;
  /** Until then nothing can come back to anybody. */
  fullUntil: number;
}

const TOPIC = "limiter";
const LONGEST_BLOCK_MILLIS = 60_000;
/** How long somebody waits for others to give back before being refused. */
const PATIENCE_MILLIS = 2000;
/** A holder that did not answer is not asked again for a while: it is probably dead, and soon known to be. */
const SILENCE_MILLIS = 15_000;
const SWEEP_EVERY = 1000;
// Below this each take is a row of its own; above, those of half a percent of the window share one.
const MOST_SINGLE_TAKES = 1000;
const SLOTS = 200;

// Of all limiters of this process, so that no two rows of its node are taken for the same.
let limiters = 0;
let takes = 0;

export function createFleetLimiter({ name, windows, store, sql }: FleetLimiterOptions): OpenLimiter {
  const { id: node, living } = store.node;
  const number = -++limiters;
  const self = `${node}:${number}`;
  const seconds = windows.map((window) => window.seconds);
  const longest = Math.max(...seconds) * 1000;
  const blockMillis = Math.min(LONGEST_BLOCK_MILLIS, Math.min(...seconds) * 1000);
  const isBusy = Math.max(...windows.map(({ limit }) => limit)) > MOST_SINGLE_TAKES;
  const slotMillis = isBusy ? (Math.min(...seconds) * 1000) / SLOTS : 0;
  const permits = openPermits({ sql, name, windows, node, living, number, blockMillis });
  const buckets = new Map<string, Bucket>();
  const silent = new Map<string, number>();
  /** Who waits for holders of a key to give back. */
  const recalls = new Map<string, Set<(holder: string) => void>>();

  const listening = store.signals.listen(TOPIC, (text) => hear(JSON.parse(text) as Recall));

  function open(key: string): Bucket {
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      if (buckets.size > 0 && buckets.size % SWEEP_EVERY === 0) sweep();
      bucket = {
        key,
        permits: 0,
        taken: [],
        waiting: [],
        isServing: false,
        // Who holds a block has to hear when it is recalled.
        visiting: listening.ready,
        seen: undefined,
        fullUntil: 0,
      };
      buckets.set(key, bucket);
    }
    return bucket;
  }

  /** Drops those of which the database no longer counts anything. */
  function sweep(): void {
    for (const [key, bucket] of buckets) {
      const { seen, isServing } = bucket;
      const isVoid = seen === undefined || timeOf(bucket) > seen.answer.now + blockMillis + longest;
      if (isVoid && !isServing) buckets.delete(key);
    }
  }

  /** The database's time as far as the bucket can tell: rather too late than too early. */
  function timeOf({ seen }: Bucket): number {
    return seen === undefined ? 0 : seen.answer.now + seen.clock.elapsed();
  }

  /** Uses a permit and notes it, in one step. */
  function use(bucket: Bucket): boolean {
    const now = timeOf(bucket);
    if (bucket.permits === 0 || bucket.seen === undefined || now >= bucket.seen.answer.now + blockMillis)
      return false;
    bucket.permits--;
    const last = bucket.taken.at(-1);
    if (last !== undefined && now - last.first < slotMillis) {
      last.taken_at = now;
      last.places++;
    } else bucket.taken.push({ number: ++takes, first: now, taken_at: now, places: 1 });
    return true;
  }

  function verdict(bucket: Bucket, ok: boolean): LimitVerdict {
    const now = timeOf(bucket);
    const states = windows.map((window, at) => {
      const { room = 0, oldest } = bucket.seen?.answer.windows[at] ?? {};
      return { ...window, remaining: room + bucket.permits, oldest: oldest ?? bucket.taken[0]?.taken_at };
    });
    return tightest(states, ok, now);
  }

  function visit(bucket: Bucket, wanted: () => number): Promise<Answer> {
    const visited = bucket.visiting.then(async () => {
      const clock = startClock();
      const report = bucket.taken;
      // Nothing of the block is used from here on.
      bucket.taken = [];
      bucket.permits = 0;
      try {
        const answer = await permits.visit({ key: bucket.key, report, wanted: wanted() });
        bucket.seen = { answer, clock };
        bucket.permits = answer.granted;
        bucket.fullUntil = 0;
        // At once, before somebody recalls what was drawn for them.
        handOut(bucket);
        return answer;
      } catch (error) {
        // Whether it was heard is not known: what counts once is said again.
        bucket.taken = report;
        throw error;
      }
    });
    bucket.visiting = visited.catch(() => {});
    return visited;
  }

  function handOut(bucket: Bucket): void {
    bucket.waiting = bucket.waiting.filter((one) => {
      if (!one.isTake || !use(bucket)) return true;
      one.resolve(verdict(bucket, true));
      return false;
    });
  }

  /** Visits until everybody who waits has an answer. */
  async function serve(bucket: Bucket): Promise<void> {
    bucket.isServing = true;
    try {
      await answerAll(bucket);
    } catch (error) {
      for (const one of bucket.waiting.splice(0)) one.reject(error);
    } finally {
      bucket.isServing = false;
      // They came when the last answer had been given.
      if (bucket.waiting.length > 0) void serve(bucket);
    }
  }

  async function answerAll(bucket: Bucket): Promise<void> {
    const patience = startClock();
    while (bucket.waiting.length > 0) {
      const answer = await visit(bucket, () => bucket.waiting.filter(({ isTake }) => isTake).length);
      if (bucket.waiting.length === 0) return;
      if (patience.elapsed() < PATIENCE_MILLIS) {
        // Some came during the visit, and there are places for them.
        const hasRoom = answer.windows.every(({ room }) => room > 0);
        if (hasRoom && bucket.waiting.some(({ isTake }) => isTake)) continue;
        const holders = answer.holders.filter((holder) => (silent.get(holder) ?? 0) < performance.now());
        if (holders.length > 0) {
          await recall(bucket.key, holders);
          continue;
        }
      }
      if (answer.holders.length === 0) bucket.fullUntil = fullUntil(answer);
      const left = bucket.waiting;
      bucket.waiting = [];
      for (const { isTake, resolve } of left) {
        const seen = verdict(bucket, false);
        resolve(isTake ? seen : { ...seen, ok: seen.remaining > 0 });
      }
    }
  }

  /** Of the windows that are full, when the last of them gives its oldest place back. */
  function fullUntil(answer: Answer): number {
    const ends = answer.windows.map(({ room, oldest }, at) =>
      room <= 0 && oldest !== undefined ? oldest + (seconds[at] as number) * 1000 : 0,
    );
    return Math.max(0, ...ends);
  }

  function ask(bucket: Bucket, isTake: boolean): Promise<LimitVerdict> {
    const { promise, resolve, reject } = Promise.withResolvers<LimitVerdict>();
    bucket.waiting.push({ isTake, resolve, reject });
    if (!bucket.isServing) void serve(bucket);
    return promise;
  }

  /** Resolves when all of them have given back, or have had their time. */
  async function recall(key: string, holders: readonly string[]): Promise<void> {
    const pending = new Set(holders);
    const { promise, resolve } = Promise.withResolvers<void>();
    const onSettled = (holder: string): void => {
      pending.delete(holder);
      if (pending.size === 0) resolve();
    };
    const listeners = recalls.get(key) ?? new Set();
    recalls.set(key, listeners.add(onSettled));
    const timer = setTimeout(resolve, PATIENCE_MILLIS);
    try {
      await tell({ name, key, holders });
      await promise;
    } finally {
      clearTimeout(timer);
      listeners.delete(onSettled);
      if (listeners.size === 0) recalls.delete(key);
    }
    for (const holder of pending) silent.set(holder, performance.now() + SILENCE_MILLIS);
  }

  const tell = (said: Recall): Promise<void> => store.signals.send(TOPIC, JSON.stringify(said));

  function hear({ name: other, key, holders, holder }: Recall): void {
    if (other !== name) return;
    if (holder !== undefined) {
      silent.delete(holder);
      for (const listener of recalls.get(key) ?? []) listener(holder);
    } else if (holders?.includes(self)) {
      const bucket = buckets.get(key);
      if (bucket === undefined) return;
      visit(bucket, () => 0)
        .then(() => tell({ name, key, holder: self }))
        // Who asked waits in vain, and counts the block as used.
        .catch(() => {});
    }
  }

  return {
    async take(key) {
      const bucket = open(key);
      if (use(bucket)) return verdict(bucket, true);
      if (timeOf(bucket) < bucket.fullUntil) return verdict(bucket, false);
      return ask(bucket, true);
    },
    peek: (key) => ask(open(key), false),
    async close() {
      listening();
      const held = [...buckets.values()].filter(({ permits, taken }) => permits > 0 || taken.length > 0);
      await Promise.allSettled(held.map((bucket) => visit(bucket, () => 0)));
    },
  };
}
