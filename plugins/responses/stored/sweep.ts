/** Deletes expired files, and the requests of deleted threads, whose texts must not outlive them; not those in the bin. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Log, Services } from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import type { StoredFiles } from "./files.ts";
import type { Requests } from "./requests.ts";
import type { TurnLocations } from "./turn-location.ts";

const PAGE = 200;
// Other work runs between two pages.
const PAUSE_MS = 20;
const ROUND_MS = 10 * 60 * 1000;

interface SweepParts {
  readonly store: Pick<Store, "repeat">;
  readonly requests: Requests;
  readonly files: Pick<StoredFiles, "removeExpired">;
  readonly locations: TurnLocations;
  readonly threads: Services["threads"];
  readonly log: Log;
}

/** Returns a function that stops it. */
export function startSweep({
  store,
  requests,
  files,
  locations,
  threads,
  log,
}: SweepParts): () => Promise<void> {
  let isOver = false;
  let underWay: Promise<void> = Promise.resolve();

  // Asked in one statement: a thread that is restored meanwhile is never missed.
  const isKept = async (user: string, thread: string): Promise<boolean> =>
    (await threads.isBinned(user, thread)) !== undefined;

  /** A background response runs on the thread that its job makes when it begins. */
  async function runsElsewhere(user: string, thread: string): Promise<boolean> {
    for (const taken of await requests.inBackground(user, thread)) {
      const { job, thread: own } = await locations.find(taken);
      if (job !== undefined || (await isKept(user, own))) return true;
    }
    return false;
  }

  async function sweep(): Promise<void> {
    await files.removeExpired();
    for (let after = ""; !isOver; ) {
      const page = await requests.threadsAfter(after, PAGE);
      for (const { user, thread } of page)
        if (!(await isKept(user, thread)) && !(await runsElsewhere(user, thread)))
          await requests.removeThread(user, thread);
      if (page.length < PAGE) break;
      after = page.at(-1)?.thread ?? "";
      await sleep(PAUSE_MS, undefined, { ref: false });
    }
    if (!isOver) await requests.removeUnusedTexts();
  }

  const stop = store.repeat("sweep responses", ROUND_MS, () => {
    // A full disk must cost a round, not the service.
    underWay = sweep().catch((error: unknown) =>
      log.warn(
        { error },
        "expired files and requests of deleted threads could not be deleted, retrying later",
      ),
    );
    return underWay;
  });
  return async () => {
    isOver = true;
    stop();
    await underWay;
  };
}
