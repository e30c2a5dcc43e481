/**
 * So many a minute, so many an hour, for each key. Rows of the store count what was taken, on PostgreSQL for all nodes together.
 * A process draws permits from them in blocks. A block is the reservoir of the key's Bottleneck, and a few of its permits are at hand:
 * Bottleneck replies from a timer, and nobody who takes a place should wait for one.
 *
 * Never more than the limit. A visit to the store has its key for itself. It counts every place that was taken within the window
 * and every block that is out, and grants no more than the limit leaves. A block counts in full, as if all of it had been taken
 * at the last moment at which its node may use it. So for each window, at any time:
 *     taken within it ≤ reported within it + blocks that are out ≤ limit.
 * A node uses a permit and notes it in one step, and drops its block before it reports: nothing is used between what it says and what
 * the store then believes. A report that is sent twice counts once. A node that died, or is cut off, reports nothing: its
 * block counts as taken until its window ends, and it could not use the block for longer either.
 *
 * Exactly the limit. Nobody is refused while another living node holds a block: it is recalled, and the visit made again. When the
 * last places are given out there is no surplus, so each further visit takes a place or finds none; and where all is
 * reported and nothing left, nothing can be until the oldest place leaves its window, so until then nobody asks.
 */
import { createRequire } from "node:module";
import type Bottleneck from "bottleneck";
import type { LimitVerdict } from "../../../kernel/kit/store.ts";
import type { LimiterOptions, LimitWindow, OpenLimiter, Store } from "../services.ts";
import { openFleetPermits } from "./fleet-permits.ts";
import { openOwnPermits } from "./own-permits.ts";
import { type Answer, LIMITER_TABLES, type Permits, type Take } from "./permits.ts";

type LimiterStore = Pick<Store, "tables" | "node" | "signals">;

/** The message with which nodes recall permits: first to those that hold some, then back from each. */
interface Recall {
  readonly name: string;
  readonly key: string;
  /** The holders that are asked to give permits back. */
  readonly holders?: readonly string[];
  /** The node that gave permits back. */
  readonly holder?: string;
}

/** Loaded with the first place that is taken: it is twenty files, which no start needs. */
function openReservoir(reservoir: number): Bottleneck {
  const Reservoir = createRequire(import.meta.url)("bottleneck") as typeof Bottleneck;
  return new Reservoir({ reservoir });
}

interface Waiting {
  readonly isTake: boolean;
  resolve(verdict: LimitVerdict): void;
  reject(error: unknown): void;
}

interface Bucket {
  readonly key: string;
  /** At hand: drawn from the reservoir, or straight from the store for those who wait. */
  permits: number;
  /** Its reservoir holds the rest of the block; undefined where nothing is left of it. */
  bottleneck: Bottleneck | undefined;
  reserved: number;
  drawing: Promise<void> | undefined;
  taken: Take[];
  waiting: Waiting[];
  isServing: boolean;
  /** The last of its visits, which are made one after the other. */
  visiting: Promise<unknown>;
  seen: { readonly answer: Answer; elapsed(): number } | undefined;
  /** Until then nothing can come back to anybody. */
  fullUntil: number;
  /** Told of each holder that has given its permits back. */
  onReturn: ((holder: string) => void) | undefined;
}

/** At most this many permits are at hand, beside those for callers that wait. */
const AT_HAND = 32;
const TOPIC = "limiter";
const MAX_BLOCK_MS = 60_000;
/** A caller waits this long for others to give permits back, then it is refused. */
const RECALL_TIMEOUT_MS = 2000;
/** A holder that did not reply is not asked again for a while: it is probably dead, and soon known to be. */
const SILENCE_MS = 15_000;
const SWEEP_EVERY = 1000;
// Below this each take is a row of its own; above, those of half a percent of the window share one.
const MAX_SINGLE_TAKES = 1000;
const SLOTS = 200;

// Counted for all limiters of this process, so that no two rows of its node are taken for the same.
let limiters = 0;
let takes = 0;

export function createLimiter(
  { name, windows, isKept = true }: LimiterOptions,
  store: LimiterStore,
): OpenLimiter {
  let known = "";
  let limiter: Promise<OpenLimiter> | undefined;

  async function current(): Promise<OpenLimiter> {
    const chosen = typeof windows === "function" ? await windows() : windows;
    const key = JSON.stringify(chosen);
    if (limiter === undefined || key !== known) {
      known = key;
      // The old limiter returns its permits before the new one counts.
      const before = limiter?.then((old) => old.close());
      const opening = Promise.resolve(before).then(() => openLimiter(name, chosen, isKept, store));
      limiter = opening;
      opening.catch(() => {
        // The next who asks tries again.
        if (limiter === opening) limiter = undefined;
      });
    }
    return limiter;
  }

  return {
    take: async (key) => (await current()).take(key),
    peek: async (key) => (await current()).peek(key),
    async close() {
      await (await limiter?.catch(() => undefined))?.close();
    },
  };
}

