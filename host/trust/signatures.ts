/** A stranger's bundles and payloads, read into signatures that can be checked. Sizes and counts are bounded before anything is parsed. */
import { hash } from "node:crypto";
import { createRequire } from "node:module";
import type * as Sigstore from "@sigstore/bundle";
import type { Bundle } from "@sigstore/bundle";
import { isRecord } from "../../kernel/kit/text.ts";
import { reason } from "../../kernel/plugin.ts";
import { type Evidence, MAX_SIGNATURE_BYTES, SignatureProblem, type SimpleSignature } from "./evidence.ts";
import { checkSimplePayload, checkStatement } from "./statement.ts";

/** It is about the subject; whether it holds, and for whom, is not known yet. */
export interface Signature {
  readonly signed: Uint8Array;
  readonly value: Uint8Array;
  /** Set if it came with a certificate, which says who held the key. */
  readonly certified?: { readonly bundle: Bundle; readonly artifact: Buffer | undefined };
}

export const ANNOTATIONS = {
  signature: "dev.cosignproject.cosign/signature",
  certificate: "dev.sigstore.cosign/certificate",
  log: "dev.sigstore.cosign/bundle",
  timestamp: "dev.sigstore.cosign/rfc3161timestamp",
} as const;

const MAX_LOG_ENTRIES = 8;
const MAX_CERTIFICATE_BYTES = 16 * 1024;
const MAX_CHECKPOINT_CHARS = 16 * 1024;
/** The most digits of a 64-bit number. */
const MAX_DIGITS = 20;

export interface ReadSignatures {
  readonly signatures: readonly Signature[];
  readonly problems: readonly string[];
}

export function readSignatures({ subject, bundles, simple }: Evidence): ReadSignatures {
  const signatures: Signature[] = [];
  const problems: string[] = [];
  const collect = (read: () => Signature) => {
    try {
      signatures.push(read());
    } catch (error) {
      problems.push(error instanceof SignatureProblem ? error.message : unreadable(error));
    }
  };
  for (const bundle of bundles) collect(() => readBundle(bundle, subject));
  for (const entry of simple) collect(() => readSimple(entry, subject));
  return { signatures, problems };
}

/** DSSE signs a text together with its type, so that none can be taken for another. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const type = Buffer.from(payloadType);
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${type.length} `),
    type,
    Buffer.from(` ${payload.length} `),
    payload,
  ]);
}

function readBundle(bytes: Uint8Array, subject: Uint8Array): Signature {
  assertSize(bytes.length, "a signature bundle");
  const bundle = parseBundle(parseJson(bytes));
  const { content, verificationMaterial } = bundle;
  const isCertified = verificationMaterial.content.$case !== "publicKey";
  if (content.$case === "dsseEnvelope") {
    const { payloadType, payload, signatures } = content.dsseEnvelope;
    checkStatement(payloadType, payload, subject);
    return {
      signed: preAuthEncoding(payloadType, payload),
      value: signatures[0]?.sig ?? Buffer.alloc(0),
      ...(isCertified && { certified: { bundle, artifact: undefined } }),
    };
  }
  const { messageDigest, signature } = content.messageSignature;
  const digest = Buffer.from(messageDigest.digest).toString("hex");
  if (digest !== hash("sha256", subject))
    throw new SignatureProblem(`a signature is about other content (${digest.slice(0, 64)})`);
  return {
    signed: subject,
    value: signature,
    ...(isCertified && { certified: { bundle, artifact: Buffer.from(subject) } }),
  };
}

function readSimple({ payload, annotations }: SimpleSignature, subject: Uint8Array): Signature {
  assertSize(payload.length, "a signed payload");
  for (const value of Object.values(annotations)) assertSize(value.length, "an annotation of a signature");
  checkSimplePayload(payload, subject);
  const value = Buffer.from(annotations[ANNOTATIONS.signature] ?? "", "base64");
  if (value.length === 0) throw new SignatureProblem("a layer of the .sig tag has no signature");
  const certificate = annotations[ANNOTATIONS.certificate] ?? "";
  if (certificate === "") return { signed: payload, value };
  const artifact = Buffer.from(payload);
  return {
    signed: payload,
    value,
    certified: { bundle: parseBundle(asBundle(artifact, value, certificate, annotations)), artifact },
  };
}

/** Converts the annotations of version 2 into a bundle: one verification for both. */
function asBundle(
  payload: Buffer,
  signature: Buffer,
  certificate: string,
  annotations: Readonly<Record<string, string>>,
): object {
  const log = annotations[ANNOTATIONS.log];
  const timestamp = annotations[ANNOTATIONS.timestamp];
  return {
    mediaType: "application/vnd.dev.sigstore.bundle+json;version=0.1",
    verificationMaterial: {
      x509CertificateChain: { certificates: [{ rawBytes: derOf(certificate) }] },
      tlogEntries: log === undefined ? [] : [logEntryOf(parseJson(Buffer.from(log)))],
      ...(timestamp !== undefined && {
        timestampVerificationData: {
          rfc3161Timestamps: [
            { signedTimestamp: fieldOf(parseJson(Buffer.from(timestamp)), "SignedRFC3161Timestamp") },
          ],
        },
      }),
    },
    messageSignature: {
      messageDigest: {
        algorithm: "SHA2_256",
        digest: Buffer.from(hash("sha256", payload), "hex").toString("base64"),
      },
      signature: signature.toString("base64"),
    },
  };
}

