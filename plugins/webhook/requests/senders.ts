/** Finds who sent a request: a holder of the shared secret, or one integration. */
import { Fault } from "../../../kernel/plugin.ts";
import type { Secrets } from "../derived-secrets.ts";
import type { OpenIntegrations } from "../integrations/integrations.ts";
import { type Header, isSecret, missing, type Proof, prove, wrong } from "./proof.ts";

export type Senders = ReturnType<typeof createSenders>;

const NOBODY = "nobody";

export function createSenders(
  secret: string | undefined,
  integrations: Pick<OpenIntegrations, "find" | "senders" | "secretsOf" | "markUsed">,
) {
  return {
    shared(header: Header, body: Buffer): Proof {
      if (secret === undefined) throw notConfigured();
      return prove(secret, header, body);
    },

    /** Checks the integration of this name by its own secret. */
    async named(name: string, header: Header, body: Buffer) {
      const sender = await integrations.find(name);
      const proof = proveByAny(await integrations.secretsOf(sender?.id ?? NOBODY), header, body);
      // Checked after the proof, so that the time it takes does not tell which names exist.
      if (sender === undefined) throw wrong();
      integrations.markUsed(sender);
      return { proof, sender };
    },

    /** Returns the id of the integration whose secret `X-Webhook-Secret` is, or "" for the shared one. */
    async whose(header: Header): Promise<string> {
      const given = header("x-webhook-secret");
      const known = await integrations.senders();
      if (secret === undefined && known.length === 0) throw notConfigured();
      if (given === "") throw missing();
      if (secret !== undefined && isSecret(given, secret)) return "";
      for (const { id } of known)
        for (const own of await integrations.secretsOf(id)) if (isSecret(given, own)) return id;
      throw wrong();
    },
  };
}

/** Tries each secret; the refusal is that of the first. */
function proveByAny([first, ...others]: Secrets, header: Header, body: Buffer): Proof {
  try {
    return prove(first, header, body);
  } catch (error) {
    for (const other of others)
      try {
        return prove(other, header, body);
      } catch {
        // Try the next one.
      }
    throw error;
  }
}

function notConfigured(): Fault {
  const how = "the operator must set HTTP_WEBHOOK_SECRET, or add an integration";
  const message = `The webhook secret is not configured: ${how}.`;
  return new Fault("unauthenticated", "secret_not_configured", message);
}
