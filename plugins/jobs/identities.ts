/** Which account each webhook identity is, and what happens to what it has when an operator says so. */

import { defineTables, isWebhookIdentity, webhookIdentity } from "../../kernel/kit.ts";
import { Fault, type Identity, type Services, type Sql } from "../../kernel/plugin.ts";
import { PAIRING_DENIED } from "./queue/completion.ts";
import type { RunningJobs } from "./queue/jobs.ts";
import type { JobTable } from "./queue/table.ts";
import type { Identities } from "./services.ts";

export interface IdentityParts {
  readonly sql: Sql;
  readonly jobs: Pick<JobTable, "held" | "heldCounts" | "firstHeld">;
  readonly refuse: RunningJobs["refuse"];
  readonly threads: Pick<Services["threads"], "users">;
  /** Gives all that is kept of one user to another. */
  readonly giveUser: Services["agent"]["giveUser"];
}

export interface RunningIdentities extends Identities {
  /** Identities that were this user speak for themselves again. */
  forget(user: string): Promise<void>;
}

export const MIGRATIONS = defineTables(
  ({ text, keyed }) => `
  CREATE TABLE pairings (
    identity ${text} PRIMARY KEY, account ${text} NOT NULL, account_since ${text} NOT NULL, paired_at ${text} NOT NULL
  ) ${keyed};`,
);

const MAX_LISTED = 500;
const MAX_MESSAGE_LENGTH = 500;

export function createIdentities({ sql, jobs, refuse, threads, giveUser }: IdentityParts): RunningIdentities {
  return {
    async forget(user) {
      await sql.run("DELETE FROM pairings WHERE account = ? OR identity = ?", user, user);
    },

    async account(identity) {
      const row = await sql.get<{ account: string; account_since: string }>(
        "SELECT account, account_since FROM pairings WHERE identity = ?",
        identity,
      );
      return row && { id: row.account, createdAt: row.account_since };
    },

    async list() {
      const [paired, held, speaking] = await Promise.all([
        sql.all<{ id: string; account: string; paired_at: string }>(
          "SELECT identity AS id, account, paired_at FROM pairings",
        ),
        jobs.heldCounts(),
        threads.users(webhookIdentity("")),
      ]);
      const accounts = new Map(paired.map((row) => [row.id, row]));
      const ids = new Set([...accounts.keys(), ...speaking, ...[...held.keys()].filter(isWebhookIdentity)]);
      return [...ids]
        .map((id): Identity => {
          const { account, paired_at: pairedAt } = accounts.get(id) ?? {};
          return { id, held: held.get(id) ?? 0, ...(account && { account }), ...(pairedAt && { pairedAt }) };
        })
        .sort((a, b) => b.held - a.held || (a.id < b.id ? -1 : 1))
        .slice(0, MAX_LISTED);
    },

    async pending() {
      const rows = await jobs.firstHeld(MAX_LISTED);
      return rows.map(({ id, user, message, created_at }) => ({
        type: "pairing",
        id,
        identity: user,
        openedAt: created_at,
        message: message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed(),
      }));
    },

    async pair(identity, account) {
      assertIdentity(identity);
      await sql.transaction(async (tx) => {
        await Promise.all([
          tx.run(
            `INSERT INTO pairings (identity, account, account_since, paired_at) VALUES (?, ?, ?, ?)
             ON CONFLICT (identity) DO UPDATE
             SET account = excluded.account, account_since = excluded.account_since, paired_at = excluded.paired_at`,
            identity,
            account.id,
            account.createdAt,
            new Date().toISOString(),
          ),
          giveUser(tx, identity, account.id),
        ]);
      });
    },

    unpair: async (identity) => (await sql.run("DELETE FROM pairings WHERE identity = ?", identity)) > 0,

    async deny(identity) {
      const waiting = await jobs.held(identity);
      await Promise.all(waiting.map((id) => refuse(id, PAIRING_DENIED)));
      return waiting.length;
    },
  };
}

function assertIdentity(identity: string): void {
  if (isWebhookIdentity(identity)) return;
  throw new Fault(
    "invalid",
    "bad_identity",
    `"${identity}" is not a webhook identity: those are written webhook/<user_id>.`,
    { param: "identity", usage: true },
  );
}
