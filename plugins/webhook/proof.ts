/** Proof that a sender knows the secret: the secret itself, or the body signed with it. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { Fault } from "../../kernel/plugin.ts";

export interface Proof {
  /** The sender's name for this delivery; empty where it gave none. */
  readonly key: string;
  /** The header that held it. */
  readonly keyName: string;
  /** True where nothing that was signed tells this delivery from an earlier one. */
  readonly canBeReplayed: boolean;
}

const HUB_SIGNATURE = /^sha256=([0-9a-f]{64})$/i;

/** `header` reads one by its name, and answers "" where there is none. Throws a fault where nothing is proven. */
export function prove(secret: string, header: (name: string) => string, body: Buffer | undefined): Proof {
  if (header("x-webhook-secret") !== "") {
    if (!isSecret(header("x-webhook-secret"), secret)) throw wrong("X-Webhook-Secret is wrong.");
    return { key: header("idempotency-key"), keyName: "Idempotency-Key", canBeReplayed: false };
  }
  // The signature of no body is the same for every request, so it proves nothing for one without.
  if (body !== undefined && header("webhook-signature") !== "") {
    checkStandard(body, header, secret);
    return { key: header("webhook-id"), keyName: "webhook-id", canBeReplayed: false };
  }
  if (body !== undefined && header("x-hub-signature-256") !== "") {
    if (!isSigned(body, header("x-hub-signature-256"), secret)) throw wrong("X-Hub-Signature-256 is wrong.");
    // The signature covers neither of them: whoever has seen one delivery can send it again under another name.
    const name = header("x-github-delivery") === "" ? "Idempotency-Key" : "X-GitHub-Delivery";
    return { key: header(name), keyName: name, canBeReplayed: true };
  }
  throw new Fault("unauthenticated", "missing_secret", "X-Webhook-Secret is missing.");
}

/** The Standard Webhooks key of a secret: what `whsec_` is put before in base64, else the text itself. */
function standardWebhook(secret: string): Webhook {
  try {
    if (secret.startsWith("whsec_")) return new Webhook(secret);
  } catch {
    // Not base64 after all: the operator chose a text that begins so.
  }
  return new Webhook(Buffer.from(secret), { format: "raw" });
}

function checkStandard(body: Buffer, header: (name: string) => string, secret: string): void {
  const headers = Object.fromEntries(
    ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [name, header(name)]),
  );
  try {
    standardWebhook(secret).verify(body, headers, { jsonParse: false });
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    throw /timestamp/.test(error.message)
      ? new Fault(
          "unauthenticated",
          "stale_timestamp",
          "webhook-timestamp is more than five minutes from now: sign again when you send again.",
        )
      : wrong("webhook-signature is wrong, or webhook-id or webhook-timestamp is missing.");
  }
}

function wrong(message: string): Fault {
  return new Fault("unauthenticated", "invalid_secret", message);
}

/** What `X-Hub-Signature-256` holds for this body. */
function sign(body: Buffer, secret: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

function isSigned(body: Buffer, signature: string, secret: string): boolean {
  return HUB_SIGNATURE.test(signature) && isSame(signature.toLowerCase(), sign(body, secret));
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
