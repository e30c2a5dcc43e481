/** Sign-ins under way, kept until the browser comes back: over a restart, for ten minutes, and for one answer. */

import { createHash } from "node:crypto";
import type Keyv from "keyv";
import { Fault, type SealingKey, seal, unseal } from "../../kernel/kit.ts";

export interface SignIns<Kept> {
  /** Until the address that answers it carries this state. */
  keep(state: string, kept: Kept): Promise<void>;
  /** The sign-in that this address answers. Nobody gets it a second time. */
  take(redirected: URL): Promise<Kept | undefined>;
}

const MAX_AGE_MS = 10 * 60 * 1000;

/** Sealed like secrets: with the verifier, a code that somebody caught on its way could be used. */
export function createSignIns<Kept>(keyed: Keyv<string>, key: SealingKey): SignIns<Kept> {
  return {
    async keep(state, kept) {
      const id = idOf(state);
      await keyed.set(id, seal(key, id, JSON.stringify(kept)), MAX_AGE_MS);
    },
    async take(redirected) {
      const id = idOf(redirected.searchParams.get("state") ?? "");
      const sealed = await keyed.get(id);
      // When several bring the same answer at once, the one whose deletion found it gets it.
      if (sealed === undefined || !(await keyed.delete(id))) return undefined;
      try {
        return JSON.parse(unseal(key, id, sealed)) as Kept;
      } catch (error) {
        // The key was changed since: like any other answer to nothing.
        if (error instanceof Fault) return undefined;
        throw error;
      }
    },
  };
}

/** What is stored does not give the state away. */
function idOf(state: string): string {
  return createHash("sha256").update(state).digest("base64url");
}
