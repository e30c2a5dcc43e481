/** The secret values this process knows; they stay in this closure. Those under six characters cannot be hidden. */

import { canBeHidden } from "./forms.ts";
import { createHidingStream, createMatcher, type HidingStream } from "./matcher.ts";

/** Values are hidden as they are and as URLs, JSON, HTML, hex and base64 write them. */
export interface Mask {
  /** Returns a function that forgets it, once nobody else who added it still needs it hidden. */
  add(secret: string): () => void;
  hide(text: string): string;
  finds(text: string): boolean;
  /** Hides in a text that comes in pieces what `hide` would hide in the whole, however it is cut. */
  stream(): HidingStream;
  /** Another number once other values are known: what was hidden before has to be hidden again. */
  readonly version: number;
}

export function createMask(): Mask {
  /** How many still need each hidden. */
  const values = new Map<string, number>();
  let version = 0;
  let built: ReturnType<typeof createMatcher> | undefined;
  // Built when it is needed: many values are added one after the other before anything is hidden.
  const matcher = () => {
    built ??= createMatcher(values.keys());
    return built;
  };
  return {
    add(secret) {
      if (!canBeHidden(secret)) return () => {};
      const change = (by: number) => {
        const count = (values.get(secret) ?? 0) + by;
        if (count === 0) values.delete(secret);
        else values.set(secret, count);
        // Only the first and the last change what is known.
        if (count > 1 || (count === 1 && by < 0)) return;
        version++;
        built = undefined;
      };
      change(1);
      let isAdded = true;
      return () => {
        if (isAdded) change(-1);
        isAdded = false;
      };
    },
    hide: (text) => (values.size === 0 ? text : matcher().hide(text)),
    finds: (text) => values.size > 0 && matcher().finds(text),
    stream: () => createHidingStream(() => matcher().automaton),
    get version() {
      return version;
    },
  };
}
