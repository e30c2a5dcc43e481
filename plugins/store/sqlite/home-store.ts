/** The SQLite store of a home, with the key that is kept there unless another is given. */
import { join } from "node:path";
import type { Keyring } from "../../../kernel/kit/store.ts";
import type { Durability } from "../config/settings.ts";
import type { OpenStore } from "../engine/open-store.ts";
import { loadKeys } from "../keys/secrets-key.ts";
import { openPrivateStore } from "./store.ts";

export interface HomeStoreOptions {
  readonly file?: string;
  readonly durability?: Durability;
  readonly secretsKey?: string | undefined;
}

export function openHomeStore(home: string, options: HomeStoreOptions = {}): OpenStore {
  const { file = join(home, "store.sqlite"), durability, secretsKey } = options;
  let keys: Promise<Keyring> | undefined;
  return openPrivateStore(file, {
    ...(durability && { durability }),
    secretsKey: () => {
      keys ??= loadKeys(home, secretsKey);
      // A damaged file may be fixed while it is open.
      keys.catch(() => {
        keys = undefined;
      });
      return keys;
    },
  });
}
