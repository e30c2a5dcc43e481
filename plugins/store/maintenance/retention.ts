/** What the settings say is too old goes, every hour. */
import type { OwnedTables } from "../../../kernel/kit.ts";
import type { Clock, Log, Store } from "../../../kernel/plugin.ts";
import type { RetentionSettings } from "../config/maintenance.ts";

const ROUND_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface RetentionParts {
  readonly store: Pick<Store, "repeat" | "pruneOld" | "tables">;
  readonly days: RetentionSettings;
  readonly clock: Clock;
  readonly log: Log;
  tables(): Promise<readonly OwnedTables[]>;
}

/** On one of all nodes, every hour. Returns a function that ends it. */
export function startRetention({ store, days, clock, log, tables }: RetentionParts): () => Promise<void> {
  let areMade = false;
  if (Object.values(days).every((count) => count === 0)) return async () => {};
  const stopping = new AbortController();
  let underWay: Promise<void> = Promise.resolve();

  async function sweep(): Promise<void> {
    const owned = await tables();
    // At a first start an owner may not have made its tables yet, and the rows of one owner may depend on those of another.
    if (!areMade) for (const { owner, migrations } of owned) await store.tables(owner, migrations);
    areMade = true;
    for (const { ages = [] } of owned)
      for (const rows of ages) {
        const kept = days[rows.kind] ?? 0;
        if (kept === 0) continue;
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
