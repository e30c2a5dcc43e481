/** What other plugins do with a user's things when the user is removed, or turns out to be another. */
import type { Kernel, Transaction } from "../../kernel/plugin.ts";
import type { Store } from "../store/services.ts";

export interface UserFollower {
  /** The user is gone: starts nothing for them from now on and ends what runs. */
  stop?(user: string): Promise<void>;
  /** Deletes what is kept of a user who is gone, apart from rows of tables that are declared as personal. */
  remove?(user: string): Promise<void>;
  /** Gives what is kept of one user to another. */
  give?(tx: Transaction, from: string, to: string): Promise<unknown>;
}

export type Followers = ReturnType<typeof createFollowers>;

export function createFollowers(store: Pick<Store, "tables">, kernel: Pick<Kernel, "tables">) {
  const followers: UserFollower[] = [];

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
    /** Returns the undo. */
    follow(follower: UserFollower): () => void {
      followers.push(follower);
      return () => void followers.splice(followers.indexOf(follower), 1);
    },

    async remove(user: string, { withData }: { readonly withData: boolean }): Promise<void> {
      // Last in, first out, as plugins stop: what starts turns is quiet before the turns that run are ended.
      for (const follower of followers.toReversed()) await follower.stop?.(user);
      if (!withData) return;
      for (const follower of [...followers]) await follower.remove?.(user);
      await removeRows(user);
    },

    /** Returns what remains to be done in a transaction. */
    async give(from: string, to: string): Promise<(tx: Transaction) => Promise<void>> {
      const owners = (await kernel.tables()).filter(({ give }) => give !== undefined);
      // A plugin that was not used yet has not made its tables, and within the transaction none can be made.
      for (const { owner, migrations } of owners) await store.tables(owner, migrations);
      return async (tx) => {
        await Promise.all([...followers, ...owners].map((each) => each.give?.(tx, from, to)));
      };
    },
  };
}
