/** How often each user may call each server's tools; kept over a restart. */
import type { Store } from "../../../kernel/plugin.ts";
import { createLimiter } from "../../../kernel/store/limits/limiter.ts";
import type { StoredServer } from "../tools/rows.ts";

/** One for each server and rate; the counts themselves are in the store, under the server's name. */
export function createLimiters(store: Store) {
  const limiters = new Map<string, ReturnType<typeof createLimiter>>();
  return {
    find({ name, file }: StoredServer) {
      const { perMinute, perHour } = file.rateLimit;
      const key = `${name} ${perMinute} ${perHour}`;
      let limiter = limiters.get(key);
      if (limiter === undefined) {
        const windows = [
          { limit: perMinute, seconds: 60 },
          { limit: perHour, seconds: 3600 },
        ];
        limiter = createLimiter({ name: `mcp:${name}`, windows, store });
        limiters.set(key, limiter);
      }
      return limiter;
    },
    async close(): Promise<void> {
      await Promise.all([...limiters.values()].map((limiter) => limiter.close()));
    },
  };
}
