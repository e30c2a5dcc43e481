/** Sign-ins to registries that a person gave to `postern registry login`, sealed like other secrets. */

import { type SealingKey, seal, unseal } from "../../../kernel/kit/secrets.ts";
import type { Keyed, Mask } from "../../../kernel/plugin.ts";

export interface Login {
  readonly username: string;
  readonly password: string;
  /** It renews tokens; it is no password. */
  readonly isIdentityToken?: boolean;
}

export type Logins = ReturnType<typeof openLogins>;

export function openLogins(keyed: Keyed<string>, key: SealingKey, mask: Pick<Mask, "add">) {
  const reveal = (registry: string, sealed: string): Login => {
    const login = JSON.parse(unseal(key, registry, sealed)) as Login;
    mask.add(login.password);
    return login;
  };
  return {
    async find(registry: string): Promise<Login | undefined> {
      const sealed = await keyed.get(registry);
      return sealed === undefined ? undefined : reveal(registry, sealed);
    },
    async set(registry: string, login: Login): Promise<void> {
      mask.add(login.password);
      await keyed.set(registry, seal(key, registry, JSON.stringify(login)));
    },
    remove: (registry: string): Promise<boolean> => keyed.delete(registry),
    async list() {
      const found: { registry: string; username: string }[] = [];
      for await (const [registry, sealed] of keyed.iterator())
        found.push({ registry, username: reveal(registry, sealed).username });
      return found.sort((one, other) => (one.registry < other.registry ? -1 : 1));
    },
  };
}
