/** Texts that a caller keeps for us and cannot read: of requests whose history is not stored here. */
import type { Store } from "../../kernel/plugin.ts";
import { seal, unseal } from "../../kernel/store/sealing.ts";

export interface Seals {
  seal(user: string, text: string): string;
  /** Undefined where it is not ours, or not this user's. */
  unseal(user: string, sealed: string): string | undefined;
}

export async function createSeals(store: Pick<Store, "keyFor">): Promise<Seals> {
  const key = await store.keyFor("responses sealed texts");
  return {
    seal: (user, text) => seal(key, user, text),
    unseal(user, sealed) {
      try {
        return unseal(key, user, sealed);
      } catch {
        return undefined;
      }
    },
  };
}
