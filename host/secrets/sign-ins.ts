/** Sign-ins under way, kept until the browser comes back: over a restart, for ten minutes, and for one answer. */
import { createHash } from "node:crypto";
import type Keyv from "keyv";
import { Fault } from "../../kernel/fault.ts";
import { seal, unseal } from "../../kernel/store/sealing.ts";
import type { SignIn } from "./oauth.ts";

export interface SignIns {
  /** For one version of a tool: another that took its place meanwhile does not get what the person agreed to. */
  keep(tool: { readonly name: string; readonly digest: string }, signIn: SignIn): Promise<void>;
  /** The sign-in that this address answers, and the tool it was begun for. Nobody gets it a second time. */
  take(redirected: URL): Promise<Kept | undefined>;
}

interface Kept {
  readonly tool: string;
  readonly digest: string;
  readonly signIn: SignIn;
}

const LONGEST_MILLIS = 10 * 60 * 1000;

/** Sealed like secrets: with the verifier, a code that somebody caught on its way could be used. */
export function createSignIns(keyed: Keyv<string>, key: Uint8Array): SignIns {
  return {
    async keep({ name: tool, digest }, signIn) {
      const id = idOf(signIn.state);
      await keyed.set(id, seal(key, id, JSON.stringify({ tool, digest, signIn })), LONGEST_MILLIS);
    },
    async take(redirected) {
      const id = idOf(redirected.searchParams.get("state") ?? "");
      const sealed = await keyed.get(id);
      // Of several who bring the same answer at once, the one whose deletion found it has it.
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
