/** Who made a tool, as far as its signatures prove it, and whether the operator's rules accept that. */
import { createPublicKey } from "node:crypto";
import type { ToolOrigin } from "../../kernel/kit/tools.ts";
import {
  describeSigner,
  type Evidence,
  MAX_SIGNATURES,
  SignatureProblem,
  type SignatureVerdict,
  type Signer,
} from "./evidence.ts";
import { isSubject } from "./pattern.ts";
import { isSignedWith } from "./public-key.ts";
import type { NamedSigner, TrustRule, TrustRules } from "./rules.ts";
import { type ReadSignatures, readSignatures, type Signature } from "./signatures.ts";

export type JudgeSignature = (
  origin: ToolOrigin,
  evidence: Evidence | undefined,
) => Promise<SignatureVerdict>;

const MAX_REASONS = 3;

export function createJudge(rules: Pick<TrustRules, "matching">): JudgeSignature {
  return async (origin, evidence) => {
    const matching = await rules.matching(origin);
    const found = readAll(evidence);
    return matching.length === 0 ? judgeUnnamed(found) : judgeByRules(origin, matching, found);
  };
}

export function isNamedBy(rules: readonly TrustRule[], signer: string | undefined): boolean {
  return rules.some(({ signer: named }) => {
    if (named.type === "key" || signer === undefined) return signer === describeSigner(named);
    const ending = ` (issuer ${named.issuer})`;
    return signer.endsWith(ending) && isSubject(named.subject, signer.slice(0, -ending.length));
  });
}

/** A signature that leaves out part of the tool proves nothing about the tool. */
function readAll(evidence: Evidence | undefined): ReadSignatures {
  if (evidence === undefined) return { signatures: [], problems: [] };
  const { subject, bundles, simple, uncovered } = evidence;
  const read = readSignatures({
    subject,
    bundles: bundles.slice(0, MAX_SIGNATURES),
    simple: simple.slice(0, MAX_SIGNATURES),
  });
  if (uncovered === undefined || read.signatures.length === 0) return read;
  const why = `its signature does not cover ${uncovered}; "postern tool build" puts the capabilities inside the component`;
  return { signatures: [], problems: [why, ...read.problems] };
}

async function judgeByRules(
  { reference }: ToolOrigin,
  rules: readonly TrustRule[],
  { signatures, problems }: ReadSignatures,
): Promise<SignatureVerdict> {
  const reasons = new Set(problems);
  for (const { signer: named } of rules) {
    for (const signature of signatures) {
      try {
        const signer = await verify(signature, named);
        const sentence = `signed by ${describeSigner(signer)}, as the trust rule for ${rules[0]?.pattern} needs`;
        return { status: "signed", sentence, signer: describeSigner(signer) };
      } catch (error) {
        if (!(error instanceof SignatureProblem)) throw error;
        reasons.add(error.message);
      }
    }
  }
  const needed = rules.map(({ signer }) => describeSigner(signer)).join(" or ");
  const rule = `the trust rule for ${rules[0]?.pattern} needs a signature by ${needed}`;
  const why = [...reasons].slice(0, MAX_REASONS).join("; ");
  const what = why === "" ? "is not signed" : `is refused: ${why}`;
  return { status: "refused", sentence: `${reference} ${what}, and ${rule}` };
}

/** No rule: whether there is a signature at all, and whose, as far as the public Sigstore can tell. */
async function judgeUnnamed({ signatures, problems }: ReadSignatures): Promise<SignatureVerdict> {
  const reasons = new Set(problems);
  for (const signature of signatures) {
    if (signature.certified === undefined) continue;
    try {
      const signer = describeSigner(await certifiedBy(signature, undefined));
      return { status: "unknown_signer", sentence: `signed by ${signer}, which no trust rule names`, signer };
    } catch (error) {
      if (!(error instanceof SignatureProblem)) throw error;
      reasons.add(error.message);
    }
  }
  if (signatures.some(({ certified }) => certified === undefined))
    return {
      status: "unknown_signer",
      sentence: "signed with a key that no trust rule names, so it is not known whose it is",
    };
  const why = [...reasons].slice(0, MAX_REASONS).join("; ");
  return { status: "unsigned", sentence: why === "" ? "not signed" : `not signed: ${why}` };
}

async function verify(signature: Signature, named: NamedSigner): Promise<Signer> {
  if (named.type === "key") {
    if (await isSignedWith(createPublicKey(named.pem), signature))
      return { type: "key", fingerprint: named.fingerprint };
    throw new SignatureProblem("a signature was made with another key");
  }
  const signer = await certifiedBy(signature, named.trustedRoot);
  if (
    signer.type === "identity" &&
    signer.issuer === named.issuer &&
    isSubject(named.subject, signer.subject)
  )
    return signer;
  throw new SignatureProblem(`it is signed by ${describeSigner(signer)}`);
}

/** The libraries for certificates come in only where there is one. */
async function certifiedBy(signature: Signature, trustedRoot: string | undefined): Promise<Signer> {
  const { certifiedSigner, readTrustedRoot } = await import("./certificate.ts");
  return certifiedSigner(signature, readTrustedRoot(trustedRoot));
}
