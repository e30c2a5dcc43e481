/** Reads the subject of a signed text. It counts only if that is exactly the bytes that were fetched. */
import { hash } from "node:crypto";
import { isRecord, tryJson } from "../../kernel/kit/text.ts";
import { SignatureProblem } from "./evidence.ts";

export const COSIGN_SIGN = "https://sigstore.dev/cosign/sign/v1";
export const PROVENANCE = "https://slsa.dev/provenance/v1";
export const IN_TOTO = "application/vnd.in-toto+json";
export const STATEMENT = "https://in-toto.io/Statement/v1";
export const SIMPLE_SIGNING_TYPE = "cosign container image signature";

// Other predicates say something about a tool ("it has these faults"), and not that the signer stands behind it.
const PREDICATES = [COSIGN_SIGN, PROVENANCE];
const STATEMENTS = [STATEMENT, "https://in-toto.io/Statement/v0.1"];
const MAX_SUBJECTS = 1024;

export function checkStatement(payloadType: string, payload: Uint8Array, subject: Uint8Array): void {
  if (payloadType !== IN_TOTO)
    throw new SignatureProblem(
      `a signature is over ${quote(payloadType)}, which is not an in-toto statement`,
    );
  const { _type, predicateType, subject: named } = readObject(payload);
  if (!STATEMENTS.includes(textOf(_type)))
    throw new SignatureProblem("a signature is over a text that is not an in-toto statement");
  if (!PREDICATES.includes(textOf(predicateType)))
    throw new SignatureProblem(
      `a signed statement of type ${quote(textOf(predicateType))} does not say who made the tool; ${PREDICATES.join(" and ")} do`,
    );
  const subjects: readonly unknown[] = Array.isArray(named) ? named.slice(0, MAX_SUBJECTS) : [];
  const digests = subjects.map((entry) => objectOf(objectOf(entry)["digest"]));
  const own = { sha256: hash("sha256", subject), sha512: hash("sha512", subject) };
  const isAbout = digests.some(({ sha256, sha512 }) => sha256 === own.sha256 || sha512 === own.sha512);
  if (isAbout) return;
  const others = digests.flatMap(({ sha256, sha512 }) => [
    ...(typeof sha256 === "string" ? [`sha256:${sha256}`] : []),
    ...(typeof sha512 === "string" ? [`sha512:${sha512}`] : []),
  ]);
  throw new SignatureProblem(otherSubject(others[0]));
}

/** A simple signing payload, as the `.sig` tag holds it. The name in it is ignored, as cosign does: the digest says what it is about. */
export function checkSimplePayload(payload: Uint8Array, subject: Uint8Array): void {
  const { type, image } = objectOf(readObject(payload)["critical"]);
  if (type !== SIMPLE_SIGNING_TYPE)
    throw new SignatureProblem(`a signed payload has the type ${quote(textOf(type))}`);
  const digest = textOf(objectOf(image)["docker-manifest-digest"]);
  if (digest !== `sha256:${hash("sha256", subject)}`) throw new SignatureProblem(otherSubject(digest));
}

function otherSubject(digest = ""): string {
  return digest === ""
    ? "a signature does not say what it is about"
    : `a signature is about other content (${digest.slice(0, 71)})`;
}

function readObject(bytes: Uint8Array): Record<string, unknown> {
  const value = tryJson(Buffer.from(bytes).toString("utf8"));
  if (value === undefined) throw new SignatureProblem("a signed payload is not JSON");
  return objectOf(value);
}

const objectOf = (value: unknown) => (isRecord(value) ? value : {});

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
