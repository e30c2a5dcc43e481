/** Forgets the requests of threads that were deleted elsewhere: what they said must not outlive the conversation. */
import type { Log, Threads } from "../../../kernel/plugin.ts";
import type { Requests } from "./requests.ts";

const PAGE = 200;
// Between pages others get their turn; between rounds there is nothing to do.
const PAUSE_MILLIS = 20;
const ROUND_MILLIS = 10 * 60 * 1000;

/** Answers its own end. */
export function startSweep(requests: Requests, threads: Threads, log: Log): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let after = "";

  async function sweep(): Promise<void> {
    let isLast = true;
    try {
      const page = await requests.threadsAfter(after, PAGE);
      for (const { user, thread } of page)
        if (!(await threads.find(user, thread))) await requests.removeThread(user, thread);
      isLast = page.length < PAGE;
      after = isLast ? "" : (page.at(-1)?.thread ?? "");
    } catch (error) {
      // A full disk must cost a round, not the service.
      log.warn({ error }, "requests of deleted threads could not be deleted, retrying later");
    }
    if (!isOver) timer = setTimeout(begin, isLast ? ROUND_MILLIS : PAUSE_MILLIS).unref();
  }

  let underWay = Promise.resolve();
  function begin(): void {
    underWay = sweep();
  }

  begin();
  return async () => {
    isOver = true;
    clearTimeout(timer);
    await underWay;
  };
}
