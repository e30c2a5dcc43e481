/** Secrets of this channel, as Standard Webhooks writes them. They are derived when needed and stored nowhere. */
import type { Keyring } from "../../kernel/kit/store.ts";
import type { Store } from "../store/services.ts";

/** Sign callbacks and nothing else. There are several while the secrets key is changed, the new one first. */
export async function callbackSecrets(store: Store): Promise<Secrets> {
  return encodeAll(await store.keysFor("webhook callbacks"));
}

/** Prove that a request comes from this integration; again the new one first. */
export async function integrationSecrets(store: Store, id: string): Promise<Secrets> {
  return encodeAll(await store.keysFor(`webhook integration ${id}`));
}

export type Secrets = readonly [string, ...string[]];

function encodeAll(keys: Keyring): Secrets {
  const [first, ...others] = keys.all();
  const encode = (key: Uint8Array) => `whsec_${Buffer.from(key).toString("base64")}`;
  return [encode(first), ...others.map(encode)];
}
