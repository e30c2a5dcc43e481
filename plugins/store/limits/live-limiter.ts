/** A limit that the operator can change while it is in use. What was counted so far goes on counting. */
import { createLimiter, type LimiterOptions } from "./limiter.ts";
import type { LimitWindow, OpenLimiter } from "./windows.ts";

export function createLiveLimiter(
  options: Omit<LimiterOptions, "windows">,
  windows: () => Promise<readonly LimitWindow[]>,
): OpenLimiter {
  let known = "";
  let limiter: Promise<OpenLimiter> | undefined;

  async function current(): Promise<OpenLimiter> {
    const wanted = await windows();
    const key = JSON.stringify(wanted);
    if (limiter === undefined || key !== known) {
      known = key;
      // What it holds goes back before the next one counts.
      const before = limiter?.then((old) => old.close());
      limiter = Promise.resolve(before).then(() => createLimiter({ ...options, windows: wanted }));
    }
    return limiter;
  }

  return {
    take: async (key) => (await current()).take(key),
    peek: async (key) => (await current()).peek(key),
    async close() {
      await (await limiter)?.close();
    },
  };
}
