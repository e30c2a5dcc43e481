/** Signatures without a key of one's own: a certificate names the signer, and a public log has kept the signature. */
import { TrustedRoot } from "@sigstore/protobuf-specs";
import {
  type TrustMaterial,
  toSignedEntity,
  toTrustMaterial,
  VerificationError,
  Verifier,
} from "@sigstore/verify";
import { Fault, reason } from "../../kernel/plugin.ts";
import { SignatureProblem, type Signer } from "./evidence.ts";
// The authorities and logs of the public Sigstore, as its update framework published them (the snapshot of @sigstore/tuf 5.0.0). They are
// shipped because an install must not depend on another service; `trust add --trusted-root` takes newer or private ones.
import publicRoot from "./public-root.json" with { type: "json" };
import type { Signature } from "./signatures.ts";

const MAX_ROOT_CHARS = 1024 * 1024;

export function readTrustedRoot(text: string | undefined): TrustMaterial {
  if (text === undefined) return toTrustMaterial(TrustedRoot.fromJSON(publicRoot));
  const refuse = (why: string) =>
    new Fault("invalid", "trusted_root", `the trusted root ${why}`, { param: "--trusted-root", usage: true });
  if (text.length > MAX_ROOT_CHARS) throw refuse(`has more than ${MAX_ROOT_CHARS} characters`);
  let material: TrustMaterial;
  try {
    material = toTrustMaterial(TrustedRoot.fromJSON(JSON.parse(text)));
  } catch (error) {
    throw refuse(`cannot be read: ${reason(error).slice(0, 200)}`);
  }
  if (material.certificateAuthorities.length === 0) throw refuse("names no certificate authority");
  if (material.tlogs.length === 0) throw refuse("names no transparency log");
  return material;
}

/** Whose certificate it is, once everything about it was checked: its chain, its time, the log's proof and the signature. */
export function certifiedSigner({ certified }: Signature, root: TrustMaterial): Signer {
  if (certified === undefined)
    throw new SignatureProblem("a signature was made with a key and has no certificate that names a signer");
  const { bundle, artifact } = certified;
  let identity: ReturnType<Verifier["verify"]>["identity"];
  try {
    const verifier = new Verifier(root, {
      tlogThreshold: 1,
      timestampThreshold: 1,
      // A private Sigstore may run without a log of its certificates; one that has such a log must be in it.
      ctlogThreshold: root.ctlogs.length === 0 ? 0 : 1,
    });
    // Without a policy: the library takes the names in one for regular expressions.
    identity = verifier.verify(toSignedEntity(bundle, artifact)).identity;
  } catch (error) {
    throw new SignatureProblem(explain(error));
  }
  const subject = identity?.subjectAlternativeName ?? "";
  const issuer = identity?.extensions?.issuer ?? "";
  if (subject === "" || issuer === "")
    throw new SignatureProblem("a signature's certificate does not name a signer and an issuer");
  return { type: "identity", subject: printable(subject), issuer: printable(issuer) };
}

function explain(error: unknown): string {
  const code = error instanceof VerificationError ? error.code : "";
  if (code === "TIMESTAMP_ERROR" || code === "TLOG_ERROR")
    return "a signature has no valid proof from the transparency log of when it was made";
  if (code.startsWith("TLOG"))
    return `a signature's proof from the transparency log does not hold (${reason(error)})`;
  if (code === "CERTIFICATE_ERROR")
    return "a signature's certificate is not from a trusted authority, or was not valid when it was used";
  if (code === "SIGNATURE_ERROR") return "a signature does not match what it is about";
  return `a signature cannot be checked: ${reason(error).slice(0, 200)}`;
}

/** A certificate's names go to terminals and pages. */
function printable(text: string): string {
  if (text.length > 1024 || !/^[\u0020-\u007e]+$/.test(text))
    throw new SignatureProblem("a signature's certificate has a name that cannot be shown");
  return text;
}
