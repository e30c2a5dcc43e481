/** So many a minute, so many an hour, for each key: counted in this process on SQLite, and on PostgreSQL for all nodes together. */
import type { LimiterOptions, LimitWindow, OpenLimiter } from "../services.ts";
import { type FleetStore, openFleetLimiter } from "./fleet-limiter.ts";
import { openOwnLimiter } from "./own-limiter.ts";
import { LIMITER_TABLES } from "./places.ts";

/** A limiter is opened when it is first asked, and again when its windows have changed. */
export function createLimiter(
  { name, windows, isKept = true }: LimiterOptions,
  store: FleetStore,
): OpenLimiter {
  let known = "";
  let limiter: Promise<OpenLimiter> | undefined;

  async function open(chosen: readonly LimitWindow[], before: Promise<OpenLimiter> | undefined) {
    // The old limiter returns its permits before the new one counts.
    await (await before)?.close();
    const sql = await store.tables("limiter", LIMITER_TABLES);
    return sql.engine === "postgres"
      ? openFleetLimiter(sql, name, chosen, store)
      : openOwnLimiter(isKept ? sql : undefined, name, chosen, store.node.id);
  }

  async function current(): Promise<OpenLimiter> {
    const chosen = typeof windows === "function" ? await windows() : windows;
    const key = JSON.stringify(chosen);
    if (limiter === undefined || key !== known) {
      known = key;
      const opening = open(chosen, limiter);
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
