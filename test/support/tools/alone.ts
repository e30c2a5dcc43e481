/** One after the other among all processes of a run: two that built the same would only make each other slower. */
import { mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** What was made once is kept here, for every later run of this user, in whatever clone. */
export const CACHE = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "postern-tests");

openCache();

/** The code in it is run: it must be nobody else's. */
function openCache(): void {
  mkdirSync(CACHE, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(CACHE);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
    throw new Error(`${CACHE} belongs to somebody else, or others may write to it: remove it`);
}

// Longer than everything that a run may build takes.
const LOCK_TIMEOUT_MS = 600_000;

let last: Promise<unknown> = Promise.resolve();

/** Runs the work while nobody else does. The lock is the operating system's: it ends with the process. */
export function alone<Result>(work: () => Promise<Result>): Promise<Result> {
  // Within this process the turn is taken first: waiting for the lock would keep the one who holds it from going on.
  const turn = last.then(async () => {
    const lock = new DatabaseSync(join(CACHE, "lock.sqlite"), { timeout: LOCK_TIMEOUT_MS });
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
