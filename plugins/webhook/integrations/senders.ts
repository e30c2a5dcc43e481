/** Who sent a request: whoever holds the shared secret, or one integration. */
import { Fault } from "../../../kernel/plugin.ts";
import type { Secrets } from "../keys.ts";
import { isSecret, type Proof, prove } from "../proof.ts";
import type { OpenIntegrations, Sender } from "./integrations.ts";

export interface Senders {
  /** Proof by the shared secret. */
  shared(header: Header, body: Buffer): Proof;
  /** The integration of this name, proven by its own secret. */
  named(
    name: string,
    header: Header,
    body: Buffer,
  ): Promise<{ readonly proof: Proof; readonly sender: Sender }>;
  /** Whose secret `X-Webhook-Secret` is: the id of an integration, or "" for the shared one. */
  whose(header: Header): Promise<string>;
}

/** Reads a header by its name; "" where there is none. */
export type Header = (name: string) => string;

const NOBODY = "nobody";

export function createSenders(
  secret: string | undefined,
  integrations: Pick<OpenIntegrations, "find" | "senders" | "secretsOf" | "markUsed">,
): Senders {
  return {
    shared(header, body) {
      if (secret === undefined) throw notConfigured();
      return prove(secret, header, body);
    },

    async named(name, header, body) {
      const sender = await integrations.find(name);
      const proof = proveByAny(await integrations.secretsOf(sender?.id ?? NOBODY), header, body);
      // Only by a secret that was never given to anybody.
      if (sender === undefined) throw wrong();
      integrations.markUsed(sender);
      return { proof, sender };
    },

    async whose(header) {
      const given = header("x-webhook-secret");
      const known = await integrations.senders();
      if (secret === undefined && known.length === 0) throw notConfigured();
      if (given === "") throw new Fault("unauthenticated", "missing_secret", "X-Webhook-Secret is missing.");
      if (secret !== undefined && isSecret(given, secret)) return "";
      for (const { id } of known)
        for (const own of await integrations.secretsOf(id)) if (isSecret(given, own)) return id;
      throw wrong();
    },
  };
}

/** By the first that fits; what none fits is refused as for the first. */
function proveByAny([first, ...others]: Secrets, header: Header, body: Buffer): Proof {
  try {
    return prove(first, header, body);
  } catch (error) {
    for (const other of others)
      try {
        return prove(other, header, body);
      } catch {
        // The next may fit.
      }
    throw error;
  }
}

function wrong(): Fault {
  return new Fault("unauthenticated", "invalid_secret", "X-Webhook-Secret is wrong.");
}

function notConfigured(): Fault {
  return new Fault(
    "unauthenticated",
    "secret_not_configured",
    "The webhook secret is not configured: the operator must set HTTP_WEBHOOK_SECRET, or add an integration.",
  );
}
