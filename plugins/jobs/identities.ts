/** Which account each webhook identity is, and what happens to what it has when an operator says so. */

import { isWebhookIdentity } from "../../kernel/kit.ts";
import { Fault, type Identities, type Identity, type Sql, type Transaction } from "../../kernel/plugin.ts";
import { PAIRING_DENIED } from "./queue/completion.ts";
import type { RunningJobs } from "./queue/jobs.ts";

export interface IdentityParts {
  readonly sql: Sql;
  readonly jobs: Pick<RunningJobs, "refuse">;
  /** Gives all documents of one user to another. */
  giveMemory(tx: Transaction, from: string, to: string): Promise<void>;
}

const MOST_LISTED = 500;
const LONGEST_MESSAGE = 500;

/** Everything of an identity, in an order that reads its ranges from indexes. */
const OF_IDENTITIES = `"user" >= 'webhook/' AND "user" < 'webhook0'`;

export function createIdentities({ sql, jobs, giveMemory }: IdentityParts): Identities {
  async function give(tx: Transaction, from: string, to: string): Promise<void> {
    await Promise.all([
      // Both run one of the same name at this moment: of one conversation only one job runs.
      tx.run(
        `UPDATE jobs SET conversation = NULL WHERE "user" = ? AND status = 'running' AND conversation IN (
           SELECT other.conversation FROM jobs AS other WHERE other."user" = ? AND other.status = 'running')`,
        from,
        to,
      ),
      tx.run(
        'UPDATE turns SET "user" = ? WHERE thread IN (SELECT id FROM threads WHERE "user" = ?)',
        to,
        from,
      ),
      ...["threads", "jobs", "missions"].map((table) =>
        tx.run(`UPDATE ${table} SET "user" = ? WHERE "user" = ?`, to, from),
      ),
      // A conversation that the account has under the same name goes on; the identity's thread is still there to read.
      tx.run(
        `UPDATE conversations SET "user" = ? WHERE "user" = ?
           AND name NOT IN (SELECT name FROM conversations WHERE "user" = ?)`,
        to,
        from,
        to,
      ),
      tx.run('DELETE FROM conversations WHERE "user" = ?', from),
      // Its own answers at gates end here: the account's are the ones that count.
      tx.run('DELETE FROM approvals WHERE "user" = ?', from),
      tx.run('DELETE FROM destinations WHERE "user" = ?', from),
    ]);
    await giveMemory(tx, from, to);
  }

  return {
    async account(identity) {
      const row = await sql.get<{ account: string; account_since: string }>(
        "SELECT account, account_since FROM pairings WHERE identity = ?",
        identity,
      );
      return row && { id: row.account, createdAt: row.account_since };
    },

    async list() {
      const rows = await sql.all<{
        id: string;
        account: string | null;
        paired_at: string | null;
        held: number;
      }>(
        `SELECT known.id, account, paired_at,
           (SELECT count(*) FROM jobs INDEXED BY jobs_held WHERE "user" = known.id AND status = 'queued' AND held = 1) AS held
         FROM (SELECT identity AS id FROM pairings
           UNION SELECT "user" FROM threads WHERE ${OF_IDENTITIES}
           UNION SELECT "user" FROM jobs INDEXED BY jobs_held WHERE ${OF_IDENTITIES} AND status = 'queued' AND held = 1) AS known
         LEFT JOIN pairings ON identity = known.id ORDER BY held DESC, known.id LIMIT ?`,
        MOST_LISTED,
      );
      return rows.map(
        ({ id, account, paired_at, held }): Identity => ({
          id,
          held,
          ...(account !== null && { account }),
          ...(paired_at !== null && { pairedAt: paired_at }),
        }),
      );
    },

    async pending() {
      const rows = await sql.all<{ id: string; user: string; message: string; created_at: string }>(
        `SELECT id, "user", message, created_at FROM jobs WHERE seq IN (
           SELECT min(seq) FROM jobs INDEXED BY jobs_held WHERE status = 'queued' AND held = 1 GROUP BY "user")
         ORDER BY seq LIMIT ?`,
        MOST_LISTED,
      );
      return rows.map(({ id, user, message, created_at }) => ({
        type: "pairing",
        id,
        identity: user,
        openedAt: created_at,
        message: message.slice(0, LONGEST_MESSAGE).toWellFormed(),
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
          tx.run('UPDATE jobs SET held = 0 WHERE "user" = ? AND held = 1', identity),
          give(tx, identity, account.id),
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
