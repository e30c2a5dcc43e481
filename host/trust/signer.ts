/** A manifest signed as cosign signs it: version 3's bundle, which refers to it, and version 2's `.sig` tag. */

import { hash } from "node:crypto";
import { ANNOTATIONS, preAuthEncoding } from "./signatures.ts";
import type { SigningKey } from "./signing-key.ts";
import { COSIGN_SIGN, IN_TOTO, SIMPLE_SIGNING_TYPE, STATEMENT } from "./statement.ts";

export const BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json";
export const SIMPLE_TYPE = "application/vnd.dev.cosign.simplesigning.v1+json";

export const jsonBytes = (value: unknown) => Buffer.from(JSON.stringify(value));

/** The statement that this key stands behind the manifest with that digest, in a bundle. */
export async function signBundle(key: SigningKey, sha256: string): Promise<Buffer> {
  const payload = jsonBytes({
    _type: STATEMENT,
    subject: [{ digest: { sha256 } }],
    predicateType: COSIGN_SIGN,
    predicate: {},
  });
  const signature = await key.sign(preAuthEncoding(IN_TOTO, payload));
  return jsonBytes({
    mediaType: BUNDLE_TYPE,
    verificationMaterial: { publicKey: { hint: key.hint } },
    dsseEnvelope: {
      payload: payload.toString("base64"),
      payloadType: IN_TOTO,
      signatures: [{ sig: Buffer.from(signature).toString("base64") }],
    },
  });
}

/** The same for version 2: a payload, and the annotations of its layer. `repository` is what people called it, and proves nothing. */
export async function signSimple(
  key: SigningKey,
  sha256: string,
  repository: string,
): Promise<{ readonly payload: Buffer; readonly annotations: Readonly<Record<string, string>> }> {
  const payload = jsonBytes({
    critical: {
      identity: { "docker-reference": repository },
      image: { "docker-manifest-digest": `sha256:${sha256}` },
      type: SIMPLE_SIGNING_TYPE,
    },
    optional: null,
  });
  const signature = await key.sign(payload);
  return { payload, annotations: { [ANNOTATIONS.signature]: Buffer.from(signature).toString("base64") } };
}

/** A file signed as `cosign sign-blob` does: what lies beside a download as `<url>.sigstore.json`. */
export async function signFile(key: SigningKey, file: Uint8Array): Promise<Buffer> {
  const signature = await key.sign(file);
  return jsonBytes({
    mediaType: BUNDLE_TYPE,
    verificationMaterial: { publicKey: { hint: key.hint } },
    messageSignature: {
      messageDigest: {
        algorithm: "SHA2_256",
        digest: Buffer.from(hash("sha256", file), "hex").toString("base64"),
      },
      signature: Buffer.from(signature).toString("base64"),
    },
  });
}
