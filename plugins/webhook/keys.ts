/** Secrets of this channel, as Standard Webhooks writes them. They are derived when they are needed and stored nowhere. */
import type { Keyring, Store } from "../../kernel/plugin.ts";

/** What callbacks are signed with, and nothing else. While the secrets key is changed there are several, the new one first. */
export async function callbackSecrets(store: Store): Promise<Secrets> {
  return allWritten(await store.keysFor("webhook callbacks"));
}

/** What one integration proves itself with; again the new one first. */
export async function integrationSecrets(store: Store, id: string): Promise<Secrets> {
  return allWritten(await store.keysFor(`webhook integration ${id}`));
}

export type Secrets = readonly [string, ...string[]];

function allWritten(keys: Keyring): Secrets {
  const [first, ...others] = keys.all();
  return [written(first), ...others.map(written)];
}

function written(key: Uint8Array): string {
  return `whsec_${Buffer.from(key).toString("base64")}`;
}
