/** The users, with the records that the files beside this one keep of them. */

import { type Account, isIdentity } from "../../../kernel/kit/people.ts";
import { Fault, type Queries, type User } from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import { createInvitations } from "./invitations.ts";
import { createPeople, USER_ID } from "./people.ts";
import { createSessions } from "./sessions.ts";
import { MIGRATIONS } from "./tables.ts";
import { createTokens, noAccount, OPERATOR } from "./tokens.ts";

interface UserColumns {
  readonly id: string;
  readonly role: User["role"];
  readonly name: string | null;
  readonly created_at: string;
}

const USER = "id, role, name, created_at";

export type Accounts = Awaited<ReturnType<typeof createAccounts>>;

export async function createAccounts(store: Store) {
  const sql = await store.tables("gateway", MIGRATIONS);
  const { living } = store.node;
  const now = () => new Date().toISOString();
  const find = async (id: string): Promise<Account | undefined> => {
    const row = await sql.get<UserColumns>(`SELECT ${USER} FROM gateway_users WHERE id = ?`, id);
    return row && account(row);
  };

  const hasKeptData = async (id: string, queries: Queries): Promise<boolean> =>
    (await queries.get("SELECT 1 AS one FROM gateway_kept_data WHERE id = ?", id)) !== undefined;

  return {
    ...createInvitations(sql),
    ...createPeople(sql),
    ...createSessions(sql, living),
    ...createTokens(sql, living),
    /** Fails if the data of an earlier user with that id was kept, unless `takesData` is true. */
    async addUser(id: string, role: User["role"], { takesData = false } = {}): Promise<Account> {
      if (!USER_ID.test(id)) {
        const message =
          "A user id must be 1 to 128 letters, digits and . _ @ + -, and start with a letter or digit.";
        throw new Fault("invalid", "bad_user_id", message, { param: "id", usage: true });
      }
      return sql.transaction(async (tx) => {
        const added = await tx.get<UserColumns>(
          `INSERT INTO gateway_users (id, role, created_at) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING ${USER}`,
          id,
          role,
          now(),
        );
        if (added === undefined)
          throw new Fault("invalid", "user_exists", `User "${id}" already exists.`, { param: "id" });
        // Read after the insert, which waits for a removal that is under way on another node.
        if (!takesData && (await hasKeptData(id, tx))) {
          const message = `An earlier user "${id}" was removed and their data was kept. Delete that data, or give it to the new user, with "postern user".`;
          throw new Fault("invalid", "user_has_data", message, { param: "id" });
        }
        await tx.run("DELETE FROM gateway_kept_data WHERE id = ?", id);
        return account(added);
      });
    },
    async setRole(id: string, role: User["role"]): Promise<Account> {
      refuseBuiltIn(id, "role");
      const row = await sql.get<UserColumns>(
        `UPDATE gateway_users SET role = ? WHERE id = ? RETURNING ${USER}`,
        role,
        id,
      );
      if (row === undefined) throw noSuchUser(id);
      return account(row);
    },
    /** Removes the user with all tokens and sessions, then calls `removeData`. */
    async removeUser(
      id: string,
      { withData }: { readonly withData: boolean },
      removeData: () => Promise<void> | void,
    ): Promise<void> {
      const unpair = (queries: Queries) =>
        queries.run("DELETE FROM gateway_pairings WHERE account = ? OR identity = ?", id, id);
      // An identity of a channel has no account, only data.
      if (isIdentity(id) && withData) {
        await unpair(sql);
        await removeData();
        return;
      }
      refuseBuiltIn(id, "id");
      await sql.transaction(async (tx) => {
        const isGone = (await tx.run("DELETE FROM gateway_users WHERE id = ?", id)) > 0;
        if (!isGone && !(withData && (await hasKeptData(id, tx)))) throw noSuchUser(id);
        await unpair(tx);
        // Recorded until the data is deleted: after a crash in between, the next user of the name must not get the data too.
        await tx.run(
          "INSERT INTO gateway_kept_data VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET removed_at = excluded.removed_at",
          id,
          now(),
        );
      });
      await removeData();
      if (withData) await sql.run("DELETE FROM gateway_kept_data WHERE id = ?", id);
    },
    find,
    async mustFind(id: string): Promise<Account> {
      const account = await find(id);
      if (account !== undefined) return account;
      throw noAccount(id, "account");
    },
    async listUsers(): Promise<readonly Account[]> {
      return (await sql.all<UserColumns>(`SELECT ${USER} FROM gateway_users ORDER BY id`)).map(account);
    },
  };
}

function noSuchUser(id: string): Fault {
  const message = `There is no user "${id}": "postern user list" shows all users.`;
  return new Fault("missing", "user_not_found", message, { param: "id" });
}

/** The operator's account always exists. */
function refuseBuiltIn(id: string, param: string): void {
  if (id !== OPERATOR.id) return;
  const message = 'The user "operator" is built in: it can be neither removed nor changed.';
  throw new Fault("invalid", "user_built_in", message, { param });
}

function account({ id, role, name, created_at }: UserColumns): Account {
  return { id, role, name: name ?? undefined, createdAt: created_at };
}
