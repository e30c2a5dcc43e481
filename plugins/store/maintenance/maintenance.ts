/** What the service does for its own store: it watches how it grows, and backs it up. */
import type { OwnedTables, StoreHealth } from "../../../kernel/kit.ts";
import type { Clock, Log, Store } from "../../../kernel/plugin.ts";
import type { BackupSettings, RetentionSettings } from "../config/maintenance.ts";
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
import { startRetention } from "./retention.ts";
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
  /** The tables of every plugin. */
  tables(): Promise<readonly OwnedTables[]>;
  readonly log: Log;
}

export interface Maintenance extends StoreHealth {
  /** When what is under way has ended or was stopped. */
  close(): Promise<void>;
}

const LOOK_MS = 10 * 60_000;

export async function startMaintenance(parts: MaintenanceParts): Promise<Maintenance> {
  const { store, file, home, clock, backup, environment, retention, log } = parts;
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
  const stopRetention = startRetention({ store, days: retention, clock, log, tables: parts.tables });
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
