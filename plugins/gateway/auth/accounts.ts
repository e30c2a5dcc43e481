/** Users, their tokens and their browser sessions. Of a secret only the SHA-256 is kept: it is long and random, so no slow hash is needed. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { Fault, type Sql, type Store } from "../../../kernel/plugin.ts";
import { User } from "../../../kernel/vocabulary/user.ts";
import { type Declared, nullable } from "../../../kernel/vocabulary/wire/form.ts";
import { Time, Type } from "../../../kernel/vocabulary/wire/type.ts";
import { createPeople, type People, USER_ID } from "./people.ts";
import { MIGRATIONS } from "./tables.ts";

const DAY_MILLIS = 86_400_000;
const USED_MILLIS = 60_000;

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

export interface SessionInfo {
  readonly user: User;
  /** Which credential it was made from: it does not outlive that one. */
  readonly source: string;
  readonly expiresAt: string;
}

export interface Accounts extends People {
  addUser(id: string, role: User["role"]): Account;
  findUser(id: string): Account | undefined;
  listUsers(): readonly Account[];
  createToken(
    user: string,
    name: string,
    expiresInDays?: number,
  ): { readonly token: string; readonly info: TokenInfo };
  listTokens(): readonly TokenInfo[];
  revokeToken(id: string): boolean;
  /** The token and its user, where it is neither expired nor revoked. */
  findToken(digest: string): { readonly info: TokenInfo; readonly user: User } | undefined;
  isTokenLive(id: string): boolean;
  markUsed(info: TokenInfo): void;
  openSession(user: string, source: string, expiresAt: Date): string;
  findSession(digest: string): SessionInfo | undefined;
  closeSession(digest: string): void;
}

export function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

export function newSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString("base64url")}`;
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
  const sql: Sql = store.tables("gateway", MIGRATIONS);
  const now = () => new Date().toISOString();
  const findUser = (id: string): Account | undefined => {
    const row = sql.get<UserColumns>(`SELECT ${USER} FROM gateway_users WHERE id = ?`, id);
    return row && account(row);
  };

  return {
    ...createPeople(sql),
    addUser(id, role) {
      if (!USER_ID.test(id))
        throw new Fault(
          "invalid",
          "bad_user_id",
          "A user id must be 1 to 128 letters, digits and . _ @ + -, and start with a letter or digit.",
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
      return findUser(id) as Account;
    },
    findUser,
    listUsers: () => sql.all<UserColumns>(`SELECT ${USER} FROM gateway_users ORDER BY id`).map(account),

    createToken(user, name, expiresInDays) {
      if (!findUser(user))
        throw new Fault(
          "missing",
          "user_not_found",
          `There is no user "${user}": add it first, with "postern user add ${user}" or POST /api/users.`,
          { param: "user" },
        );
      const token = newSecret("postern_");
      const info: TokenInfo = {
        id: randomUUID(),
        user,
        name,
        createdAt: now(),
        ...(expiresInDays !== undefined && {
          expiresAt: new Date(Date.now() + expiresInDays * DAY_MILLIS).toISOString(),
        }),
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
      // To the minute is enough, and spares every request a write.
      if (lastUsedAt !== undefined && Date.now() - Date.parse(lastUsedAt) < USED_MILLIS) return;
      sql.run("UPDATE gateway_tokens SET last_used_at = ? WHERE id = ?", now(), id);
    },

    openSession(user, source, expiresAt) {
      const secret = newSecret("");
      sql.transaction(() => {
        sql.run("DELETE FROM gateway_sessions WHERE expires_at <= ?", now());
        sql.run(
          "INSERT INTO gateway_sessions VALUES (?, ?, ?, ?, ?)",
          digestOf(secret),
          user,
          source,
          now(),
          expiresAt.toISOString(),
        );
      });
      return secret;
    },
    findSession(digest) {
      const row = sql.get<{ user: string; source: string; expires_at: string }>(
        "SELECT user, source, expires_at FROM gateway_sessions WHERE hash = ? AND expires_at > ?",
        digest,
        now(),
      );
      const user = row && findUser(row.user);
      return user && { user: userOf(user), source: row.source, expiresAt: row.expires_at };
    },
    closeSession: (digest) => void sql.run("DELETE FROM gateway_sessions WHERE hash = ?", digest),
  };
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
