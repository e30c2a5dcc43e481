/** Charts as people in chats can see them. A component wrote the SVG, so a thread draws it, for so long and with so much memory. */
import { createThreads } from "../../../kernel/kit/concurrency.ts";
import { moduleFile } from "../../../kernel/kit/files.ts";

const TIMEOUT_MS = 10_000;

export type Pictures = ReturnType<typeof createPictures>;

export function createPictures(timeoutMillis = TIMEOUT_MS) {
  const { pool, close } = createThreads(moduleFile("plugins/messaging/charts/chart-worker"));
  return {
    /** Returns the chart as PNG; undefined for an SVG that is no chart of run-code, or cannot be drawn in time. */
    async draw(svg: string): Promise<Uint8Array | undefined> {
      try {
        const threads = await pool();
        // Loading the thread does not count: on a busy machine that is what takes longest.
        await threads.run(undefined);
        return (await threads.run(svg, { signal: AbortSignal.timeout(timeoutMillis) })) as
          | Uint8Array
          | undefined;
      } catch {
        // Without a picture the file goes as it is: the answer must not wait for it.
        return undefined;
      }
    },
    close,
  };
}
