/** Refuses a transaction that waits for something other than its own statements: on SQLite, all writes would wait with it. */

const STALLED_MS = 5000;

/** Call `moved` after each statement, and `end` at the end of the transaction. */
export function watchStandstill(refuse: (error: Error) => void) {
  let lastRound: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    // After a pause of the process, timers come before the round of the event loop that work gave way to.
    lastRound = setImmediate(() =>
      refuse(new Error("a transaction waited for something other than its own statements")),
    );
  }, STALLED_MS);
  return {
    moved(): void {
      clearImmediate(lastRound);
      timer.refresh();
    },
    end(): void {
      clearImmediate(lastRound);
      clearTimeout(timer);
    },
  };
}
