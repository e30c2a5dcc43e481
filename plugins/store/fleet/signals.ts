/** The listeners to signals in this process, and signals that stay in it. */

import type { Transaction } from "../../../kernel/plugin.ts";
import type { SignalListener, Signals } from "../services.ts";

/** Listeners by topic, or by what stands for it. */
export function createListeners() {
  const listeners = new Map<string, Set<SignalListener>>();
  return {
    has: (topic: string) => listeners.has(topic),
    topics: () => [...listeners.keys()],
    /** Returns a function that removes it; `onLast` runs when it was the topic's last. */
    add(topic: string, listener: SignalListener, onLast: () => void = () => {}): () => void {
      const all = listeners.get(topic) ?? new Set();
      // Each time is a listener of its own, also where the function is the same.
      const own: SignalListener = (payload, isOwn) => listener(payload, isOwn);
      listeners.set(topic, all.add(own));
      return () => {
        if (!all.delete(own) || all.size > 0 || listeners.get(topic) !== all) return;
        listeners.delete(topic);
        onLast();
      };
    },
    /** In the order of the calls; one that throws does not keep it from the others. */
    tell(topic: string, payload: string, isOwn: boolean): void {
      for (const listener of listeners.get(topic) ?? []) queueMicrotask(() => listener(payload, isOwn));
    },
  };
}

/** The signals of a store that only this process uses. */
export function createLocalSignals(onCommit: (tx: Transaction, work: () => void) => void): Signals {
  const listeners = createListeners();
  return {
    async send(topic, payload, tx) {
      const tell = () => listeners.tell(topic, payload, true);
      if (tx === undefined) tell();
      else onCommit(tx, tell);
    },
    listen: (topic, listener) => Object.assign(listeners.add(topic, listener), { ready: async () => {} }),
    onLost: () => () => {},
  };
}
