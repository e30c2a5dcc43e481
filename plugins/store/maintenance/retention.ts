/** What the settings say is too old goes, every hour. */
import type { OwnedTables } from "../../../kernel/kit.ts";
import type { Clock, Log, Sql, Store } from "../../../kernel/plugin.ts";
import type { RetentionSettings } from "../config/maintenance.ts";
import { stepsOf } from "../engine/migrations.ts";

const ROUND_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface RetentionParts {
  readonly store: Pick<Store, "repeat" | "pruneOld">;
  readonly sql: Sql;
  readonly days: RetentionSettings;
  readonly clock: Clock;
  readonly log: Log;
  tables(): Promise<readonly OwnedTables[]>;
}

/** On one of all nodes, every hour. Returns a function that ends it. */
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
        const before = new Date(clock.now() - kept * DAY_MS).toISOString();
        const gone = await store.pruneOld(rows, before, { signal: stopping.signal });
        if (gone > 0) log.info({ kind: rows.kind, rows: gone, days: kept }, `old ${rows.kind} deleted`);
      }
  }

  const stop = store.repeat("delete what is old", ROUND_MS, () => {
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
