/** Users and their tokens, with what `people.ts` and `sessions.ts` keep of them. */
import { randomUUID } from "node:crypto";
import { Fault, type Store, type SyncSql } from "../../../kernel/plugin.ts";
import { isWebhookIdentity, User } from "../../../kernel/vocabulary/user.ts";
import { type Declared, nullable } from "../../../kernel/vocabulary/wire/form.ts";
import { Time, Type } from "../../../kernel/vocabulary/wire/type.ts";
import { createPeople, type People, USER_ID } from "./people.ts";
import { digestOf, newSecret } from "./secret.ts";
import { createSessions, type Sessions } from "./sessions.ts";
import { MIGRATIONS } from "./tables.ts";

const DAY_MILLIS = 86_400_000;
/** Uses are noted to the minute: enough, and it spares every request a write. */
export const USED_MILLIS = 60_000;

/** The user of the operator's own tokens; always there. */
export const OPERATOR: User = { id: "operator", role: "operator" };

export const Account = Type.Object({ ...User.properties, createdAt: Time }, { $id: "Account" });
export type Account = Declared<typeof Account>;

export const TokenInfo = Type.Object(
  {
    id: Type.String(),
    user: Type.String(),
    name: Type.String(),
    createdAt: Time,
    expiresAt: nullable(Time),
    lastUsedAt: nullable(Time),
    revokedAt: nullable(Time),
  },
  { $id: "Token" },
);
export type TokenInfo = Declared<typeof TokenInfo>;

export interface Accounts extends People, Sessions {
  /** Where the data of an earlier user of that id was kept, only with `takesData`. */
  addUser(id: string, role: User["role"], options?: { readonly takesData?: boolean }): Account;
  setRole(id: string, role: User["role"]): Account;
  /** With all tokens and sessions. A user who is gone already but whose data was kept counts as there, as does a webhook identity. */
  removeUser(id: string, options: { readonly withData: boolean }): void;
  findUser(id: string): Account | undefined;
  listUsers(): readonly Account[];
  createToken(
    user: string,
    name: string,
    expiresInDays?: number,
  ): { readonly token: string; readonly info: TokenInfo };
  listTokens(): readonly TokenInfo[];
  revokeToken(id: string): boolean;
  /** From now on; undefined for never. */
  setExpiry(id: string, expiresInDays: number | undefined): TokenInfo;
  /** The token and its user, where it is neither expired nor revoked. */
  findToken(digest: string): { readonly info: TokenInfo; readonly user: User } | undefined;
  isTokenLive(id: string): boolean;
  markUsed(info: TokenInfo): void;
}

interface TokenColumns {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

interface UserColumns {
  readonly id: string;
  readonly role: User["role"];
  readonly name: string | null;
  readonly created_at: string;
}

const USER = "id, role, name, created_at";
const TOKEN = "id, user, name, created_at, expires_at, last_used_at, revoked_at";
const LIVE = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)";

