/** Threads for work that everyone else would have to wait for. They start when first needed and end when idle. */
import type { Piscina } from "piscina";

const IDLE_MS = 30_000;
const MAX_THREAD_MB = 256;

/** `filename` is the module that the threads run. They get no environment and no arguments. */
export function createThreads(filename: string, maxThreads = 1) {
  let pool: Promise<Piscina> | undefined;
  async function open(): Promise<Piscina> {
    const { Piscina } = await import("piscina");
    return new Piscina({
      ...{ filename, maxThreads, minThreads: 0, idleTimeout: IDLE_MS, env: {}, execArgv: [] },
      resourceLimits: { maxOldGenerationSizeMb: MAX_THREAD_MB },
    });
  }
  return {
    pool(): Promise<Piscina> {
      pool ??= open();
      return pool;
    },
    async close(): Promise<void> {
      await (await pool)?.destroy();
    },
  };
}
