/** Work that this process does one piece at a time for each name, in the order in which it was asked for. */

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
