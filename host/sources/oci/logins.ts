/** Sign-ins to registries that a person gave to `postern registry login`, sealed like other secrets. */

import type Keyv from "keyv";
import { type SealingKey, seal, unseal } from "../../../kernel/kit.ts";
import type { Mask } from "../../../kernel/plugin.ts";

export interface Login {
  readonly username: string;
  readonly password: string;
  /** It renews tokens; it is no password. */
  readonly isIdentityToken?: boolean;
}

export interface Logins {
  find(registry: string): Promise<Login | undefined>;
  set(registry: string, login: Login): Promise<void>;
  /** False where there was none. */
  remove(registry: string): Promise<boolean>;
  list(): Promise<readonly { readonly registry: string; readonly username: string }[]>;
}

export function openLogins(keyed: Keyv<string>, key: SealingKey, mask: Pick<Mask, "add">): Logins {
  const reveal = (registry: string, sealed: string): Login => {
    const login = JSON.parse(unseal(key, registry, sealed)) as Login;
    mask.add(login.password);
    return login;
  };
  return {
    async find(registry) {
      const sealed = await keyed.get(registry);
      return sealed === undefined ? undefined : reveal(registry, sealed);
    },
    async set(registry, login) {
      mask.add(login.password);
      await keyed.set(registry, seal(key, registry, JSON.stringify(login)));
    },
    remove: (registry) => keyed.delete(registry),
    async list() {
      const found: { registry: string; username: string }[] = [];
      for await (const [registry, sealed] of keyed.iterator())
        found.push({
          registry: String(registry),
          username: reveal(String(registry), String(sealed)).username,
        });
      return found.sort((one, other) => (one.registry < other.registry ? -1 : 1));
    },
  };
}
