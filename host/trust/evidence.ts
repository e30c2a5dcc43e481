/** The evidence that may prove who made a tool, and the verdict on it. All evidence was written by a stranger. */

/** Bytes that a signature is about: the manifest of a registry, the component of a download, the tarball of a package. */
export interface Evidence {
  readonly subject: Uint8Array;
  readonly bundles: readonly Uint8Array[];
  /** Signatures as version 2 of cosign keeps them, in the layers of a manifest. */
  readonly simple: readonly SimpleSignature[];
  /** A file that the tool needs and the subject does not hold, for example "x.capabilities.json": no signature is about it. */
  readonly uncovered?: string;
}

export interface SimpleSignature {
  readonly payload: Uint8Array;
  /** Annotations of its layer: the signature, and for a keyless one its certificate and the log's entry. */
  readonly annotations: Readonly<Record<string, string>>;
}

export type Signer =
  | { readonly type: "key" /** SHA-256 of the public key, in hex. */; readonly fingerprint: string }
  | { readonly type: "identity"; readonly subject: string; readonly issuer: string };

export interface SignatureVerdict {
  /**
   * - `signed`: a trust rule matches, and this signer is one it names
   * - `refused`: a trust rule matches, and no signature is by a signer it names
   * - `unknown_signer`: no trust rule matches; there is a signature, which proves nothing to the operator
   * - `unsigned`: no trust rule matches, and there is no signature that holds
   */
  readonly status: "signed" | "unsigned" | "unknown_signer" | "refused";
  /** For people, without a full stop. */
  readonly sentence: string;
  readonly signer?: string;
}

export class SignatureProblem extends Error {}

/** More than anybody signs a tool with; the rest is not looked at. */
export const MAX_SIGNATURES = 32;
export const MAX_SIGNATURE_BYTES = 256 * 1024;

export function describeSigner(signer: Signer): string {
  return signer.type === "key"
    ? `the key SHA256:${signer.fingerprint}`
    : `${signer.subject} (issuer ${signer.issuer})`;
}
