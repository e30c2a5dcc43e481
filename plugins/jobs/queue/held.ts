/** Jobs of identities: they are held until their user is paired with an account, which they are then given to. */
import type { Sql, Transaction } from "../../../kernel/plugin.ts";

export function createHeldJobs(sql: Sql) {
  return {
    /** Gives the jobs and conversations of one user to another; jobs that were held for a pairing may run. */
    async give(tx: Transaction, from: string, to: string): Promise<void> {
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

    async heldCounts(): Promise<ReadonlyMap<string, number>> {
      const rows = await sql.all<{ id: string; held: number }>(
        `SELECT "user" AS id, count(*) AS held FROM jobs INDEXED BY jobs_held
         WHERE status = 'queued' AND held = 1 GROUP BY "user"`,
      );
      return new Map(rows.map(({ id, held }) => [id, Number(held)]));
    },

    firstHeld: (
      limit: number,
    ): Promise<readonly { id: string; user: string; message: string; created_at: string }[]> =>
      sql.all(
        `SELECT id, "user", message, created_at FROM jobs WHERE seq IN (
           SELECT min(seq) FROM jobs INDEXED BY jobs_held WHERE status = 'queued' AND held = 1 GROUP BY "user")
         ORDER BY seq LIMIT ?`,
        limit,
      ),

    async held(user: string): Promise<readonly string[]> {
      const rows = await sql.all<{ id: string }>(
        `SELECT id FROM jobs INDEXED BY jobs_held WHERE "user" = ? AND status = 'queued' AND held = 1 ORDER BY seq`,
        user,
      );
      return rows.map(({ id }) => id);
    },
  };
}
