/** Public keys that the operator names, and signatures made with them. */
import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import { Fault } from "../../kernel/plugin.ts";
import type { Signature } from "./signatures.ts";

const MAX_KEY_CHARS = 16 * 1024;
const MIN_RSA_BITS = 2048;
/** OpenSSL's names of P-256, P-384 and P-521, with the digest that cosign uses for each. */
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: "sha256",
  secp384r1: "sha384",
  secp521r1: "sha512",
};

/** A fault where the text is anything but one public key that signatures can be checked with. */
export function readPublicKey(text: string): KeyObject {
  const refuse = (why: string) =>
    new Fault("invalid", "trust_key", `the key file ${why}`, { param: "--key", usage: true });
  if (text.length > MAX_KEY_CHARS) throw refuse(`has more than ${MAX_KEY_CHARS} characters`);
  if (text.includes("PRIVATE KEY-----"))
    throw refuse("is a private key; give the public key (cosign.pub), and keep that file to yourself");
  if (!text.includes("-----BEGIN PUBLIC KEY-----"))
    throw refuse('has no "BEGIN PUBLIC KEY" block; "cosign generate-key-pair" writes one to cosign.pub');
  let key: KeyObject;
  try {
    key = createPublicKey(text);
  } catch {
    throw refuse("has a public key that cannot be read");
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const isUsable =
    type === "ed25519" ||
    (type === "ec" && (details?.namedCurve ?? "") in CURVES) ||
    (type === "rsa" && (details?.modulusLength ?? 0) >= MIN_RSA_BITS);
  if (!isUsable)
    throw refuse(
      `must hold an ECDSA P-256, P-384 or P-521, an Ed25519, or an RSA key of ${MIN_RSA_BITS} bits`,
    );
  return key;
}

/** SHA-256 of the key itself, in hex: the same for every way it can be written down. */
export function fingerprintOf(key: KeyObject): string {
  return hash("sha256", key.export({ type: "spki", format: "der" }));
}

/** Returns the digest that is signed, for keys other than Ed25519. */
export function digestNameOf({ asymmetricKeyDetails }: KeyObject): string {
  return CURVES[asymmetricKeyDetails?.namedCurve ?? ""] ?? "sha256";
}

export async function isSignedWith(key: KeyObject, { signed, value }: Signature): Promise<boolean> {
  try {
    if (key.asymmetricKeyType === "ed25519")
      return verify(null, signed, key, value) || (await isSignedPrehashed(key, signed, value));
    // Version 2 of cosign takes SHA-256 with every curve.
    return verify(digestNameOf(key), signed, key, value) || verify("sha256", signed, key, value);
  } catch {
    return false;
  }
}

/** cosign signs with Ed25519ph, which its log needs, and Node has only the plain one. */
async function isSignedPrehashed(key: KeyObject, signed: Uint8Array, value: Uint8Array): Promise<boolean> {
  const { ed25519ph } = await import("@noble/curves/ed25519.js");
  const { x = "" } = key.export({ format: "jwk" });
  return ed25519ph.verify(value, signed, Buffer.from(x, "base64url"));
}