async function openLimiter(
  name: string,
  windows: readonly LimitWindow[],
  isKept: boolean,
  store: LimiterStore,
): Promise<OpenLimiter> {
  const { id: node, living } = store.node;
  const number = -++limiters;
  const self = `${node}:${number}`;
  const seconds = windows.map((window) => window.seconds);
  const longest = Math.max(...seconds) * 1000;
  const blockMs = Math.min(MAX_BLOCK_MS, Math.min(...seconds) * 1000);
  const isBusy = Math.max(...windows.map(({ limit }) => limit)) > MAX_SINGLE_TAKES;
  const slotMs = isBusy ? (Math.min(...seconds) * 1000) / SLOTS : 0;
  const sql = await store.tables("limiter", LIMITER_TABLES);
  const permits: Permits =
    sql.engine === "postgres"
      ? openFleetPermits({ sql, name, windows, node, living, number, blockMs })
      : openOwnPermits({ sql: isKept ? sql : undefined, name, windows, node });
  const buckets = new Map<string, Bucket>();
  const silent = new Map<string, number>();
  const listening = store.signals.listen(TOPIC, (text) => hear(JSON.parse(text) as Recall));

  function open(key: string): Bucket {
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      if (buckets.size > 0 && buckets.size % SWEEP_EVERY === 0) sweep();
      bucket = {
        key,
        permits: 0,
        bottleneck: undefined,
        reserved: 0,
        drawing: undefined,
        taken: [],
        waiting: [],
        isServing: false,
        // A node that holds a block has to hear when it is recalled.
        visiting: listening.ready,
        seen: undefined,
        fullUntil: 0,
        onReturn: undefined,
      };
      buckets.set(key, bucket);
    }
    return bucket;
  }

  /** Drops those of which the store no longer counts anything. */
  function sweep(): void {
    for (const [key, bucket] of buckets) {
      const { seen, isServing } = bucket;
      const isVoid = seen === undefined || timeOf(bucket) > seen.answer.now + blockMs + longest;
      if (isVoid && !isServing) buckets.delete(key);
    }
  }

  function timeOf({ seen }: Bucket): number {
    return seen === undefined ? 0 : permits.timeOf(seen.answer, seen.elapsed());
  }

  /** Uses a permit and notes it, in one step. */
  function use(bucket: Bucket): boolean {
    const now = timeOf(bucket);
    if (bucket.permits === 0 || bucket.seen === undefined || now >= bucket.seen.answer.now + blockMs)
      return false;
    bucket.permits--;
    const last = bucket.taken.at(-1);
    if (last !== undefined && now - last.first < slotMs) {
      last.taken_at = now;
      last.places++;
    } else bucket.taken.push({ number: ++takes, first: now, taken_at: now, places: 1 });
    permits.note?.(bucket.key, bucket.taken.at(-1) as Take);
    // Before they are needed, so that nobody waits for them.
    if (bucket.permits < AT_HAND / 2) void draw(bucket);
    return true;
  }

  /** Takes more from the reservoir. Not as Bottleneck's jobs: each goes through four timers, which ends at 400 calls a second. */
  async function draw(bucket: Bucket): Promise<void> {
    const { bottleneck } = bucket;
    if (bottleneck !== undefined) bucket.drawing ??= drawFrom(bottleneck, bucket);
    await bucket.drawing;
  }

  async function drawFrom(bottleneck: Bottleneck, bucket: Bucket): Promise<void> {
    const wanted = Math.min(AT_HAND, bucket.reserved);
    const left = await bottleneck.incrementReservoir(-wanted);
    // A visit has given back meanwhile what this is drawn from.
    if (bucket.bottleneck !== bottleneck) return;
    bucket.drawing = undefined;
    bucket.permits += wanted;
    bucket.reserved = left;
    if (left === 0) bucket.bottleneck = undefined;
    handOut(bucket);
  }

  /** Replaces the block: the visit has given back what was left of the one before. */
  function fill(bucket: Bucket, granted: number, wanted: number): void {
    bucket.permits = Math.min(granted, Math.max(wanted, AT_HAND));
    bucket.reserved = granted - bucket.permits;
    bucket.bottleneck = bucket.reserved > 0 ? openReservoir(bucket.reserved) : undefined;
    bucket.drawing = undefined;
  }

  function verdict(bucket: Bucket, ok: boolean): LimitVerdict {
    const now = timeOf(bucket);
    const held = bucket.permits + bucket.reserved;
    const states = windows.map(({ limit, seconds: windowSecs }, at) => {
      const { room = 0, oldest = bucket.taken[0]?.taken_at ?? now } = bucket.seen?.answer.windows[at] ?? {};
      return {
        limit,
        windowSecs,
        remaining: Math.max(0, room + held),
        resetSecs: Math.max(1, Math.ceil((oldest + windowSecs * 1000 - now) / 1000)),
      };
    });
    // The tightest decides. Of two that are used up, the later says when another try makes sense.
    const [first] = states.sort((a, b) => a.remaining - b.remaining || b.resetSecs - a.resetSecs);
    if (first === undefined) throw new Error("a limiter needs at least one window");
    return { ok, ...first };
  }

  function visit(bucket: Bucket, count: () => number): Promise<Answer> {
    const visited = bucket.visiting.then(async () => {
      const elapsed = startClock();
      const report = bucket.taken;
      const wanted = count();
      // Nothing of the block is used from here on.
      bucket.taken = [];
      fill(bucket, 0, 0);
      try {
        const answer = await permits.visit({ key: bucket.key, report, wanted });
        bucket.seen = { answer, elapsed };
        bucket.fullUntil = 0;
        fill(bucket, answer.granted, wanted);
        // At once, before somebody recalls what was drawn for them.
        handOut(bucket);
        return answer;
      } catch (error) {
        // The store may have heard it or not: what counts once is said again.
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

  /** Draws, and visits, until everybody who waits has a verdict. */
  async function serve(bucket: Bucket): Promise<void> {
    bucket.isServing = true;
    try {
      await answerAll(bucket);
    } catch (error) {
      for (const one of bucket.waiting.splice(0)) one.reject(error);
    } finally {
      bucket.isServing = false;
      // They came when the last verdict had been given.
      if (bucket.waiting.length > 0) void serve(bucket);
    }
  }

  async function answerAll(bucket: Bucket): Promise<void> {
    const elapsed = startClock();
    while (bucket.waiting.length > 0) {
      if (bucket.bottleneck !== undefined && bucket.waiting.every(({ isTake }) => isTake)) {
        await draw(bucket);
        continue;
      }
      const answer = await visit(bucket, () => bucket.waiting.filter(({ isTake }) => isTake).length);
      if (bucket.waiting.length === 0) return;
      if (elapsed() < RECALL_TIMEOUT_MS) {
        // Some came during the visit, and there are places for them.
        const hasRoom = answer.windows.every(({ room }) => room > 0);
        if (hasRoom && bucket.waiting.some(({ isTake }) => isTake)) continue;
        const holders = answer.holders.filter((holder) => (silent.get(holder) ?? 0) < performance.now());
        if (holders.length > 0) {
          await recall(bucket, holders);
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

  /** The moment at which the last of the full windows gives its oldest place back. */
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
  async function recall(bucket: Bucket, holders: readonly string[]): Promise<void> {
    const pending = new Set(holders);
    const { promise, resolve } = Promise.withResolvers<void>();
    // One at a time: whoever waits for the bucket is served by the same loop.
    bucket.onReturn = (holder) => {
      pending.delete(holder);
      if (pending.size === 0) resolve();
    };
    const timer = setTimeout(resolve, RECALL_TIMEOUT_MS);
    try {
      await tell({ name, key: bucket.key, holders });
      await promise;
    } finally {
      clearTimeout(timer);
      bucket.onReturn = undefined;
    }
    for (const holder of pending) silent.set(holder, performance.now() + SILENCE_MS);
  }

  const tell = (message: Recall): Promise<void> => store.signals.send(TOPIC, JSON.stringify(message));

  function hear({ name: other, key, holders, holder }: Recall): void {
    if (other !== name) return;
    const bucket = buckets.get(key);
    if (holder !== undefined) {
      silent.delete(holder);
      bucket?.onReturn?.(holder);
    } else if (bucket !== undefined && holders?.includes(self)) {
      visit(bucket, () => 0)
        .then(() => tell({ name, key, holder: self }))
        // The node that asked gets no reply, and counts the block as used.
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
      const held = [...buckets.values()].filter(
        ({ permits: left, reserved, taken }) => left + reserved > 0 || taken.length > 0,
      );
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
