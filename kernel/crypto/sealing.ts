/** Texts at rest under AES-256-GCM, and the keys for them: the first of a ring seals, every one opens. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { Fault } from "../fault.ts";
import type { Keyring } from "../vocabulary/store.ts";

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

export type Keys = Keyring["all"] extends () => infer All ? All : never;

/** One key where none is being changed, or a ring. */
export type SealingKey = Uint8Array | Keyring;

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

export function ringOf(key: SealingKey): Keyring {
  return key instanceof Uint8Array ? createRing(() => [key]) : key;
}

/** `all` returns the same array while nothing has changed. */
export function createRing(all: () => Keys): Keyring {
  return {
    all,
    derive(purpose) {
      let from: Keys | undefined;
      let derived: Keys | undefined;
      return createRing(() => {
        const now = all();
        if (derived === undefined || now !== from) {
          const [first, ...others] = now;
          derived = [deriveKey(first, purpose), ...others.map((key) => deriveKey(key, purpose))];
          from = now;
        }
        return derived;
      });
    },
  };
}

/** A key for one purpose: who learns it learns neither the key it comes from nor another purpose's. */
export function deriveKey(key: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", key, "", `postern ${purpose}`, KEY_BYTES));
}
