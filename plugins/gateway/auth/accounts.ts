/** Users, their tokens and their browser sessions. Of a secret only the SHA-256 is kept: it is long and random, so no slow hash is needed. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { Fault, type Sql, type Store } from "../../../kernel/plugin.ts";
import { User } from "../../../kernel/vocabulary/user.ts";
import { type Declared, nullable } from "../../../kernel/vocabulary/wire/form.ts";
import { Time, Type } from "../../../kernel/vocabulary/wire/type.ts";

const MIGRATIONS = [
  `CREATE TABLE gateway_users (
    id TEXT PRIMARY KEY, role TEXT NOT NULL, created_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO gateway_users VALUES ('operator', 'operator', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));

  CREATE TABLE gateway_tokens (
    id TEXT PRIMARY KEY,
    user TEXT NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    last_used_at TEXT,
    revoked_at TEXT
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE gateway_sessions (
    hash TEXT PRIMARY KEY,
    user TEXT NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;`,
];

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

export interface Accounts {
  addUser(id: string, role: User["role"]): Account;
  /** Makes a user who signed in by a third party known here; answers who that is. */
  admit(id: string): User;
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

const TOKEN = "id, user, name, created_at, expires_at, last_used_at, revoked_at";
const LIVE = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)";

export function createAccounts(store: Store): Accounts {
  const sql: Sql = store.tables("gateway", MIGRATIONS);
  const now = () => new Date().toISOString();
  const findUser = (id: string): Account | undefined => {
    const row = sql.get<{ id: string; role: User["role"]; created_at: string }>(
      "SELECT id, role, created_at FROM gateway_users WHERE id = ?",
      id,
    );
    return row && { id: row.id, role: row.role, createdAt: row.created_at };
  };
  const insertUser = (id: string, role: User["role"]) =>
    sql.run("INSERT OR IGNORE INTO gateway_users VALUES (?, ?, ?)", id, role, now()).changes > 0;

  return {
    addUser(id, role) {
      if (!/^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$/.test(id))
        throw new Fault(
          "invalid",
          "bad_user_id",
          "A user id must be 1 to 128 letters, digits and . _ @ + -, and start with a letter or digit.",
          { param: "id" },
        );
      if (!insertUser(id, role))
        throw new Fault("invalid", "user_exists", `User "${id}" already exists.`, { param: "id" });
      return findUser(id) as Account;
    },
    admit(id) {
      const known = findUser(id);
      if (!known) insertUser(id, "user");
      return { id, role: known?.role ?? "user" };
    },
    findUser,
    listUsers: () =>
      sql
        .all<{ id: string; role: User["role"]; created_at: string }>(
          "SELECT * FROM gateway_users ORDER BY id",
        )
        .map(({ id, role, created_at }) => ({ id, role, createdAt: created_at })),

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
      return user && { info: tokenInfo(row), user: { id: user.id, role: user.role } };
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
      const row = sql.get<{ id: string; role: User["role"]; source: string; expires_at: string }>(
        `SELECT users.id, users.role, sessions.source, sessions.expires_at FROM gateway_sessions AS sessions
         JOIN gateway_users AS users ON users.id = sessions.user
         WHERE sessions.hash = ? AND sessions.expires_at > ?`,
        digest,
        now(),
      );
      return row && { user: { id: row.id, role: row.role }, source: row.source, expiresAt: row.expires_at };
    },
    closeSession: (digest) => void sql.run("DELETE FROM gateway_sessions WHERE hash = ?", digest),
  };
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
