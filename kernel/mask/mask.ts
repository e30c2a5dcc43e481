/**
 * The secret values this process knows, and how to hide them. The values stay in this closure. Values under six
 * characters cannot be hidden: they would blank out ordinary words.
 */

import type { Mask } from "../vocabulary/kernel.ts";
import { canBeHidden } from "./forms.ts";
import { createHidingStream, createMatcher } from "./matcher.ts";

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
