/**
 * Secrets at rest: each value sealed with AES-256-GCM under one key, in the keyed store. Two faces: `secrets`
 * for commands, which can set a value but never read one, and `values`, which only the broker's side gets.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type Keyv from "keyv";
import { Fault } from "../../kernel/fault.ts";
import { canBeHidden, SHORTEST } from "../../kernel/mask/forms.ts";
import type { Mask } from "../../kernel/vocabulary/kernel.ts";

export interface Secrets {
  exists(name: string): Promise<boolean>;
  names(): Promise<readonly string[]>;
  /** Trims the value, since a pasted token often carries a line break; an empty one is a fault. */
  set(name: string, value: string): Promise<SecretSet>;
  /** False where there was none. */
  remove(name: string): Promise<boolean>;
}

export interface SecretSet {
  /** For the person who set it: the value is stored, but cannot be hidden. */
  readonly warning?: string;
}

export interface SecretRecord {
  readonly value: string;
  /** How to get the next one, where the value is an OAuth access token. */
  readonly oauth?: OAuthGrant;
}

export interface OAuthGrant {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** The name of the secret that holds the client's secret. */
  readonly clientSecretSecret?: string;
  readonly scopes: readonly string[];
  readonly refreshToken?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
}

/** Readable values: for the broker and for OAuth's refresh, nobody else. */
export interface SecretValues {
  read(name: string): Promise<SecretRecord | undefined>;
  write(name: string, record: SecretRecord): Promise<void>;
  /** Every value and refresh token. The same array while nothing has changed. */
  known(): Promise<readonly string[]>;
}

export interface Vault {
  readonly secrets: Secrets;
  readonly values: SecretValues;
}

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Registers every stored value with the mask before it returns, so that no later log line can show one. */
export async function openVault(options: {
  readonly keyed: Keyv<string>;
  readonly key: Uint8Array;
  readonly mask: Mask;
}): Promise<Vault> {
  const { keyed, key, mask } = options;
  /** By sealed text: another process may have changed what is in the store. */
  let opened = new Map<string, SecretRecord>();
  let known: readonly string[] = [];

  function reveal(name: string, sealed: string): SecretRecord {
    const cached = opened.get(sealed);
    if (cached !== undefined) return cached;
    const record = JSON.parse(unseal(key, name, sealed)) as SecretRecord;
    for (const value of valuesOf(record)) mask.add(value);
    opened.set(sealed, record);
    return record;
  }

  async function all(): Promise<[string, string][]> {
    const entries: [string, string][] = [];
    for await (const [name, sealed] of keyed.iterator()) entries.push([String(name), String(sealed)]);
    return entries;
  }

  const values: SecretValues = {
    async read(name) {
      const sealed = await keyed.get(name);
      return sealed === undefined ? undefined : reveal(name, sealed);
    },
    async write(name, record) {
      for (const value of valuesOf(record)) mask.add(value);
      await keyed.set(name, seal(key, name, JSON.stringify(record)));
    },
    async known() {
      const entries = await all();
      const records = new Map<string, SecretRecord>();
      for (const [name, sealed] of entries) {
        try {
          records.set(sealed, reveal(name, sealed));
        } catch (error) {
          // What cannot be opened cannot leak either; whoever asks for it by name is told.
          if (!(error instanceof Fault)) throw error;
        }
      }
      const found = [...records.values()].flatMap(valuesOf);
      opened = records;
      if (found.length !== known.length || found.some((value, index) => value !== known[index]))
        known = found;
      return known;
    },
  };
  await values.known();

  return {
    values,
    secrets: {
      exists: async (name) => (await keyed.get(name)) !== undefined,
      names: async () => (await all()).map(([name]) => name).sort(),
      async set(name, value) {
        const trimmed = value.trim();
        if (trimmed === "") {
          throw new Fault("invalid", "secret_empty", `The value for the secret ${name} is empty.`, {
            param: name,
          });
        }
        await values.write(name, { value: trimmed });
        const warning = warnOfShort(name, trimmed);
        return warning === undefined ? {} : { warning };
      },
      remove: (name) => keyed.delete(name),
    },
  };
}

/** What to say at the moment a value is set that no log line and no model can be kept from. */
export function warnOfShort(name: string, value: string): string | undefined {
  if (canBeHidden(value)) return undefined;
  return `\`${name}\` is too short to be hidden: a value under ${SHORTEST} characters is not masked in logs, in what a model reads or in a tool's traffic. Use a longer one if you can.`;
}

function valuesOf({ value, oauth }: SecretRecord): string[] {
  return oauth?.refreshToken === undefined ? [value] : [value, oauth.refreshToken];
}

/** Encrypts a text under the key; it opens only under the same name. */
export function seal(key: Uint8Array, name: string, text: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  // Bound to its name: a sealed value moved to another name does not open.
  cipher.setAAD(Buffer.from(name));
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64");
}

export function unseal(key: Uint8Array, name: string, sealed: string): string {
  try {
    const bytes = Buffer.from(sealed, "base64");
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(name));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
  } catch (error) {
    throw new Fault(
      "config",
      "secret_unreadable",
      `The secret ${name} cannot be decrypted: it was sealed with another key, or changed. Restore secrets.key (or POSTERN_SECRETS_KEY), or set the secret again.`,
      { param: name, cause: error },
    );
  }
}
