/** Texts at rest, under AES-256-GCM. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { ringOf, type SealingKey } from "../plugins/store/keys/keyring.ts";
import { Fault } from "./fault.ts";

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts a text under the first key; it opens only under the same name. */
export function seal(key: SealingKey, name: string, text: string): string {
  const [first] = ringOf(key).all();
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, first, iv);
  // Bound to its name: a sealed value moved to another name does not open.
  cipher.setAAD(Buffer.from(name));
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64");
}

export function unseal(key: SealingKey, name: string, sealed: string): string {
  return unsealWith(key, name, sealed).text;
}

/** `isCurrent`: it was sealed under the key that seals now. */
export function unsealWith(
  key: SealingKey,
  name: string,
  sealed: string,
): { readonly text: string; readonly isCurrent: boolean } {
  let cause: unknown;
  for (const [index, one] of ringOf(key).all().entries())
    try {
      return { text: decrypt(one, name, sealed), isCurrent: index === 0 };
    } catch (error) {
      cause = error;
    }
  throw new Fault(
    "config",
    "secret_unreadable",
    `The secret ${name} cannot be decrypted: it was sealed with another key, or changed. Restore secrets.key (or POSTERN_SECRETS_KEY), or set the secret again.`,
    { param: name, cause },
  );
}

function decrypt(key: Uint8Array, name: string, sealed: string): string {
  const bytes = Buffer.from(sealed, "base64");
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(name));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
}
