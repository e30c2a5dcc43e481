/** A running turn as its callers see it: every event kept, so that a late listener misses none. */
import type { Fault, TurnEvent, TurnRecord } from "../../../kernel/plugin.ts";
import type { RunningTurn } from "../services.ts";
import type { LedgerTurn } from "../threads/ledger.ts";

/** A turn that this node has in hand: it waits in line, runs or is being closed. */
export interface OpenTurn extends LedgerTurn {
  readonly stream: TurnStream;
  readonly stopper: AbortController;
}

export interface TurnStream extends RunningTurn {
  /** Adds an event and returns its number; `done` and `failed` end the stream. */
  push(event: TurnEvent): number;
  readonly events: readonly TurnEvent[];
  /** Ends the stream of a turn that runs later, elsewhere: `record` rejects with the reason. */
  leave(why: Fault): void;
}

export function createTurnStream(id: string, thread: string, cancel: () => void): TurnStream {
  const events: TurnEvent[] = [];
  const { promise: record, resolve, reject } = Promise.withResolvers<TurnRecord>();
  let more = Promise.withResolvers<void>();
  let ended = false;

  return {
    id,
    thread,
    record,
    cancel,
    events,
    push(event) {
      const n = events.push(event);
      if (event.type === "done" || event.type === "failed") {
        ended = true;
        resolve(event.record);
      }
      more.resolve();
      more = Promise.withResolvers();
      return n;
    },
    leave(why) {
      ended = true;
      // Nobody has to listen.
      record.catch(() => {});
      reject(why);
      more.resolve();
    },
    async *[Symbol.asyncIterator]() {
      for (let next = 0; ; next++) {
        while (next >= events.length) {
          if (ended) return;
          await more.promise;
        }
        yield events[next] as TurnEvent;
      }
    },
  };
}
