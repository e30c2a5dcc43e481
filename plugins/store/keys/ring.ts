/** Rings of keys, and keys for one purpose made from another key. */
import { hkdfSync } from "node:crypto";
import type { Keys, SealingKey } from "../../../kernel/kit/secrets.ts";
import type { Keyring } from "../../../kernel/kit/store.ts";

const KEY_BYTES = 32;

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
