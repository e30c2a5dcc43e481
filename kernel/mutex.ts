/** Work that this process does one piece at a time, or a few. */

/** For each name, in the order in which it was asked for. */
export type Mutex = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

export function createMutex(atOnce = 1): Mutex {
  const queues = new Map<string, { active: number; readonly waiting: (() => void)[] }>();
  return async (name, work) => {
    const queue = queues.get(name) ?? { active: 0, waiting: [] };
    queues.set(name, queue);
    if (queue.active < atOnce) queue.active++;
    else await new Promise<void>((resolve) => queue.waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The next one takes the place over.
      const next = queue.waiting.shift();
      if (next) next();
      else if (--queue.active === 0) queues.delete(name);
    }
  };
}

/** Calls that come while it is at work make it run once more, and end with that. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    current = work().finally(() => (current = undefined));
    return current;
  };
  return () => {
    // Between the end of one and the beginning of the next, that next one is yet to begin.
    if (current === undefined && next === undefined) return begin();
    next ??= (current as Promise<void>).then(begin, begin);
    return next;
  };
}
