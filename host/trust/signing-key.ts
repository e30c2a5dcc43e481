/** Private keys, as cosign writes them (encrypted) or as plain PKCS #8, and what is signed with them. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  scrypt,
  sign,
} from "node:crypto";
import { promisify } from "node:util";
import { Fault } from "../../kernel/plugin.ts";
import { digestNameOf, fingerprintOf, readPublicKey } from "./public-key.ts";

export interface SigningKey {
  readonly publicKey: KeyObject;
  readonly fingerprint: string;
  /** Hash of the public key in base64, by which a bundle names the key it needs. */
  readonly hint: string;
  sign(bytes: Uint8Array): Promise<Uint8Array>;
}

interface Sealed {
  readonly kdf: {
    readonly name: string;
    readonly params: { readonly N: number; readonly r: number; readonly p: number };
    readonly salt: string;
  };
  readonly cipher: { readonly name: string; readonly nonce: string };
  readonly ciphertext: string;
}

const LABEL = "ENCRYPTED SIGSTORE PRIVATE KEY";
const SEALED_LABELS = [LABEL, "ENCRYPTED COSIGN PRIVATE KEY"];
const MAX_KEY_CHARS = 16 * 1024;
// As cosign; more than its largest would only serve to keep us busy.
const COST = { N: 65536, r: 8, p: 1 };
const MAX_MEMORY = 256 * 2 ** 20;

const derive = promisify<Buffer, Buffer, number, object, Buffer>(scrypt);

export async function readSigningKey(
  text: string,
  password: () => Promise<string | undefined>,
): Promise<SigningKey> {
  if (text.length > MAX_KEY_CHARS) throw refusal(`has more than ${MAX_KEY_CHARS} characters`);
  const key = await openKey(text, password);
  // Held to the same kinds of keys as those that verify.
  const publicKey = readPublicKey(createPublicKey(key).export({ type: "spki", format: "pem" }).toString());
  const fingerprint = fingerprintOf(publicKey);
  return {
    publicKey,
    fingerprint,
    hint: Buffer.from(fingerprint, "hex").toString("base64"),
    sign: (bytes) => signWith(key, bytes),
  };
}

export async function generateKeyPair(password: string) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    // Encrypted under the password, in cosign's own form.
    privatePem: await seal(privateKey.export({ type: "pkcs8", format: "der" }), password),
    publicPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
    fingerprint: fingerprintOf(publicKey),
  };
}

async function openKey(text: string, password: () => Promise<string | undefined>): Promise<KeyObject> {
  const label = SEALED_LABELS.find((name) => text.includes(`-----BEGIN ${name}-----`));
  if (label !== undefined) {
    const der = await unseal(bodyOf(text, label), (await password()) ?? "");
    try {
      return createPrivateKey({ key: Buffer.from(der), format: "der", type: "pkcs8" });
    } catch {
      throw refusal("opens with this password, and holds no key in PKCS #8");
    }
  }
  if (text.includes("-----BEGIN PUBLIC KEY-----"))
    throw refusal("is a public key; sign with the private one (cosign.key)");
  const isEncrypted = text.includes("-----BEGIN ENCRYPTED PRIVATE KEY-----");
  const passphrase = isEncrypted ? ((await password()) ?? "") : undefined;
  try {
    return createPrivateKey({ key: text, ...(passphrase !== undefined && { passphrase }) });
  } catch {
    throw refusal(
      isEncrypted ? "does not open with this password" : "is not a private key as cosign or PKCS #8 write it",
    );
  }
}

async function signWith(key: KeyObject, bytes: Uint8Array): Promise<Uint8Array> {
  if (key.asymmetricKeyType !== "ed25519") return sign(digestNameOf(key), bytes, key);
  // As cosign does, which accepts nothing else for such a key.
  const { ed25519ph } = await import("@noble/curves/ed25519.js");
  const { d = "" } = key.export({ format: "jwk" });
  return ed25519ph.sign(bytes, Buffer.from(d, "base64url"));
}

async function seal(der: Buffer, password: string): Promise<string> {
  const [salt, nonce] = [randomBytes(32), randomBytes(24)];
  const { xsalsa20poly1305 } = await import("@noble/ciphers/salsa.js");
  const key = await derive(Buffer.from(password), salt, 32, { ...COST, maxmem: MAX_MEMORY });
  const sealed: Sealed = {
    kdf: { name: "scrypt", params: COST, salt: salt.toString("base64") },
    cipher: { name: "nacl/secretbox", nonce: nonce.toString("base64") },
    ciphertext: Buffer.from(xsalsa20poly1305(key, nonce).encrypt(der)).toString("base64"),
  };
  const body = Buffer.from(JSON.stringify(sealed)).toString("base64");
  return [`-----BEGIN ${LABEL}-----`, ...(body.match(/.{1,64}/g) ?? []), `-----END ${LABEL}-----`, ""].join(
    "\n",
  );
}

async function unseal(body: string, password: string): Promise<Uint8Array> {
  let sealed: Sealed;
  try {
    sealed = JSON.parse(Buffer.from(body, "base64").toString("utf8")) as Sealed;
    const { kdf, cipher } = sealed;
    if (kdf.name !== "scrypt" || cipher.name !== "nacl/secretbox") throw new Error("another form");
  } catch {
    throw refusal("is damaged, or encrypted in a way that is not cosign's");
  }
  const { kdf, cipher, ciphertext } = sealed;
  const { xsalsa20poly1305 } = await import("@noble/ciphers/salsa.js");
  try {
    const { N, r, p } = kdf.params;
    const salt = Buffer.from(kdf.salt, "base64");
    const key = await derive(Buffer.from(password), salt, 32, { N, r, p, maxmem: MAX_MEMORY });
    return xsalsa20poly1305(key, Buffer.from(cipher.nonce, "base64")).decrypt(
      Buffer.from(ciphertext, "base64"),
    );
  } catch {
    throw refusal("does not open with this password", false);
  }
}

function bodyOf(pem: string, label: string): string {
  const [, rest = ""] = pem.split(`-----BEGIN ${label}-----`);
  return rest.split(`-----END ${label}-----`)[0] ?? "";
}

/** A password is typed, and no word of the command: a wrong one is a failure, not wrong usage. */
function refusal(why: string, usage = true): Fault {
  return new Fault("invalid", "signing_key", `the key file ${why}`, { param: "--key", usage });
}
