/** Deletes what is old, a few rows at a time, so that nobody waits for it. A kill loses at most the batch that was under way. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../../kernel/log/log.ts";
import type { Clock } from "../../../kernel/vocabulary/kernel.ts";
import type { AgingRows, OwnedTables, Sql, SqlValue, Store } from "../../../kernel/vocabulary/store.ts";
import type { RetentionSettings } from "../config/maintenance.ts";
import { stepsOf } from "../engine/migrations.ts";

const ROWS_AT_ONCE = 50;
// Between batches others get their turn.
const PAUSE_MILLIS = 20;
const ROUND_MILLIS = 3_600_000;
const DAY_MILLIS = 86_400_000;

export interface Which {
  /** An ISO time: what is older goes. */
  readonly before: string;
  readonly user?: string | undefined;
}

export interface OldRows {
  readonly rows: number;
  /** About so many. */
  readonly bytes: number;
  readonly oldest: string | null;
  readonly newest: string | null;
}

const conditionOf = ({ time, when }: AgingRows, { user }: Which) =>
  `${time} < ? ${user === undefined ? "" : 'AND "user" = ?'} AND ${when}`;
const valuesOf = ({ before, user }: Which) => [before, ...(user === undefined ? [] : [user])];

export async function countOld(sql: Sql, rows: AgingRows, which: Which): Promise<OldRows> {
  const found = await sql.get<OldRows>(
    `SELECT count(*) AS rows, CAST(COALESCE(sum(${rows.bytes}), 0) AS BIGINT) AS bytes,
       min(${rows.time}) AS oldest, max(${rows.time}) AS newest
     FROM ${rows.table} WHERE ${conditionOf(rows, which)}`,
    ...valuesOf(which),
  );
  return found ?? { rows: 0, bytes: 0, oldest: null, newest: null };
}

interface RemoveOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (done: number) => void;
}

/** Answers how many went. */
export const removeOld = (
  sql: Sql,
  rows: AgingRows,
  which: Which,
  options: RemoveOptions = {},
): Promise<number> =>
  removeInBatches(sql, { ...rows, condition: conditionOf(rows, which), values: valuesOf(which) }, options);

export interface DoomedRows extends Pick<AgingRows, "table" | "key" | "order" | "removeRest"> {
  /** SQL: which rows, with a `?` for each value. */
  readonly condition: string;
  readonly values: readonly SqlValue[];
}

/** Answers how many went. */
export async function removeInBatches(
  sql: Sql,
  rows: DoomedRows,
  { signal, progress = () => {} }: RemoveOptions = {},
): Promise<number> {
  const { table, key, order, condition, values } = rows;
  let gone = 0;
  for (let after = 0; signal?.aborted !== true; ) {
    const page = await sql.all<{ key: string; place: number }>(
      `SELECT ${key} AS key, ${order} AS place FROM ${table} WHERE ${order} > ? AND ${condition} ORDER BY ${order} LIMIT ?`,
      after,
      ...values,
      ROWS_AT_ONCE,
    );
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.place;
    const marks = page.map(() => "?").join();
    gone += await sql.transaction(async (tx) => {
      // Somebody may have gone on with one since: it is looked at again, and held.
      const still = await tx.all<{ key: string }>(
        `SELECT ${key} AS key FROM ${table} WHERE ${key} IN (${marks}) AND ${condition}
         ${sql.engine === "postgres" ? `FOR UPDATE OF ${table}` : ""}`,
        ...page.map((row) => row.key),
        ...values,
      );
      const keys = still.map((row) => row.key);
      if (keys.length === 0) return 0;
      await rows.removeRest?.(tx, sql.engine, keys);
      return await tx.run(`DELETE FROM ${table} WHERE ${key} IN (${keys.map(() => "?").join()})`, ...keys);
    });
    progress(gone);
    await sleep(PAUSE_MILLIS, undefined, { ref: false });
  }
  return gone;
}

export interface RetentionParts {
  readonly store: Pick<Store, "repeat">;
  readonly sql: Sql;
  readonly days: RetentionSettings;
  readonly clock: Clock;
  readonly log: Log;
  tables(): Promise<readonly OwnedTables[]>;
}

/** On one of all nodes, every hour. Answers its end. */
export function startRetention({
  store,
  sql,
  days,
  clock,
  log,
  tables,
}: RetentionParts): () => Promise<void> {
  if (Object.values(days).every((count) => count === 0)) return async () => {};
  const stopping = new AbortController();
  let underWay: Promise<void> = Promise.resolve();

  /** At a first start its owner may be about to make it; the next round is soon enough. */
  async function isThere({ owner, migrations }: OwnedTables): Promise<boolean> {
    const row = await sql.get<{ number: number | null }>(
      "SELECT max(number) AS number FROM migrations WHERE owner = ?",
      owner,
    );
    return (row?.number ?? 0) >= stepsOf(migrations, sql.engine).length;
  }

  async function sweep(): Promise<void> {
    for (const owned of await tables())
      for (const rows of owned.ages ?? []) {
        const kept = days[rows.kind] ?? 0;
        if (kept === 0 || !(await isThere(owned))) continue;
        const before = new Date(clock.now() - kept * DAY_MILLIS).toISOString();
        const gone = await removeOld(sql, rows, { before }, { signal: stopping.signal });
        if (gone > 0) log.info({ kind: rows.kind, rows: gone, days: kept }, `old ${rows.kind} deleted`);
      }
  }

  const stop = store.repeat("delete what is old", ROUND_MILLIS, () => {
    // A full disk must cost a round, not the service.
    underWay = sweep().catch((error: unknown) =>
      log.warn({ error }, "what is old could not be deleted, retrying later"),
    );
    return underWay;
  });
  return async () => {
    stopping.abort();
    stop();
    await underWay;
  };
}
