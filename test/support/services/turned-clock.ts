/** A clock that stands still until the test turns it. */
import type { Clock } from "../../../kernel/plugin.ts";

export interface TurnedClock extends Clock {
  /** Sets it forward to that moment; whoever looks at it now and then looks once. */
  turnTo(time: string): void;
  /** Lets everybody look, without time passing. */
  look(): void;
}

export function createTurnedClock(start: string): TurnedClock {
  let now = Date.parse(start);
  const looking = new Set<() => void>();
  const look = (): void => {
    for (const work of looking) work();
  };
  return {
    now: () => now,
    every(_millis, work) {
      looking.add(work);
      return () => void looking.delete(work);
    },
    turnTo(time) {
      now = Date.parse(time);
      look();
    },
    look,
  };
}
