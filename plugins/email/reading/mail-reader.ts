/** Reads mails in a thread, for so long and with so much memory. */
import { createThreads } from "../../../kernel/kit/concurrency.ts";
import { moduleFile } from "../../../kernel/kit/files.ts";
import type { MailTask, ReadMail } from "./mail.ts";
import type { WorkerTask } from "./mail-worker.ts";

const TIMEOUT_MS = 10_000;

export type MailReader = ReturnType<typeof createMailReader>;

export function createMailReader(timeoutMillis = TIMEOUT_MS) {
  const { pool, close } = createThreads(moduleFile("plugins/email/reading/mail-worker"));
  async function run<Result>(task: WorkerTask): Promise<Result> {
    const threads = await pool();
    // Loading the thread does not count: on a busy machine that is what takes longest.
    await threads.run(undefined);
    const signal = AbortSignal.timeout(timeoutMillis);
    try {
      return (await threads.run(task, { signal })) as Result;
    } catch (error) {
      if (signal.aborted) throw new Error(`it took longer than ${timeoutMillis / 1000} seconds`);
      throw error;
    }
  }
  return {
    /** Of a mail that cannot be read in time, or not at all, only the header. Rejects where that cannot be read either. */
    async read(task: MailTask): Promise<ReadMail> {
      try {
        return await run(task);
      } catch {
        const missing = "The text of this mail could not be read: it has too many parts, or is damaged.";
        return await run({ ...task, source: headerOf(task.source), missing });
      }
    },
    readFile: (source: Uint8Array, part: number) => run<Uint8Array | undefined>({ source, part }),
    close,
  };
}

function headerOf(source: Uint8Array): Uint8Array {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  const ends = [bytes.indexOf("\r\n\r\n"), bytes.indexOf("\n\n")].filter((end) => end >= 0);
  // Its own memory: what goes to a thread takes along the whole buffer that it is part of.
  return Buffer.concat([bytes.subarray(0, Math.min(...ends, bytes.length)), Buffer.from("\r\n\r\n")]);
}
