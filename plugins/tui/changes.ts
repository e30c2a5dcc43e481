/** Tells listeners that something has changed, at most once per frame. */

// Deltas arrive faster than the screen can show them; every second frame is left free for key presses.
const FRAME_MILLIS = 33;

export interface Changes {
  /** Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void;
  version(): number;
  changed(): void;
}

export function createChanges(): Changes {
  const listeners = new Set<() => void>();
  let version = 0;
  let isDue = false;
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    version: () => version,
    changed() {
      version++;
      if (isDue) return;
      isDue = true;
      setTimeout(() => {
        isDue = false;
        for (const listener of listeners) listener();
      }, FRAME_MILLIS);
    },
  };
}
