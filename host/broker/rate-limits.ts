/** How often a tool may send requests for one user. The counts are in the store, under the tool's name. */
import type { HttpCapabilities } from "../../capabilities/capabilities.ts";
import { createLimiter } from "../../kernel/store/limits/limiter.ts";
import type { Limiter, Store } from "../../kernel/vocabulary/store.ts";

/** One limiter for each tool and rate. */
export function createLimiters(store: Store) {
  const limiters = new Map<string, ReturnType<typeof createLimiter>>();
  return {
    find(tool: string, { rateLimit: { perMinute, perHour } }: HttpCapabilities): Limiter {
      const key = `${tool} ${perMinute} ${perHour}`;
      let limiter = limiters.get(key);
      if (limiter === undefined) {
        const windows = [
          { limit: perMinute, seconds: 60 },
          { limit: perHour, seconds: 3600 },
        ];
        limiter = createLimiter({ name: `tool:${tool}`, windows, store });
        limiters.set(key, limiter);
      }
      return limiter;
    },
    async close(): Promise<void> {
      await Promise.all([...limiters.values()].map((limiter) => limiter.close()));
    },
  };
}
