/** Texts at rest under AES-256-GCM, and the keys for them: the first of a ring seals, every one opens. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { Fault } from "../fault.ts";
import type { Keyring } from "../vocabulary/store.ts";

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

export type Keys = Keyring["all"] extends () => infer All ? All : never;

/** One key where none is being changed, or a ring. */
export type SealingKey = Uint8Array | Keyring;

const keysOf = (key: SealingKey): Keys => (key instanceof Uint8Array ? [key] : key.all());

/** Encrypts a text under the first key; it opens only under the same name. */
export function seal(key: SealingKey, name: string, text: string): string {
  const [first] = keysOf(key);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, first, iv);
  // Bound to its name: a sealed value moved to another name does not open.
  cipher.setAAD(Buffer.from(name));
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64");
}

export function unseal(key: SealingKey, name: string, sealed: string): string {
  let cause: unknown;
  for (const one of keysOf(key))
    try {
      return decrypt(one, name, sealed);
    } catch (error) {
      cause = error;
    }
  const message = `The secret ${name} cannot be decrypted: it was sealed with another key, or changed. Restore secrets.key (or POSTERN_SECRETS_KEY), or set the secret again.`;
  throw new Fault("config", "secret_unreadable", message, { param: name, cause });
}

function decrypt(key: Uint8Array, name: string, sealed: string): string {
  const bytes = Buffer.from(sealed, "base64");
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(name));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
}
