/** Work that nobody waits for: an error in it costs a try, not the process. */
import type { Log } from "./log/log.ts";

export interface Background {
  run(act: () => Promise<unknown>, trouble?: string): void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

export function createBackground(log: Log, usualTrouble: string): Background {
  const underWay = new Set<Promise<void>>();
  return {
    run(act, trouble = usualTrouble) {
      const work: Promise<void> = act()
        .then(
          () => {},
          (error: unknown) => log.error({ error }, trouble),
        )
        .finally(() => underWay.delete(work));
      underWay.add(work);
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
