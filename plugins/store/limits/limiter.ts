/**
 * So many a minute, so many an hour, for each key. Counted by this process alone, or, on PostgreSQL, by all nodes
 * together.
 */
import type { Migrations, Store } from "../../../kernel/vocabulary/store.ts";
import { createFleetLimiter } from "./fleet-limiter.ts";
import { createLocalLimiter } from "./local-limiter.ts";
import { PERMIT_TABLE } from "./permits.ts";
import type { LimitWindow, OpenLimiter } from "./windows.ts";

export interface LimiterOptions {
  /** Keeps the keys of different limiters apart in the store. */
  readonly name: string;
  readonly windows: readonly LimitWindow[];
  /** Without one, a restart forgets what was counted. */
  readonly store?: Store;
  /** False where SQLite need not remember it over a restart: then nothing is written there. */
  readonly isKept?: boolean;
}

const MIGRATIONS = {
  sqlite: [
    `CREATE TABLE limiter_takes (name TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL);
     CREATE INDEX limiter_takes_by_key ON limiter_takes (name, key, at);`,
  ],
  postgres: [PERMIT_TABLE],
} satisfies Migrations;

export function createLimiter({ name, windows, store, isKept = true }: LimiterOptions): OpenLimiter {
  if (store === undefined) return createLocalLimiter({ name, windows });
  let opened: Promise<OpenLimiter> | undefined;
  const open = async (): Promise<OpenLimiter> => {
    const sql = await store.tables("limiter", MIGRATIONS);
    if (sql.engine === "postgres") return createFleetLimiter({ name, windows, store, sql });
    return createLocalLimiter({ name, windows, ...(isKept && { sql }) });
  };
  const limiter = (): Promise<OpenLimiter> => {
    opened ??= open().catch((error) => {
      // The next who asks tries again.
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    take: async (key) => (await limiter()).take(key),
    peek: async (key) => (await limiter()).peek(key),
    async close() {
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}
