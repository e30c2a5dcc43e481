/** Proof that a caller knows the secret: the secret itself, or the body signed with it. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const SIGNATURE = /^sha256=([0-9a-f]{64})$/i;

/** What `X-Hub-Signature-256` holds for this body. */
export function sign(body: Buffer | string, secret: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

export function isSigned(body: Buffer, signature: string, secret: string): boolean {
  return SIGNATURE.test(signature) && isSame(signature.toLowerCase(), sign(body, secret));
}

/** A header holds bytes, read as one character each; whoever sent them meant Latin-1 by it, or UTF-8. */
export function isSecret(header: string, secret: string): boolean {
  return isSame(header, secret) || isSame(Buffer.from(header, "latin1").toString(), secret);
}

/** Takes as long for a near miss as for a wild guess; hashing first makes the lengths equal. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
