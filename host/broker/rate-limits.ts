/** How often one user may have a tool send requests, or call a server's tools. The counts are in the store, so they outlast a restart. */
import type { HttpCapabilities } from "../../capabilities/capabilities.ts";
import type { Limiter } from "../../kernel/plugin.ts";
import type { LimitWindow, OpenLimiter, Store } from "../../plugins/store/services.ts";

/** Besides a tool's own limits, for the hosts of any public web page. */
const HOST_WINDOWS = [{ limit: 20, seconds: 60 }];

export type Limiters = ReturnType<typeof createLimiters>;

/** One limiter for each name and rate. `kind` keeps a tool's counts apart from those of a server of its name. */
export function createLimiters(store: Store, kind: "tool" | "mcp") {
  const limiters = new Map<string, OpenLimiter>();
  const open = (name: string, windows: readonly LimitWindow[]): Limiter => {
    const key = `${name} ${windows.map(({ limit }) => limit).join(" ")}`;
    let limiter = limiters.get(key);
    if (limiter === undefined) {
      limiter = store.limiter({ name, windows });
      limiters.set(key, limiter);
    }
    return limiter;
  };
  return {
    find: (name: string, { perMinute, perHour }: HttpCapabilities["rateLimit"]): Limiter =>
      open(`${kind}:${name}`, [
        { limit: perMinute, seconds: 60 },
        { limit: perHour, seconds: 3600 },
      ]),
    /** How often one user may have a tool read pages of one host. */
    findForHosts: (name: string): Limiter => open(`${kind}-hosts:${name}`, HOST_WINDOWS),
    async close(): Promise<void> {
      await Promise.all([...limiters.values()].map((limiter) => limiter.close()));
    },
  };
}
