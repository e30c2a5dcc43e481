/** Does work that grows with a text in a thread. */
import { moduleFile } from "../package.ts";
import { createThreads } from "../threads.ts";
import type { TextTask } from "./text-worker.ts";
import { indexedWords } from "./words.ts";

/** Asking a thread takes longer than the work on a shorter text. */
const SHORT_LENGTH = 8192;

export type TextThreads = ReturnType<typeof createTextThreads>;

export function createTextThreads() {
  const { pool, close } = createThreads(moduleFile("kernel/text/text-worker"));
  const run = async (task: TextTask): Promise<unknown> => (await pool()).run(task);
  return {
    /** The lines of both texts with their signs. */
    diff: async (before: string, after: string) => (await run({ before, after })) as readonly string[],
    words: async (text: string) =>
      text.length <= SHORT_LENGTH ? indexedWords(text) : ((await run({ text })) as string),
    close,
  };
}
