/** Encrypts texts that a caller keeps for us and cannot read, for requests whose history is not stored here. */
import { seal, unseal } from "../../../kernel/kit/secrets.ts";
import type { Store } from "../../store/services.ts";
import type { SealedKind } from "../parse/items.ts";

export type Seals = Awaited<ReturnType<typeof createSeals>>;

export async function createSeals(store: Pick<Store, "keysFor">) {
  const key = await store.keysFor("responses sealed texts");
  const nameOf = (user: string, kind: SealedKind) => `${kind} of ${user}`;
  return {
    seal: (user: string, kind: SealedKind, text: string): string => seal(key, nameOf(user, kind), text),
    /** Undefined when the text is not ours, not this user's or of another kind. */
    unseal(user: string, kind: SealedKind, sealed: string): string | undefined {
      try {
        return unseal(key, nameOf(user, kind), sealed);
      } catch {
        return undefined;
      }
    },
  };
}
