/** How often one user may have a tool send requests, or call a server's tools. The counts are in the store, so they outlast a restart. */
import type { HttpCapabilities } from "../../capabilities/capabilities.ts";
import type { OpenLimiter } from "../../kernel/kit.ts";
import type { Limiter, Store } from "../../kernel/plugin.ts";

/** One limiter for each name and rate. `kind` keeps a tool's counts apart from those of a server of its name. */
export function createLimiters(store: Store, kind: "tool" | "mcp") {
  const limiters = new Map<string, OpenLimiter>();
  return {
    find(name: string, { perMinute, perHour }: HttpCapabilities["rateLimit"]): Limiter {
      const key = `${name} ${perMinute} ${perHour}`;
      let limiter = limiters.get(key);
      if (limiter === undefined) {
        const windows = [
          { limit: perMinute, seconds: 60 },
          { limit: perHour, seconds: 3600 },
        ];
        limiter = store.limiter({ name: `${kind}:${name}`, windows });
        limiters.set(key, limiter);
      }
      return limiter;
    },
    async close(): Promise<void> {
      await Promise.all([...limiters.values()].map((limiter) => limiter.close()));
    },
  };
}
