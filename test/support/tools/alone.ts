/** One after the other among all processes of a run: two that built the same would only make each other slower. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ROOT } from "../clone.ts";

/** Where what was made once is kept, for this run and the next. */
export const CACHE = join(ROOT, "test", ".cache");

const LONGEST_MILLIS = 100_000;

let last: Promise<unknown> = Promise.resolve();

/** Runs the work while nobody else does. The lock is the operating system's: it ends with the process. */
export function alone<Result>(work: () => Promise<Result>): Promise<Result> {
  // Within this process the turn is taken first: waiting for the lock would keep the one who holds it from going on.
  const turn = last.then(async () => {
    mkdirSync(CACHE, { recursive: true });
    const lock = new DatabaseSync(join(CACHE, "lock.sqlite"), { timeout: LONGEST_MILLIS });
    try {
      lock.exec("BEGIN EXCLUSIVE");
      return await work();
    } finally {
      lock.close();
    }
  });
  last = turn.catch(() => {});
  return turn;
}
