/** Notifies listeners that something has changed, in the form React's `useSyncExternalStore` takes. */

export type ChangeSignal = ReturnType<typeof createChangeSignal>;

/** With `frameMillis`, listeners are called at most once in that time. */
export function createChangeSignal(frameMillis = 0) {
  const listeners = new Set<() => void>();
  let version = 0;
  let isDue = false;
  function notify(): void {
    isDue = false;
    for (const listener of listeners) listener();
  }
  return {
    /** Returns the unsubscribe function. */
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    version: () => version,
    changed() {
      version++;
      if (frameMillis === 0) return notify();
      if (isDue) return;
      isDue = true;
      setTimeout(notify, frameMillis);
    },
  };
}
