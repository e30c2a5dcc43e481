/** Moves or deletes a user's turns and data when the user is removed, or turns out to be somebody else. */
import type { Kernel, Sql } from "../../kernel/plugin.ts";
import type { Store } from "../store/services.ts";
import type { Extensions } from "./extensions.ts";
import type { Agent } from "./services.ts";
import type { StoredThreads } from "./threads/threads.ts";

export interface UserParts {
  readonly sql: Sql;
  readonly threads: Pick<StoredThreads, "removeAll">;
  readonly extensions: Extensions;
  readonly store: Pick<Store, "tables">;
  readonly kernel: Pick<Kernel, "tables">;
  cancelThread(thread: string): Promise<void>;
}

export function createUsers(parts: UserParts): Pick<Agent, "removeUser" | "giveUser"> {
  const { sql, threads, extensions, store, kernel } = parts;

  async function stopTurns(user: string): Promise<void> {
    const find = `SELECT DISTINCT thread FROM turns WHERE "user" = ? AND status = 'running'`;
    const busy = await sql.all<{ thread: string }>(find, user);
    await Promise.all(busy.map(({ thread }) => parts.cancelThread(thread)));
  }

  /** Deletes the rows of the user in every table that its plugin declares to be personal. */
  async function removeRows(user: string): Promise<void> {
    for (const { owner, migrations, personal = [] } of await kernel.tables()) {
      if (personal.length === 0) continue;
      const owned = await store.tables(owner, migrations);
      await owned.transaction(async (tx) => {
        await Promise.all(personal.map((table) => tx.run(`DELETE FROM ${table} WHERE "user" = ?`, user)));
      });
    }
  }

  return {
    async removeUser(user, { withData }) {
      for (const extension of extensions.all()) await extension.stopUser?.(user);
      await stopTurns(user);
      if (!withData) return;
      await threads.removeAll(user);
      for (const extension of extensions.all()) await extension.removeUser?.(user);
      await removeRows(user);
    },

    async giveUser(from, to) {
      const owners = (await kernel.tables()).filter(({ give }) => give !== undefined);
      // A plugin that was not used yet has not made its tables, and within the transaction none can be made.
      for (const { owner, migrations } of owners) await store.tables(owner, migrations);
      const give = 'UPDATE turns SET "user" = ? WHERE thread IN (SELECT id FROM threads WHERE "user" = ?)';
      return async (tx) => {
        await Promise.all([
          tx.run(give, to, from),
          tx.run('UPDATE threads SET "user" = ? WHERE "user" = ?', to, from),
          tx.run('UPDATE turn_figures SET "user" = ? WHERE "user" = ?', to, from),
          // Answers of the one identity at gates end here: those of the other count.
          tx.run('DELETE FROM approvals WHERE "user" = ?', from),
          ...extensions.all().map((extension) => extension.giveUser?.(tx, from, to)),
          ...owners.map((owner) => owner.give?.(tx, from, to)),
        ]);
      };
    },
  };
}
