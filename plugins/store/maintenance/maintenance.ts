/** Maintains the store while the service runs: it watches its growth, backs it up, and deletes what is too old. */

import type { OwnedTables } from "../../../kernel/kit/store.ts";
import type { Clock, Log } from "../../../kernel/plugin.ts";
import type { BackupSettings, RetentionSettings } from "../config/settings.ts";
import type { Store, StoreHealth } from "../services.ts";
import {
  type Growth,
  growthInWords,
  judge,
  keepSize,
  MAINTENANCE_TABLES,
  measure,
  SIZES,
  type SizeRow,
} from "./growth.ts";
import { backUpWhenDue } from "./scheduled-backup.ts";

export interface MaintenanceParts {
  readonly store: Store;
  /** Undefined for a database on PostgreSQL. */
  readonly file: string | undefined;
  readonly home: string;
  readonly clock: Clock;
  readonly backup: BackupSettings | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly retention: RetentionSettings;
  tables(): Promise<readonly OwnedTables[]>;
  readonly log: Log;
}

export interface Maintenance extends StoreHealth {
  /** Resolves when the work under way has ended or was stopped. */
  close(): Promise<void>;
}

const LOOK_MS = 10 * 60_000;
const RETENTION_ROUND_MS = 3_600_000;
const DAY_MS = 86_400_000;

export async function startMaintenance(parts: MaintenanceParts): Promise<Maintenance> {
  const { store, file, home, clock, backup, environment, log } = parts;
  const sql = await store.tables("maintenance", MAINTENANCE_TABLES);
  const stopping = new AbortController();
  let underWay: Promise<void> | undefined;
  const now = () => clock.now();

  async function grown(): Promise<Growth> {
    return judge(await measure(sql, file), await sql.all<SizeRow>(SIZES), now());
  }

  async function look(): Promise<void> {
    const growth = await grown();
    const isFirst = await keepSize(sql, growth, now());
    if (isFirst && growth.problem !== undefined)
      log.warn({ code: "store_filling" }, `store: ${growthInWords(growth)}`);
    if (backup === undefined) return;
    const bytes = async () => (await measure(sql, file)).bytes;
    const { node } = store;
    await backUpWhenDue({ sql, node, home, settings: backup, environment, log, now, bytes }, stopping.signal);
  }

  const lookOnce = (): void => {
    if (underWay !== undefined || stopping.signal.aborted) return;
    underWay = look()
      // The store is away, or the disk is full; the next look is soon enough.
      .catch((error: unknown) => log.warn({ error }, "store maintenance failed, retrying later"))
      .finally(() => {
        underWay = undefined;
      });
  };
  const stopRetention = startRetention(parts, stopping.signal);
  const stop = clock.every(LOOK_MS, lookOnce);
  lookOnce();

  return {
    async describe() {
      const growth = await grown();
      return { detail: growthInWords(growth), isFilling: growth.problem !== undefined };
    },
    async close() {
      stop();
      stopping.abort();
      await Promise.all([underWay, stopRetention()]);
    },
  };
}

/** Deletes what the settings say is too old, every hour, on one of all nodes. Returns a function that ends it. */
function startRetention(
  { store, retention, clock, log, tables }: MaintenanceParts,
  signal: AbortSignal,
): () => Promise<void> {
  let areMade = false;
  let underWay: Promise<void> = Promise.resolve();
  if (Object.values(retention).every((days) => days === 0)) return () => underWay;

  async function sweep(): Promise<void> {
    const owned = await tables();
    // At a first start an owner may not have made its tables yet, and the rows of one owner may depend on those of another.
    if (!areMade) for (const { owner, migrations } of owned) await store.tables(owner, migrations);
    areMade = true;
    for (const rows of owned.flatMap(({ ages = [] }) => ages)) {
      const days = retention[rows.kind] ?? 0;
      if (days === 0) continue;
      const before = new Date(clock.now() - days * DAY_MS).toISOString();
      const gone = await store.pruneOld(rows, before, { signal });
      if (gone > 0) log.info({ kind: rows.kind, rows: gone, days }, `old ${rows.kind} deleted`);
    }
  }

  const stop = store.repeat("delete what is old", RETENTION_ROUND_MS, () => {
    // A full disk must cost a round, not the service.
    underWay = sweep().catch((error: unknown) =>
      log.warn({ error }, "what is old could not be deleted, retrying later"),
    );
    return underWay;
  });
  return () => {
    stop();
    return underWay;
  };
}
