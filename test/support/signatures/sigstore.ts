/** A Sigstore of the test's own: an authority that certifies identities, and the logs that keep what was signed. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { initializeCA, initializeCTLog, initializeTLog } from "@sigstore/mock";
import { BUNDLE_TYPE, envelopeFor, hash, type StatementOptions, signBytes, simplePayload } from "./cosign.ts";

const LOG = "https://log.sigstore.example";

/** What the log answers with, by an id of its own; the package of its types is not installed. */
type LogEntries = Readonly<
  Record<
    string,
    {
      readonly body: string;
      readonly integratedTime: number;
      readonly logID: string;
      readonly logIndex: number;
      readonly verification: {
        readonly signedEntryTimestamp: string;
        readonly inclusionProof: {
          readonly logIndex: number;
          readonly rootHash: string;
          readonly treeSize: number;
          readonly checkpoint: string;
        };
      };
    }
  >
>;

export interface Identity {
  readonly subject: string;
  readonly issuer: string;
}

export interface TestSigstore {
  /** The JSON that `--trusted-root` takes. */
  readonly trustedRoot: string;
  /** What `cosign sign` of version 3 attaches without a key. */
  bundle(subject: Uint8Array, identity: Identity, options?: StatementOptions): Promise<SerializedBundle>;
  /** What `cosign sign-blob` writes without a key. */
  blobBundle(blob: Uint8Array, identity: Identity): Promise<SerializedBundle>;
  /** The same of version 2: a layer of the `.sig` tag. */
  simple(
    subject: Uint8Array,
    identity: Identity,
  ): Promise<{ payload: Buffer; annotations: Record<string, string> }>;
}

export interface SerializedBundle {
  mediaType: string;
  verificationMaterial: { certificate: { rawBytes: string }; tlogEntries: Record<string, unknown>[] };
  [content: string]: unknown;
}

export interface SigstoreOptions {
  /** When the log says that it got an entry. */
  readonly loggedAt?: Date;
  readonly hasCertificateLog?: boolean;
}

export async function createSigstore({
  loggedAt,
  hasCertificateLog = true,
}: SigstoreOptions = {}): Promise<TestSigstore> {
  const key = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve });
  const certificateLog = await initializeCTLog(key("P-256"));
  const authority = await initializeCA(key("P-384"), hasCertificateLog ? certificateLog : undefined);
  const log = await initializeTLog(LOG, key("P-256"), loggedAt);
  const validFor = { start: "2020-01-01T00:00:00Z" };
  const base64 = (view: ArrayBufferView) =>
    Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString("base64");
  const logJson = (baseUrl: string, publicKey: Buffer) => ({
    baseUrl,
    hashAlgorithm: "SHA2_256",
    publicKey: { rawBytes: publicKey.toString("base64"), keyDetails: "PKIX_ECDSA_P256_SHA_256", validFor },
    logId: { keyId: hash("sha256", publicKey).toString("base64") },
  });
  const trustedRoot = JSON.stringify({
    mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
    tlogs: [logJson(LOG, log.publicKey)],
    ctlogs: hasCertificateLog ? [logJson("https://ct.sigstore.example", certificateLog.publicKey)] : [],
    certificateAuthorities: [
      {
        subject: { organization: "sigstore.mock", commonName: "sigstore" },
        uri: "https://ca.sigstore.example",
        certChain: { certificates: [{ rawBytes: base64(authority.rootCertificate) }] },
        validFor,
      },
    ],
    timestampAuthorities: [],
  });

  const certify = async ({ subject, issuer }: Identity) => {
    const { publicKey, privateKey } = key("P-256");
    const certificate = await authority.issueCertificate({
      publicKey: publicKey.export({ type: "spki", format: "der" }),
      subjectAltName: subject,
      extensions: [{ oid: "1.3.6.1.4.1.57264.1.8", value: issuer }],
    });
    return { privateKey, certificate: base64(certificate) };
  };
  const pem = (certificate: string) =>
    `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`;
  const enter = async (kind: string, spec: object) => {
    const entries = (await log.log({ apiVersion: "0.0.1", kind, spec })) as LogEntries;
    const [found] = Object.values(entries);
    if (found === undefined) throw new Error("the log kept nothing");
    return { kind, found };
  };
  const hashed = (signed: Uint8Array, signature: Buffer, certificate: string) =>
    enter("hashedrekord", {
      data: { hash: { algorithm: "sha256", value: hash("sha256", signed).toString("hex") } },
      signature: {
        content: signature.toString("base64"),
        publicKey: { content: Buffer.from(pem(certificate)).toString("base64") },
      },
    });
  const material = (certificate: string, { kind, found }: Awaited<ReturnType<typeof enter>>) => {
    const proof = found.verification.inclusionProof;
    return {
      certificate: { rawBytes: certificate },
      tlogEntries: [
        {
          logIndex: String(found.logIndex),
          logId: { keyId: Buffer.from(found.logID, "hex").toString("base64") },
          kindVersion: { kind, version: "0.0.1" },
          integratedTime: String(found.integratedTime),
          inclusionPromise: { signedEntryTimestamp: found.verification.signedEntryTimestamp },
          inclusionProof: {
            logIndex: String(proof.logIndex),
            rootHash: Buffer.from(proof.rootHash, "hex").toString("base64"),
            treeSize: String(proof.treeSize),
            hashes: [],
            checkpoint: { envelope: proof.checkpoint },
          },
          canonicalizedBody: found.body,
        },
      ],
    };
  };
  const signerOf = (privateKey: KeyObject) => (bytes: Uint8Array) => signBytes({ privateKey }, bytes);

  return {
    trustedRoot,
    async bundle(subject, identity, options) {
      const { privateKey, certificate } = await certify(identity);
      const dsseEnvelope = envelopeFor(subject, signerOf(privateKey), options);
      const payload = Buffer.from(dsseEnvelope.payload, "base64");
      const entry = await enter("dsse", {
        payloadHash: { algorithm: "sha256", value: hash("sha256", payload).toString("hex") },
        signatures: [
          {
            signature: dsseEnvelope.signatures[0]?.sig,
            verifier: Buffer.from(pem(certificate)).toString("base64"),
          },
        ],
      });
      return { mediaType: BUNDLE_TYPE, verificationMaterial: material(certificate, entry), dsseEnvelope };
    },
    async blobBundle(blob, identity) {
      const { privateKey, certificate } = await certify(identity);
      const signature = signBytes({ privateKey }, blob);
      const entry = await hashed(blob, signature, certificate);
      return {
        mediaType: BUNDLE_TYPE,
        verificationMaterial: material(certificate, entry),
        messageSignature: {
          messageDigest: { algorithm: "SHA2_256", digest: hash("sha256", blob).toString("base64") },
          signature: signature.toString("base64"),
        },
      };
    },
    async simple(subject, identity) {
      const { privateKey, certificate } = await certify(identity);
      const payload = simplePayload(subject);
      const signature = signBytes({ privateKey }, payload);
      const { found } = await hashed(payload, signature, certificate);
      const { body, integratedTime, logIndex, logID } = found;
      return {
        payload,
        annotations: {
          "dev.cosignproject.cosign/signature": signature.toString("base64"),
          "dev.sigstore.cosign/certificate": pem(certificate),
          "dev.sigstore.cosign/bundle": JSON.stringify({
            SignedEntryTimestamp: found.verification.signedEntryTimestamp,
            Payload: { body, integratedTime, logIndex, logID },
          }),
        },
      };
    },
  };
}

export function serialize(bundle: SerializedBundle): Buffer {
  return Buffer.from(JSON.stringify(bundle));
}
