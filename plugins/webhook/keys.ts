/** Secrets of this channel, as Standard Webhooks writes them. They are derived when they are needed and stored nowhere. */
import type { Store } from "../../kernel/plugin.ts";

/** What callbacks are signed with, and nothing else. */
export async function callbackSecret(store: Store): Promise<string> {
  return written(await store.keyFor("webhook callbacks"));
}

/** What one integration proves itself with. */
export async function integrationSecret(store: Store, id: string): Promise<string> {
  return written(await store.keyFor(`webhook integration ${id}`));
}

function written(key: Uint8Array): string {
  return `whsec_${Buffer.from(key).toString("base64")}`;
}
