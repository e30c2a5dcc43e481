/** Checks that a sender knows the secret: it sends the secret itself, or the body signed with it. */
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { Fault } from "../../../kernel/plugin.ts";

/** Reads a header by its name; "" if there is none. */
export type Header = (name: string) => string;

export interface Proof {
  /** The sender's id for this delivery; empty if it gave none. */
  readonly key: string;
  readonly keyName: string;
  /** True if nothing that was signed tells this delivery from an earlier one. */
  readonly canBeReplayed: boolean;
}

const HUB_SIGNATURE = /^sha256=([0-9a-f]{64})$/i;

/** Throws a fault if nothing is proven. */
export function prove(secret: string, header: Header, body: Buffer | undefined): Proof {
  if (header("x-webhook-secret") !== "") {
    if (!isSecret(header("x-webhook-secret"), secret)) throw wrong();
    return { key: header("idempotency-key"), keyName: "Idempotency-Key", canBeReplayed: false };
  }
  // The signature of an absent body is the same for every request, so it proves nothing.
  if (body !== undefined && header("webhook-signature") !== "") {
    checkStandard(body, header, secret);
    return { key: header("webhook-id"), keyName: "webhook-id", canBeReplayed: false };
  }
  if (body !== undefined && header("x-hub-signature-256") !== "") {
    if (!isSigned(body, header("x-hub-signature-256"), secret)) throw wrong("X-Hub-Signature-256 is wrong.");
    // The signature covers neither header: whoever has seen one delivery can send it again under another id.
    const name = header("x-github-delivery") === "" ? "Idempotency-Key" : "X-GitHub-Delivery";
    return { key: header(name), keyName: name, canBeReplayed: true };
  }
  throw missing();
}

export const missing = (): Fault =>
  new Fault("unauthenticated", "missing_secret", "X-Webhook-Secret is missing.");

export const wrong = (message = "X-Webhook-Secret is wrong."): Fault =>
  new Fault("unauthenticated", "invalid_secret", message);

/** The Standard Webhooks key is what follows `whsec_` in base64, or the text itself. */
function standardWebhook(secret: string): Webhook {
  try {
    if (secret.startsWith("whsec_")) return new Webhook(secret);
  } catch {
    // Not base64: the operator chose a text that begins like this.
  }
  return new Webhook(Buffer.from(secret), { format: "raw" });
}

function checkStandard(body: Buffer, header: Header, secret: string): void {
  const headers = Object.fromEntries(
    ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [name, header(name)]),
  );
  try {
    standardWebhook(secret).verify(body, headers, { jsonParse: false });
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    if (!/timestamp/.test(error.message))
      throw wrong("webhook-signature is wrong, or webhook-id or webhook-timestamp is missing.");
    const stale = "webhook-timestamp is more than five minutes from now: sign again when you send again.";
    throw new Fault("unauthenticated", "stale_timestamp", stale);
  }
}

function isSigned(body: Buffer, signature: string, secret: string): boolean {
  const expected = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  return HUB_SIGNATURE.test(signature) && isSame(signature.toLowerCase(), expected);
}

/** A header holds bytes, read as one character each; the sender meant them as Latin-1 or UTF-8. */
export function isSecret(header: string, secret: string): boolean {
  return isSame(header, secret) || isSame(Buffer.from(header, "latin1").toString(), secret);
}

/** Takes as long for a near miss as for a wild guess. Hashing first makes the lengths equal. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => hash("sha256", text, "buffer");
  return timingSafeEqual(digest(given), digest(expected));
}
