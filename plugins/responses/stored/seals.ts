/** Texts that a caller keeps for us and cannot read: of requests whose history is not stored here. */

import { seal, unseal } from "../../../kernel/kit.ts";
import type { Store } from "../../../kernel/plugin.ts";

/** What a text is: sealed as the one, it does not open as the other. */
export type SealedKind = "reasoning" | "summary";

export interface Seals {
  seal(user: string, kind: SealedKind, text: string): string;
  /** Undefined where it is not ours, not this user's or something else. */
  unseal(user: string, kind: SealedKind, sealed: string): string | undefined;
}

export async function createSeals(store: Pick<Store, "keysFor">): Promise<Seals> {
  const key = await store.keysFor("responses sealed texts");
  const nameOf = (user: string, kind: SealedKind) => `${kind} of ${user}`;
  return {
    seal: (user, kind, text) => seal(key, nameOf(user, kind), text),
    unseal(user, kind, sealed) {
      try {
        return unseal(key, nameOf(user, kind), sealed);
      } catch {
        return undefined;
      }
    },
  };
}
