/** One after the other among all processes of a run: two that build the same would only make each other slower. */
import { mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";

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

const RETRY_MS = 50;
const SQLITE_BUSY = 5;

const turns = new Map<string, Promise<unknown>>();

/** Runs the work of this name while no other process does. The lock is the operating system's: it ends with the process. */
export function alone<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  // Within this process the turn is taken first: a process is never kept out by a lock that it has itself.
  const turn = (turns.get(name) ?? Promise.resolve()).then(async () => {
    const lock = await openLock(join(CACHE, `${name}.lock`));
    try {
      return await work();
    } finally {
      lock.close();
    }
  });
  turns.set(
    name,
    turn.catch(() => {}),
  );
  return turn;
}

/** Waits without blocking: the one that has the lock may need an answer from this process. */
async function openLock(file: string): Promise<DatabaseSync> {
  for (;;) {
    const lock = new DatabaseSync(file, { timeout: 0 });
    try {
      lock.exec("BEGIN EXCLUSIVE");
      return lock;
    } catch (error) {
      lock.close();
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
      await setTimeout(RETRY_MS);
    }
  }
}
