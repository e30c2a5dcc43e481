/** Secrets that are handed out once. Only the SHA-256 is kept: they are long and random, so no slow hash is needed. */
import { createHash, randomBytes } from "node:crypto";

export function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

export function newSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString("base64url")}`;
}
