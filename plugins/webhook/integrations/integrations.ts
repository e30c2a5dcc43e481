/** Senders with a secret of their own, each for one user. The secrets are derived, so the store holds none. */

import { randomUUID } from "node:crypto";
import { isIdentity } from "../../../kernel/kit/people.ts";
import { Fault, type Services, type Sql } from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import { integrationSecrets, type Secrets } from "../derived-secrets.ts";
import type { Integration } from "../integration.ts";
import type { NewIntegration } from "../services.ts";
import { parseTemplate } from "./template.ts";

export interface Sender extends Integration {
  /** Changes if an integration of the same name is added again. */
  readonly id: string;
  /** The creation time of its account; absent for a webhook identity. */
  readonly accountSince?: string;
}

interface IntegrationParts {
  readonly store: Store;
  readonly sql: Sql;
  readonly accounts: Pick<Services["accounts"], "find">;
  /** Called once with every secret, so that no log shows one. */
  onSecret(secret: string): void;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const USE_PRECISION_MS = 60_000;

type Row = Readonly<
  Record<"id" | "name" | "user" | "created_at", string> &
    Record<"account_since" | "message" | "last_used_at", string | null>
>;

export type OpenIntegrations = ReturnType<typeof createIntegrations>;

export function createIntegrations({ store, sql, accounts, onSecret }: IntegrationParts) {
  const reported = new Set<string>();

  /** Also for an unknown id, so that the time it takes does not tell which ids exist. */
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
    async find(name: string): Promise<Sender | undefined> {
      const row = await sql.get<Row>("SELECT * FROM webhook_integrations WHERE name = ?", name);
      return row && senderOf(row);
    },
    async list(): Promise<readonly Integration[]> {
      return (await senders()).map(integrationOf);
    },

    async add({ name, user, message }: NewIntegration) {
      if (!NAME.test(name))
        throw badName(
          "bad_name",
          "A name must be 1 to 64 letters, digits and . _ -, and start with a letter or digit.",
          true,
        );
      if (message !== undefined) parseTemplate(message);
      const row = await sql.get<Row>(
        `INSERT INTO webhook_integrations (id, name, "user", account_since, message, created_at)
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING RETURNING *`,
        ...[randomUUID(), name, user, await accountSince(accounts, user), message ?? null],
        new Date().toISOString(),
      );
      if (row === undefined)
        throw badName("integration_exists", `There is an integration "${name}" already: remove it first.`);
      return { integration: integrationOf(senderOf(row)), secret: (await secretsOf(row.id))[0] };
    },

    async remove(name: string): Promise<boolean> {
      return (await sql.run("DELETE FROM webhook_integrations WHERE name = ?", name)) > 0;
    },

    /** Notes the time of use, to the minute, in the background. */
    markUsed({ id, lastUsedAt }: Sender): void {
      if (lastUsedAt !== undefined && Date.now() - Date.parse(lastUsedAt) < USE_PRECISION_MS) return;
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
  if (user.startsWith("webhook/") && isIdentity(user)) return null;
  const account = await accounts.find(user);
  if (account !== undefined) return account.createdAt;
  const message = `There is no user "${user}": add it with "postern user add ${user}", or name a webhook identity such as webhook/${user}.`;
  throw new Fault("missing", "user_not_found", message, { param: "user" });
}

function badName(code: string, message: string, usage = false): Fault {
  return new Fault("invalid", code, message, { param: "name", usage });
}
