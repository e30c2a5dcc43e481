/** Signatures in the forms that cosign writes, made here from its specification and not with our own signing. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

export const BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json";
const IN_TOTO = "application/vnd.in-toto+json";
const COSIGN_SIGN = "https://sigstore.dev/cosign/sign/v1";

export interface TestKey {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** As cosign.pub. */
  readonly pem: string;
  readonly fingerprint: string;
}

export function createKey(type: "ecdsa" | "rsa" | "ed25519" = "ecdsa"): TestKey {
  const { privateKey, publicKey } =
    type === "ecdsa"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : type === "rsa"
        ? generateKeyPairSync("rsa", { modulusLength: 2048 })
        : generateKeyPairSync("ed25519");
  const fingerprint = hash("sha256", publicKey.export({ type: "spki", format: "der" })).toString("hex");
  return {
    privateKey,
    publicKey,
    pem: publicKey.export({ type: "spki", format: "pem" }).toString(),
    fingerprint,
  };
}

export function hash(algorithm: "sha256" | "sha512", bytes: Uint8Array): Buffer {
  return createHash(algorithm).update(bytes).digest();
}

export function signBytes({ privateKey }: Pick<TestKey, "privateKey">, bytes: Uint8Array): Buffer {
  return sign(privateKey.asymmetricKeyType === "ed25519" ? null : "sha256", bytes, privateKey);
}

export interface StatementOptions {
  readonly predicateType?: string;
  readonly payloadType?: string;
  readonly digest?: Readonly<Record<string, string>>;
}

/** An in-toto statement in an envelope, signed by `signer`. */
export function envelopeFor(
  subject: Uint8Array,
  signer: (bytes: Uint8Array) => Buffer,
  { predicateType = COSIGN_SIGN, payloadType = IN_TOTO, digest }: StatementOptions = {},
) {
  const payload = Buffer.from(
    JSON.stringify({
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ digest: digest ?? { sha256: hash("sha256", subject).toString("hex") } }],
      predicateType,
      predicate: {},
    }),
  );
  const encoded = Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} ${payload}`);
  return {
    payload: payload.toString("base64"),
    payloadType,
    signatures: [{ sig: signer(encoded).toString("base64") }],
  };
}

/** What `cosign sign --key` of version 3 attaches as a referrer. */
export function keyBundle(subject: Uint8Array, key: TestKey, options: StatementOptions = {}): Buffer {
  return Buffer.from(
    JSON.stringify({
      mediaType: BUNDLE_TYPE,
      verificationMaterial: { publicKey: { hint: Buffer.from(key.fingerprint, "hex").toString("base64") } },
      dsseEnvelope: envelopeFor(subject, (bytes) => signBytes(key, bytes), options),
    }),
  );
}

/** What `cosign sign-blob --key --bundle` writes. */
export function blobBundle(blob: Uint8Array, key: TestKey): Buffer {
  return Buffer.from(
    JSON.stringify({
      mediaType: BUNDLE_TYPE,
      verificationMaterial: { publicKey: { hint: Buffer.from(key.fingerprint, "hex").toString("base64") } },
      messageSignature: {
        messageDigest: { algorithm: "SHA2_256", digest: hash("sha256", blob).toString("base64") },
        signature: signBytes(key, blob).toString("base64"),
      },
    }),
  );
}

export function simplePayload(subject: Uint8Array, digest = hash("sha256", subject).toString("hex")): Buffer {
  return Buffer.from(
    JSON.stringify({
      critical: {
        identity: { "docker-reference": "registry.example/acme/tool" },
        image: { "docker-manifest-digest": `sha256:${digest}` },
        type: "cosign container image signature",
      },
      optional: null,
    }),
  );
}

/** A layer of the `.sig` tag, as version 2 writes it. */
export function simpleSignature(subject: Uint8Array, key: TestKey, payload = simplePayload(subject)) {
  const signature = signBytes(key, payload).toString("base64");
  return { payload, annotations: { "dev.cosignproject.cosign/signature": signature } };
}
