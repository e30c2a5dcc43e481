/** Deletes rows, a few at a time, so that nobody waits for it. A kill loses at most the batch that was under way. */
import { setTimeout as sleep } from "node:timers/promises";
import type { AgingRows } from "../../../kernel/kit/store.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import type { PrunedRows, PruneOptions } from "../services.ts";

const BATCH_ROWS = 50;
// Between batches others get their turn.
const PAUSE_MS = 20;

export interface Which {
  /** An ISO time: what is older goes. */
  readonly before: string;
  readonly user?: string | undefined;
}

export interface OldRows {
  readonly rows: number;
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

export function pruneOld(sql: Sql, rows: AgingRows, which: Which, options?: PruneOptions): Promise<number> {
  return prune(sql, { ...rows, condition: conditionOf(rows, which), values: valuesOf(which) }, options);
}

export async function prune(
  sql: Sql,
  rows: PrunedRows,
  { signal, progress = () => {} }: PruneOptions = {},
): Promise<number> {
  const { table, key, order, condition, values } = rows;
  let gone = 0;
  for (let after = 0; signal?.aborted !== true; ) {
    const page = await sql.all<{ key: string; place: number }>(
      `SELECT ${key} AS key, ${order} AS place FROM ${table} WHERE ${order} > ? AND ${condition} ORDER BY ${order} LIMIT ?`,
      after,
      ...values,
      BATCH_ROWS,
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
    await sleep(PAUSE_MS, undefined, { ref: false });
  }
  return gone;
}
