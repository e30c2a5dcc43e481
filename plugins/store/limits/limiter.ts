/**
 * So many a minute, so many an hour, for each key. Counted by this process alone, or, on PostgreSQL, by all nodes
 * together.
 */
import type { LimiterOptions, LimitWindow, Migrations, OpenLimiter, Store } from "../../../kernel/plugin.ts";
import { createFleetLimiter } from "./fleet-limiter.ts";
import { createLocalLimiter } from "./local-limiter.ts";
import { PERMIT_TABLE } from "./permits.ts";

const MIGRATIONS = {
  sqlite: [
    `CREATE TABLE limiter_takes (name TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL);
     CREATE INDEX limiter_takes_by_key ON limiter_takes (name, key, at);`,
  ],
  postgres: [PERMIT_TABLE],
} satisfies Migrations;

export function createLimiter(
  { name, windows, isKept = true }: LimiterOptions,
  store: Pick<Store, "tables" | "node" | "signals">,
): OpenLimiter {
  let known = "";
  let limiter: Promise<OpenLimiter> | undefined;

  const open = async (chosen: readonly LimitWindow[]): Promise<OpenLimiter> => {
    const sql = await store.tables("limiter", MIGRATIONS);
    if (sql.engine === "postgres") return createFleetLimiter({ name, windows: chosen, store, sql });
    return createLocalLimiter({ name, windows: chosen, ...(isKept && { sql }) });
  };

  async function current(): Promise<OpenLimiter> {
    const chosen = typeof windows === "function" ? await windows() : windows;
    const key = JSON.stringify(chosen);
    if (limiter === undefined || key !== known) {
      known = key;
      // What it holds goes back before the next one counts.
      const before = limiter?.then((old) => old.close());
      const opening = Promise.resolve(before).then(() => open(chosen));
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
