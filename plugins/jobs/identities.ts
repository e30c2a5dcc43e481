/** Which account each webhook identity is, and what happens to what it has when an operator says so. */

import { isWebhookIdentity, webhookIdentity } from "../../kernel/kit.ts";
import { Fault, type Identity, type Services, type Sql, type Transaction } from "../../kernel/plugin.ts";
import { PAIRING_DENIED } from "./queue/completion.ts";
import type { RunningJobs } from "./queue/jobs.ts";
import type { Identities } from "./services.ts";

export interface IdentityParts {
  readonly sql: Sql;
  readonly jobs: Pick<RunningJobs, "refuse">;
  readonly threads: Pick<Services["threads"], "users">;
  /** Gives all that is kept of one user to another. */
  readonly giveUser: Services["agent"]["giveUser"];
}

export interface RunningIdentities extends Identities {
  /** Identities that were this user speak for themselves again. */
  forget(user: string): Promise<void>;
  /** Gives the jobs and conversations of one user to another. */
  giveJobs(tx: Transaction, from: string, to: string): Promise<void>;
}

const MAX_LISTED = 500;
const MAX_MESSAGE_LENGTH = 500;

export function createIdentities({ sql, jobs, threads, giveUser }: IdentityParts): RunningIdentities {
  return {
    async forget(user) {
      await sql.run("DELETE FROM pairings WHERE account = ? OR identity = ?", user, user);
    },

    async giveJobs(tx, from, to) {
      await Promise.all([
        // Both run one of the same name at this moment: of one conversation only one job runs.
        tx.run(
          `UPDATE jobs SET conversation = NULL WHERE "user" = ? AND status = 'running' AND conversation IN (
             SELECT other.conversation FROM jobs AS other WHERE other."user" = ? AND other.status = 'running')`,
          from,
          to,
        ),
        tx.run('UPDATE jobs SET "user" = ?, held = 0 WHERE "user" = ?', to, from),
        // A conversation that the account has under the same name goes on; the identity's thread is still there to read.
        tx.run(
          `UPDATE conversations SET "user" = ? WHERE "user" = ?
             AND name NOT IN (SELECT name FROM conversations WHERE "user" = ?)`,
          to,
          from,
          to,
        ),
        tx.run('DELETE FROM conversations WHERE "user" = ?', from),
      ]);
    },

    async account(identity) {
      const row = await sql.get<{ account: string; account_since: string }>(
        "SELECT account, account_since FROM pairings WHERE identity = ?",
        identity,
      );
      return row && { id: row.account, createdAt: row.account_since };
    },

    async list() {
      const [paired, waiting, speaking] = await Promise.all([
        sql.all<{ id: string; account: string; paired_at: string }>(
          "SELECT identity AS id, account, paired_at FROM pairings",
        ),
        sql.all<{ id: string; held: number }>(
          `SELECT "user" AS id, count(*) AS held FROM jobs INDEXED BY jobs_held
           WHERE status = 'queued' AND held = 1 GROUP BY "user"`,
        ),
        threads.users(webhookIdentity("")),
      ]);
      const accounts = new Map(paired.map((row) => [row.id, row]));
      const held = new Map(waiting.map((row) => [row.id, Number(row.held)]));
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
      const rows = await sql.all<{ id: string; user: string; message: string; created_at: string }>(
        `SELECT id, "user", message, created_at FROM jobs WHERE seq IN (
           SELECT min(seq) FROM jobs INDEXED BY jobs_held WHERE status = 'queued' AND held = 1 GROUP BY "user")
         ORDER BY seq LIMIT ?`,
        MAX_LISTED,
      );
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
      const waiting = await sql.all<{ id: string }>(
        `SELECT id FROM jobs INDEXED BY jobs_held WHERE "user" = ? AND status = 'queued' AND held = 1 ORDER BY seq`,
        identity,
      );
      await Promise.all(waiting.map(({ id }) => jobs.refuse(id, PAIRING_DENIED)));
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