export function createAccounts(store: Store): Accounts {
  const sql: SyncSql = store.syncTables("gateway", MIGRATIONS);
  const now = () => new Date().toISOString();
  const findUser = (id: string): Account | undefined => {
    const row = sql.get<UserColumns>(`SELECT ${USER} FROM gateway_users WHERE id = ?`, id);
    return row && account(row);
  };

  const hasKeptData = (id: string) =>
    sql.get("SELECT 1 FROM gateway_kept_data WHERE id = ?", id) !== undefined;

  return {
    ...createPeople(sql),
    ...createSessions(sql, (id) => {
      const found = findUser(id);
      return found && userOf(found);
    }),
    addUser(id, role, { takesData = false } = {}) {
      if (!USER_ID.test(id))
        throw new Fault(
          "invalid",
          "bad_user_id",
          "A user id must be 1 to 128 letters, digits and . _ @ + -, and start with a letter or digit.",
          { param: "id", usage: true },
        );
      if (!takesData && hasKeptData(id))
        throw new Fault(
          "invalid",
          "user_has_data",
          `An earlier user "${id}" was removed and their data kept. Delete it with "postern user remove ${id} --with-data", or give it to the new one (--take-data, or take_data).`,
          { param: "id" },
        );
      const added = sql.run(
        "INSERT OR IGNORE INTO gateway_users (id, role, created_at) VALUES (?, ?, ?)",
        id,
        role,
        now(),
      );
      if (added.changes === 0)
        throw new Fault("invalid", "user_exists", `User "${id}" already exists.`, { param: "id" });
      sql.run("DELETE FROM gateway_kept_data WHERE id = ?", id);
      return findUser(id) as Account;
    },
    setRole(id, role) {
      refuseBuiltIn(id, "role");
      if (sql.run("UPDATE gateway_users SET role = ? WHERE id = ?", role, id).changes === 0)
        throw noSuchUser(id, "id");
      return findUser(id) as Account;
    },
    removeUser(id, { withData }) {
      // It has no account, only data.
      if (isWebhookIdentity(id) && withData) return;
      refuseBuiltIn(id, "id");
      sql.transaction(() => {
        const isGone = sql.run("DELETE FROM gateway_users WHERE id = ?", id).changes > 0;
        if (!isGone && !(withData && hasKeptData(id))) throw noSuchUser(id, "id");
        sql.run(
          withData
            ? "DELETE FROM gateway_kept_data WHERE id = ?1"
            : "INSERT OR REPLACE INTO gateway_kept_data VALUES (?1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
          id,
        );
      });
    },
    findUser,
    listUsers: () => sql.all<UserColumns>(`SELECT ${USER} FROM gateway_users ORDER BY id`).map(account),

    createToken(user, name, expiresInDays) {
      if (!findUser(user)) throw noSuchUser(user, "user");
      const token = newSecret("postern_");
      const info: TokenInfo = {
        id: randomUUID(),
        user,
        name,
        createdAt: now(),
        ...(expiresInDays !== undefined && { expiresAt: inDays(expiresInDays) }),
      };
      sql.run(
        "INSERT INTO gateway_tokens (id, user, name, hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
        info.id,
        user,
        name,
        digestOf(token),
        info.createdAt,
        info.expiresAt ?? null,
      );
      return { token, info };
    },
    listTokens: () =>
      sql
        .all<TokenColumns>(`SELECT ${TOKEN} FROM gateway_tokens ORDER BY created_at DESC, id`)
        .map(tokenInfo),
    revokeToken: (id) =>
      sql.run("UPDATE gateway_tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", now(), id)
        .changes > 0,
    setExpiry(id, expiresInDays) {
      const until = expiresInDays === undefined ? null : inDays(expiresInDays);
      const row = sql.get<TokenColumns>(
        `UPDATE gateway_tokens SET expires_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING ${TOKEN}`,
        until,
        id,
      );
      if (row === undefined)
        throw new Fault("missing", "token_not_found", "There is no such token, or it is revoked.", {
          param: "id",
        });
      return tokenInfo(row);
    },
    findToken(digest) {
      const row = sql.get<TokenColumns>(
        `SELECT ${TOKEN} FROM gateway_tokens WHERE hash = ? AND ${LIVE}`,
        digest,
        now(),
      );
      const user = row && findUser(row.user);
      return user && { info: tokenInfo(row), user: userOf(user) };
    },
    isTokenLive: (id) =>
      sql.get(`SELECT 1 FROM gateway_tokens WHERE id = ? AND ${LIVE}`, id, now()) !== undefined,
    markUsed({ id, lastUsedAt }) {
      if (lastUsedAt !== undefined && Date.now() - Date.parse(lastUsedAt) < USED_MILLIS) return;
      sql.run("UPDATE gateway_tokens SET last_used_at = ? WHERE id = ?", now(), id);
    },
  };
}

const inDays = (days: number) => new Date(Date.now() + days * DAY_MILLIS).toISOString();

function noSuchUser(id: string, param: string): Fault {
  // Whoever makes a token for somebody wants them to be there; whoever changes or removes somebody has mistyped.
  const hint =
    param === "user"
      ? `add it first, with "postern user add ${id}" or POST /api/users`
      : '"postern user list" shows all users';
  const message = `There is no user "${id}": ${hint}.`;
  return new Fault("missing", "user_not_found", message, { param });
}

/** Whoever runs this Postern is always there. */
function refuseBuiltIn(id: string, param: string): void {
  if (id !== OPERATOR.id) return;
  const message = 'The user "operator" is built in: it can be neither removed nor changed.';
  throw new Fault("invalid", "user_built_in", message, { param });
}

function account({ id, role, name, created_at }: UserColumns): Account {
  return { id, role, ...(name !== null && { name }), createdAt: created_at };
}

/** What a request carries of an account. */
export function userOf({ createdAt: _, ...user }: Account): User {
  return user;
}

function tokenInfo(row: TokenColumns): TokenInfo {
  return {
    id: row.id,
    user: row.user,
    name: row.name,
    createdAt: row.created_at,
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    ...(row.last_used_at !== null && { lastUsedAt: row.last_used_at }),
    ...(row.revoked_at !== null && { revokedAt: row.revoked_at }),
  };
}
