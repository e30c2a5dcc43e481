/** Senders with a secret of their own, each for one user. The secrets are derived, so the store holds none. */
import { randomUUID } from "node:crypto";
import {
  type Integration,
  type Integrations,
  isWebhookIdentity,
  type NewIntegration,
} from "../../../kernel/kit.ts";
import { Fault, type Services, type Sql, type Store } from "../../../kernel/plugin.ts";
import { integrationSecrets, type Secrets } from "../derived-secrets.ts";
import { parseTemplate } from "./template.ts";

/** An integration as the channel uses it. */
export interface Sender extends Integration {
  /** Changes if an integration of the same name is added again. */
  readonly id: string;
  /** The creation time of its account; absent for a webhook identity. */
  readonly accountSince?: string;
}

export interface OpenIntegrations extends Integrations {
  find(name: string): Promise<Sender | undefined>;
  senders(): Promise<readonly Sender[]>;
  /** Also for an unknown id, so that the time it takes does not tell which ids exist. */
  secretsOf(id: string): Promise<Secrets>;
  /** Notes the time of use, to the minute, in the background. */
  markUsed(sender: Sender): void;
}

export interface IntegrationParts {
  readonly store: Store;
  readonly sql: Sql;
  readonly accounts: Pick<Services["accounts"], "find">;
  /** Called once with every secret, so that no log shows one. */
  onSecret(secret: string): void;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const USE_PRECISION_MILLIS = 60_000;

interface Row {
  readonly id: string;
  readonly name: string;
  readonly user: string;
  readonly account_since: string | null;
  readonly message: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

export function createIntegrations({ store, sql, accounts, onSecret }: IntegrationParts): OpenIntegrations {
  const reported = new Set<string>();

  async function secretsOf(id: string): Promise<Secrets> {
    const secrets = await integrationSecrets(store, id);
    for (const secret of secrets) {
      if (!reported.has(secret)) onSecret(secret);
      reported.add(secret);
    }
    return secrets;
  }

  const senders = async (): Promise<readonly Sender[]> =>
    (await sql.all<Row>("SELECT * FROM webhook_integrations ORDER BY name")).map(senderOf);

  return {
    senders,
    secretsOf,
    async find(name) {
      const row = await sql.get<Row>("SELECT * FROM webhook_integrations WHERE name = ?", name);
      return row && senderOf(row);
    },
    async list() {
      return (await senders()).map(integrationOf);
    },

    async add({ name, user, message }: NewIntegration) {
      if (!NAME.test(name))
        throw invalid(
          "bad_name",
          "A name must be 1 to 64 letters, digits and . _ -, and start with a letter or digit.",
          "name",
          true,
        );
      if (message !== undefined) parseTemplate(message);
      const row = await sql.get<Row>(
        `INSERT INTO webhook_integrations (id, name, "user", account_since, message, created_at)
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING RETURNING *`,
        randomUUID(),
        name,
        user,
        await accountSince(accounts, user),
        message ?? null,
        new Date().toISOString(),
      );
      if (row === undefined)
        throw invalid(
          "integration_exists",
          `There is an integration "${name}" already: remove it first.`,
          "name",
        );
      return { integration: integrationOf(senderOf(row)), secret: (await secretsOf(row.id))[0] };
    },

    async remove(name) {
      return (await sql.run("DELETE FROM webhook_integrations WHERE name = ?", name)) > 0;
    },

    markUsed({ id, lastUsedAt }) {
      if (lastUsedAt !== undefined && Date.now() - Date.parse(lastUsedAt) < USE_PRECISION_MILLIS) return;
      const now = new Date().toISOString();
      sql
        .run("UPDATE webhook_integrations SET last_used_at = ? WHERE id = ?", now, id)
        // If the store fails, the message itself is refused.
        .catch(() => {});
    },
  };
}

function integrationOf({ id: _, accountSince: __, ...integration }: Sender): Integration {
  return integration;
}

function senderOf(row: Row): Sender {
  return {
    id: row.id,
    name: row.name,
    user: row.user,
    createdAt: row.created_at,
    accountSince: row.account_since ?? undefined,
    message: row.message ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
  };
}

/** Null for a webhook identity, which has no account. */
async function accountSince(
  accounts: Pick<Services["accounts"], "find">,
  user: string,
): Promise<string | null> {
  if (isWebhookIdentity(user)) return null;
  const account = await accounts.find(user);
  if (account !== undefined) return account.createdAt;
  throw new Fault(
    "missing",
    "user_not_found",
    `There is no user "${user}": add it with "postern user add ${user}", or name a webhook identity such as webhook/${user}.`,
    { param: "user" },
  );
}

function invalid(code: string, message: string, param: string, usage = false): Fault {
  return new Fault("invalid", code, message, { param, usage });
}
