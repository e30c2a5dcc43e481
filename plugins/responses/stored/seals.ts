/** Encrypts texts that a caller keeps for us and cannot read, for requests whose history is not stored here. */

import { seal, unseal } from "../../../kernel/kit.ts";
import type { Store } from "../../../kernel/plugin.ts";
import type { SealedKind } from "../parse/items.ts";

export interface Seals {
  seal(user: string, kind: SealedKind, text: string): string;
  /** Undefined when the text is not ours, not this user's or of another kind. */
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
