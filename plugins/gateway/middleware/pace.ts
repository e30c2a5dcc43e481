/** How much of the process's time one user may take with JSON; beyond that their next requests wait, nobody else's. */
import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { createMutex } from "../../../kernel/kit/concurrency.ts";

const MIB = 2 ** 20;
const FREE_BYTES = 16 * MIB;
const BYTES_PER_MS = (4 * MIB) / 1000;
const MAX_WAIT_MS = 10_000;
const MAX_USERS = 10_000;
const MAX_AT_ONCE = 3;

export type Pacing = ReturnType<typeof createPacing>;

export function createPacing() {
  // As a size: with `max` the arrays of all its places would be made at every start.
  const counted = new LRUCache<string, { bytes: number; at: number }>({
    maxSize: MAX_USERS,
    sizeCalculation: () => 1,
  });

  /** The count decays over time. */
  const left = (user: string): number => {
    const { bytes = 0, at = 0 } = counted.get(user) ?? {};
    return Math.max(0, bytes - (performance.now() - at) * BYTES_PER_MS);
  };

  return {
    /** Resolves when the user may go on, in ten seconds at the latest. */
    async wait(user: string) {
      const millis = (left(user) - FREE_BYTES) / BYTES_PER_MS;
      if (millis > 0) await sleep(Math.min(millis, MAX_WAIT_MS), undefined, { ref: false });
    },
    count(user: string, bytes: number) {
      const most = FREE_BYTES + MAX_WAIT_MS * BYTES_PER_MS;
      counted.set(user, { bytes: Math.min(left(user) + bytes, most), at: performance.now() });
    },
    /** Does the work when few enough of this user's are being done. */
    inTurn: createMutex(MAX_AT_ONCE),
  };
}
