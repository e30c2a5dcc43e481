/** How much each user keeps, over the tables of all plugins, and the refusal of what goes beyond it. */
import { setTimeout } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { KeptBytes, OwnedTables } from "../../kernel/kit/store.ts";
import type { UsedStorage } from "../../kernel/kit/turns.ts";
import { Fault, type Sql } from "../../kernel/plugin.ts";
import type { Store, UserStorage } from "./services.ts";

const MAX_USERS = 10_000;
const MAX_AGE_MS = 60_000;
/** Recent uses may not be stored yet: they count beside the sum, which may include them too. */
const RECENT_MS = 1000;
/** Summing up takes at most one part in so many of the time, however often somebody asks. */
const REST_FACTOR = 20;
const MB = 1_000_000;

interface Sum extends UsedStorage {
  readonly from: number;
  readonly at: number;
  taken: number;
}

/** How long no other sum is made after this one. */
const restOf = ({ from, at }: Sum): number => at + (at - from) * REST_FACTOR - performance.now();

/** Uses of the last second, and of the one before it. */
interface Recent {
  from: number;
  bytes: number;
  before: number;
}

/**
 * The tables are summed up once a minute for a user who writes, and in between what was taken is added: a message costs no
 * scan. So the limit is kept within what the answers of a minute add, and what other nodes take in it. What is deleted is free
 * at the next sum, which a refusal brings forward.
 */
export function createUserStorage(
  store: Pick<Store, "tables">,
  tables: () => Promise<readonly OwnedTables[]>,
  maxBytes: number,
): UserStorage {
  // As a size: with `max` the arrays of all its places would be made at every start.
  const sums = new LRUCache<string, Promise<Sum>>({ maxSize: MAX_USERS, sizeCalculation: () => 1 });
  const recent = new LRUCache<string, Recent>({
    maxSize: MAX_USERS,
    sizeCalculation: () => 1,
    ttl: 2 * RECENT_MS,
  });
  const held = new Map<string, number>();
  let opened: Promise<Source> | undefined;

  function note(user: string, bytes: number): void {
    const now = performance.now();
    const known = recent.get(user) ?? { from: now, bytes: 0, before: 0 };
    const next = now - known.from > RECENT_MS ? { from: now, bytes: 0, before: known.bytes } : known;
    next.bytes += bytes;
    recent.set(user, next);
  }

  function addHeld(user: string, bytes: number): void {
    const left = (held.get(user) ?? 0) + bytes;
    if (left > 0) held.set(user, left);
    else held.delete(user);
  }

  async function sumUp(user: string): Promise<Sum> {
    opened ??= openSource(store, tables).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    const { sql, keeps, query } = await opened;
    const from = performance.now();
    const { bytes: unstored = 0, before = 0 } = recent.get(user) ?? {};
    const unfinished = held.get(user) ?? 0;
    const row = (await sql.get<Record<string, number>>(query, ...keeps.map(() => user))) ?? {};
    const at = performance.now();
    const kinds: Record<string, number> = {};
    for (const [place, { kind }] of keeps.entries())
      kinds[kind] = (kinds[kind] ?? 0) + Number(row[columnOf(place)] ?? 0);
    const bytes = Object.values(kinds).reduce((sum, each) => sum + each, 0);
    return { bytes, maxBytes, kinds, from, at, taken: unstored + before + unfinished };
  }

  /** One sum at a time for a user. */
  async function sumOf(user: string, isFresh: (sum: Sum) => boolean): Promise<Sum> {
    const pending = sums.get(user);
    const known = await pending?.catch(() => undefined);
    if (known && isFresh(known)) return known;
    // Another may have asked for it meanwhile.
    const next = sums.get(user);
    if (next !== undefined && next !== pending) return await next;
    const summed = sumUp(user);
    sums.set(user, summed);
    return await summed;
  }

  const lastSum = (user: string) => sumOf(user, (sum) => restOf(sum) > 0);

  /** Knows of all that was deleted before this call, for which it waits up to two seconds after the last sum. */
  async function newSum(user: string): Promise<Sum> {
    const asked = performance.now();
    const last = await lastSum(user);
    if (last.from >= asked) return last;
    await setTimeout(Math.min(2 * RECENT_MS, restOf(last)));
    return await sumOf(user, ({ from }) => from >= asked);
  }

  /** Counts it until what it returns is called. */
  async function hold(user: string, bytes: number): Promise<() => void> {
    const hasRoom = (sum: Sum) => sum.bytes + sum.taken + bytes <= maxBytes;
    let sum = await sumOf(user, ({ at }) => performance.now() - at <= MAX_AGE_MS);
    if (!hasRoom(sum)) sum = await newSum(user);
    if (!hasRoom(sum) && sum.bytes + bytes <= maxBytes) {
      // What was written lately may be in the sum already, or be deleted again: soon the sum alone will tell.
      await setTimeout(2 * RECENT_MS);
      sum = await newSum(user);
    }
    if (!hasRoom(sum)) throw full(sum);
    sum.taken += bytes;
    addHeld(user, bytes);
    return () => addHeld(user, -bytes);
  }

  return {
    hold,
    async take(user, bytes) {
      const release = await hold(user, bytes);
      note(user, bytes);
      release();
    },
    async used(user) {
      const { bytes, kinds } = await lastSum(user);
      return { bytes, maxBytes, kinds };
    },
  };
}

interface Source {
  readonly sql: Sql;
  readonly keeps: readonly KeptBytes[];
  readonly query: string;
}

const columnOf = (place: number) => `kept_${place}`;

/** Asks for all kinds in one statement. */
async function openSource(
  store: Pick<Store, "tables">,
  tables: () => Promise<readonly OwnedTables[]>,
): Promise<Source> {
  const owners = (await tables()).filter(({ keeps }) => keeps?.length);
  let sql: Sql | undefined;
  // A plugin that is off may never have made its tables.
  for (const { owner, migrations } of owners) sql = await store.tables(owner, migrations);
  if (sql === undefined) throw new Error("no plugin says what users keep");
  const keeps = owners.flatMap((owner) => owner.keeps ?? []);
  const columns = keeps.map(
    ({ bytes }, place) => `CAST(coalesce((${bytes}), 0) AS BIGINT) AS ${columnOf(place)}`,
  );
  return { sql, keeps, query: `SELECT ${columns.join(", ")}` };
}

function full({ bytes, taken, maxBytes, kinds }: Sum): Fault {
  // Recent uses may be in the sum already.
  const kept = Math.min(maxBytes, bytes + taken);
  const inMb = (count: number) => `${Math.ceil(count / MB).toLocaleString("en")} MB`;
  const largest = Object.entries(kinds)
    .filter(([, count]) => count > 0)
    .toSorted(([, one], [, other]) => other - one)
    .map(([kind, count]) => `${kind} ${inMb(count)}`);
  const what = largest.length === 0 ? "" : ` (${largest.join(", ")})`;
  const message = `There is no room for this: you keep ${inMb(kept)} of ${inMb(maxBytes)}${what}. Delete threads for good, or files, memory or jobs that you no longer need, or ask the operator to raise USER_STORAGE_MB.`;
  return new Fault("invalid", "storage_full", message);
}
