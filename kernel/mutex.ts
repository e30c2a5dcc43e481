/** Work that this process does one piece at a time. */

/** For each name, in the order in which it was asked for. */
export type Mutex = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

export function createMutex(): Mutex {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const before = last.get(name) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (last.get(name) === mine) last.delete(name);
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
