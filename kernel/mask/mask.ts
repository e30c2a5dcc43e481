/** The secret values this process knows; they stay in this closure. Those under six characters cannot be hidden. */

import { canBeHidden } from "./forms.ts";
import { createHidingStream, createMatcher, type HidingStream } from "./matcher.ts";

/** Values are hidden as they are and as URLs, JSON, HTML, hex and base64 write them. */
export interface Mask {
  add(secret: string): void;
  hide(text: string): string;
  finds(text: string): boolean;
  /** Hides in a text that comes in pieces what `hide` would hide in the whole, however it is cut. */
  stream(): HidingStream;
  /** How many values are known: what was hidden before it changed has to be hidden again. */
  readonly size: number;
}

export function createMask(): Mask {
  const values = new Set<string>();
  let built: ReturnType<typeof createMatcher> | undefined;
  // Built when it is needed: many values are added one after the other before anything is hidden.
  const matcher = () => {
    built ??= createMatcher(values);
    return built;
  };
  return {
    add(secret) {
      if (!canBeHidden(secret) || values.has(secret)) return;
      values.add(secret);
      built = undefined;
    },
    hide: (text) => (values.size === 0 ? text : matcher().hide(text)),
    finds: (text) => values.size > 0 && matcher().finds(text),
    stream: () => createHidingStream(() => matcher().automaton),
    get size() {
      return values.size;
    },
  };
}
