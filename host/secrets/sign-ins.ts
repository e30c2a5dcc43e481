/** Sign-ins under way, kept until the browser comes back: over a restart, for ten minutes, and for one answer. */

import { hash } from "node:crypto";
import { type SealingKey, seal, unseal } from "../../kernel/kit/secrets.ts";
import { Fault, type Keyed } from "../../kernel/plugin.ts";

export type SignIns<Kept> = ReturnType<typeof createSignIns<Kept>>;

const MAX_AGE_MS = 10 * 60 * 1000;

/** Sealed like secrets: with the verifier, a code that somebody caught on its way could be used. */
export function createSignIns<Kept>(keyed: Keyed<string>, key: SealingKey) {
  return {
    /** Until the address that answers it carries this state. */
    async keep(state: string, kept: Kept): Promise<void> {
      const id = idOf(state);
      await keyed.set(id, seal(key, id, JSON.stringify(kept)), MAX_AGE_MS);
    },
    /** The sign-in that this address answers. Nobody gets it a second time. */
    async take(redirected: URL): Promise<Kept | undefined> {
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

/** Somebody who was sent another's link must not sign in for them. */
export function otherBrowser(name: string): Fault {
  const message = `This sign-in for ${name} was not started in this browser. Start your own on the page Tools.`;
  return new Fault("forbidden", "other_browser", message);
}

/** The stored id does not give the state away. */
function idOf(state: string): string {
  return hash("sha256", state, "base64url");
}