function logEntryOf(entry: unknown): object {
  const payload = fieldOf(entry, "Payload");
  const body = String(fieldOf(payload, "body") ?? "");
  const read = parseJson(Buffer.from(body, "base64"));
  return {
    logIndex: String(fieldOf(payload, "logIndex") ?? ""),
    logId: { keyId: Buffer.from(String(fieldOf(payload, "logID") ?? ""), "hex").toString("base64") },
    kindVersion: { kind: fieldOf(read, "kind"), version: fieldOf(read, "apiVersion") },
    integratedTime: String(fieldOf(payload, "integratedTime") ?? ""),
    inclusionPromise: { signedEntryTimestamp: fieldOf(entry, "SignedEntryTimestamp") },
    canonicalizedBody: body,
  };
}

function derOf(pem: string): string {
  const [, body = ""] = pem.split("-----BEGIN CERTIFICATE-----");
  return (body.split("-----END CERTIFICATE-----")[0] ?? "").replaceAll("\n", "").replaceAll("\r", "");
}

function parseBundle(json: unknown): Bundle {
  let bundle: Bundle;
  // Loaded with the first bundle: most tools have none.
  const { bundleFromJSON } = createRequire(import.meta.url)("@sigstore/bundle") as typeof Sigstore;
  try {
    bundle = bundleFromJSON(json);
  } catch (error) {
    throw new SignatureProblem(unreadable(error));
  }
  const { tlogEntries, timestampVerificationData, content } = bundle.verificationMaterial;
  const timestamps = timestampVerificationData?.rfc3161Timestamps ?? [];
  if (tlogEntries.length > MAX_LOG_ENTRIES || timestamps.length > MAX_LOG_ENTRIES)
    throw new SignatureProblem(
      `a signature bundle has more than ${MAX_LOG_ENTRIES} log entries or timestamps`,
    );
  const isLong = tlogEntries.some(
    ({ logIndex, integratedTime, inclusionProof }) =>
      [logIndex, integratedTime, inclusionProof?.logIndex, inclusionProof?.treeSize].some(
        (digits = "") => digits.length > MAX_DIGITS,
      ) || (inclusionProof?.checkpoint?.envelope.length ?? 0) > MAX_CHECKPOINT_CHARS,
  );
  if (isLong) throw new SignatureProblem("a signature bundle has a log entry that is too long");
  const certificates =
    content.$case === "certificate"
      ? [content.certificate]
      : content.$case === "x509CertificateChain"
        ? content.x509CertificateChain.certificates
        : [];
  if (certificates.some(({ rawBytes }) => rawBytes.length > MAX_CERTIFICATE_BYTES))
    throw new SignatureProblem(`a signature's certificate is larger than ${MAX_CERTIFICATE_BYTES / 1024} KB`);
  return bundle;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    throw new SignatureProblem("a signature bundle is not JSON, or is cut off");
  }
}

const fieldOf = (value: unknown, name: string) => (isRecord(value) ? value[name] : undefined);

function assertSize(length: number, what: string): void {
  if (length > MAX_SIGNATURE_BYTES)
    throw new SignatureProblem(`${what} is larger than ${MAX_SIGNATURE_BYTES / 1024} KB`);
}

/** A stranger's bytes may be wrong in ways that no parser names well. */
function unreadable(error: unknown): string {
  return `a signature bundle cannot be read: ${reason(error).slice(0, 200)}`;
}
