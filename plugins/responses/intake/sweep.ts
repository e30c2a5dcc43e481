/** Forgets the requests of threads that were deleted elsewhere: what they said must not outlive the conversation. */
import type { Log, Threads } from "../../../kernel/plugin.ts";
import type { Requests } from "./requests.ts";

const PAGE = 200;
// Between pages others get their turn; between rounds there is nothing to do.
const PAUSE_MILLIS = 20;
const ROUND_MILLIS = 10 * 60 * 1000;

/** Answers its own end. */
export function startSweep(requests: Requests, threads: Threads, log: Log): () => void {
  let timer: NodeJS.Timeout;
  let after = "";

  function sweep(): void {
    let isLast = true;
    try {
      const page = requests.threadsAfter(after, PAGE);
      for (const { user, thread } of page)
        if (!threads.find(user, thread)) requests.removeThread(user, thread);
      isLast = page.length < PAGE;
      after = isLast ? "" : (page.at(-1)?.thread ?? "");
    } catch (error) {
      // A full disk must cost a round, not the service.
      log.warn({ error }, "requests of deleted threads could not be deleted, retrying later");
    }
    timer = setTimeout(sweep, isLast ? ROUND_MILLIS : PAUSE_MILLIS).unref();
  }

  sweep();
  return () => clearTimeout(timer);
}
