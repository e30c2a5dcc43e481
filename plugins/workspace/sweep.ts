/** What goes: old versions, contents that nothing needs any more, what broke off, and all of a user who is removed. */
import type { Sql, Transaction } from "../../kernel/plugin.ts";
import { type InAccount, recount } from "./account.ts";

const MAX_AGE_MS = 30 * 24 * 3600 * 1000;
const MAX_STAGED_MS = 24 * 3600 * 1000;
// A long transaction would keep everybody else waiting.
const ROWS_AT_ONCE = 500;
const CONTENTS_AT_ONCE = 20;

const UNUSED = `NOT EXISTS (SELECT 1 FROM workspace_versions WHERE content = workspace_contents.id)
  AND NOT EXISTS (SELECT 1 FROM workspace_pending WHERE content = workspace_contents.id)`;

export function createSweep(sql: Sql, inAccount: InAccount) {
  const timeBefore = (millis: number) => new Date(Date.now() - millis).toISOString();

  const inTransaction = (user: string, work: (tx: Transaction) => Promise<number>): Promise<number> =>
    inAccount(user, async (tx) => {
      const gone = await work(tx);
      if (gone > 0) await recount(tx, user);
      return gone;
    });

  async function repeatedly(most: number, work: () => Promise<number>): Promise<void> {
    while ((await work()) === most);
  }

  async function sweepUser(user: string, before: string): Promise<void> {
    await repeatedly(ROWS_AT_ONCE, () =>
      inTransaction(user, (tx) =>
        tx.run(
          `DELETE FROM workspace_versions WHERE id IN (
             SELECT id FROM workspace_versions WHERE "user" = ? AND replaced_at < ? LIMIT ${ROWS_AT_ONCE})`,
          user,
          before,
        ),
      ),
    );
    await repeatedly(CONTENTS_AT_ONCE, () =>
      inTransaction(user, (tx) =>
        tx.run(
          `DELETE FROM workspace_contents WHERE id IN (
             SELECT id FROM workspace_contents WHERE "user" = ? AND ${UNUSED}
               AND (staged_at IS NULL OR staged_at < ?) LIMIT ${CONTENTS_AT_ONCE})`,
          user,
          timeBefore(MAX_STAGED_MS),
        ),
      ),
    );
    await inTransaction(user, (tx) =>
      tx.run(
        `DELETE FROM workspace_sets WHERE "user" = ? AND at < ?
         AND NOT EXISTS (SELECT 1 FROM workspace_versions WHERE change_set = workspace_sets.seq)`,
        user,
        before,
      ),
    );
  }

  return {
    /** Deletes what another took the place of before that time, 30 days ago, and uploads that broke off a day ago. */
    async sweep(before: string = timeBefore(MAX_AGE_MS)): Promise<void> {
      const users = await sql.all<{ user: string }>(
        `SELECT DISTINCT "user" FROM workspace_versions WHERE replaced_at < ?
         UNION SELECT DISTINCT "user" FROM workspace_contents WHERE staged_at < ?
         UNION SELECT DISTINCT "user" FROM workspace_sets WHERE at < ?
           AND NOT EXISTS (SELECT 1 FROM workspace_versions WHERE change_set = workspace_sets.seq)`,
        before,
        timeBefore(MAX_STAGED_MS),
        before,
      );
      for (const { user } of users) await sweepUser(user, before);
    },

    async removeUser(user: string): Promise<void> {
      const some = (table: string, key: string, most: number) =>
        repeatedly(most, () =>
          sql.run(
            `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE "user" = ? LIMIT ${most})`,
            user,
          ),
        );
      for (const table of ["workspace_entries", "workspace_pending", "workspace_mounts"])
        await sql.run(`DELETE FROM ${table} WHERE "user" = ?`, user);
      await some("workspace_versions", "id", ROWS_AT_ONCE);
      await some("workspace_sets", "seq", ROWS_AT_ONCE);
      await some("workspace_contents", "id", CONTENTS_AT_ONCE);
      await sql.run('DELETE FROM workspace_accounts WHERE "user" = ?', user);
    },
  };
}
