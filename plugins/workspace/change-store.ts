/** Work on the workspace of one user in a transaction, one at a time. */
import type { InAccount } from "./account.ts";
import type { Change } from "./services.ts";
import { type Changing, type OwnSet, setOf } from "./tree.ts";

/** With an id among the options, the changes belong to the set of that id. */
export type ChangeStore = <Result>(
  user: string,
  change: Change,
  options: { readonly freely?: boolean; readonly own?: OwnSet },
  work: (on: Changing, setId: () => string | undefined) => Promise<Result>,
) => Promise<Result>;

export function createChangeStore(inAccount: InAccount): ChangeStore {
  return (user, change, options, work) =>
    inAccount(user, async (tx, account) => {
      const base = { tx, user, account, change, at: new Date().toISOString() };
      const set = setOf(base, options.own);
      const result = await work({ ...base, set: set.number }, set.id);
      await account.close(options.freely);
      return result;
    });
}
