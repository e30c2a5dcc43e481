/** Does work that grows with a text in a thread, which starts when it is first needed and ends when idle. */
import type { Piscina } from "piscina";
import { moduleFile } from "../package.ts";
import type { TextTask } from "./text-worker.ts";
import { indexedWords } from "./words.ts";

const IDLE_MS = 30_000;
const MAX_THREAD_MB = 256;
/** Asking a thread takes longer than the work on a shorter text. */
const SHORT_LENGTH = 8192;

export type TextThreads = ReturnType<typeof createTextThreads>;

export function createTextThreads() {
  let pool: Promise<Piscina> | undefined;
  const run = async (task: TextTask): Promise<unknown> => {
    pool ??= import("piscina").then(
      ({ Piscina }) =>
        new Piscina({
          filename: moduleFile("kernel/text/text-worker"),
          minThreads: 0,
          maxThreads: 1,
          idleTimeout: IDLE_MS,
          env: {},
          execArgv: [],
          resourceLimits: { maxOldGenerationSizeMb: MAX_THREAD_MB },
        }),
    );
    return await (await pool).run(task);
  };
  return {
    /** The lines of both texts with their signs. */
    diff: async (before: string, after: string) => (await run({ before, after })) as readonly string[],
    /** The words of the text as they are indexed. */
    words: async (text: string) =>
      text.length <= SHORT_LENGTH ? indexedWords(text) : ((await run({ text })) as string),
    async close(): Promise<void> {
      await (await pool)?.destroy();
    },
  };
}
