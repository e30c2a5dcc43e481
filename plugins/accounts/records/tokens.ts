/** People's tokens, and those that nodes have printed for the operator. Only their hashes are kept. */
import { randomUUID } from "node:crypto";
import type { NewToken, TokenInfo } from "../../../kernel/kit/people.ts";
import { Fault, type Sql, type User } from "../../../kernel/plugin.ts";
import { type AvailableHere, boundBy, readScope, scopeIn, toUser, warningsOf } from "./scope.ts";
import { digestOf, newSecret } from "./secret.ts";

const DAY_MS = 86_400_000;
/** Uses are stored to the minute, which spares every request a write. */
export const USED_MS = 60_000;

export const OPERATOR: User = { id: "operator", role: "operator" };

export interface FoundToken {
  readonly user: User;
  /** Names the token: a session made from it ends with it. */
  readonly source: string;
  readonly expiresAt?: string;
  /** Absent for a token that another node printed. */
  readonly info?: TokenInfo;
}

export type Tokens = ReturnType<typeof createTokens>;

interface TokenColumns {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  readonly scope: string | null;
}

/** A token with its user, or a node's printed token, which has only a source. */
interface FoundColumns extends TokenColumns {
  readonly source: string | null;
  readonly role: User["role"];
  readonly user_name: string | null;
}

const TOKEN_SOURCE = "token:";
const TOKEN = 'id, "user", name, created_at, expires_at, last_used_at, revoked_at, scope';
const LIVE = "revoked_at IS NULL AND (tokens.expires_at IS NULL OR tokens.expires_at > ?)";

/** Finds both kinds of token in one query, since a request does not say which kind it presents. */
const findToken = (living: string) => `
  SELECT tokens.id, tokens."user", tokens.name, tokens.created_at, tokens.expires_at, tokens.last_used_at,
    tokens.revoked_at, tokens.scope, users.role, users.name AS user_name, NULL AS source
  FROM gateway_tokens AS tokens JOIN gateway_users AS users ON users.id = tokens."user"
  WHERE tokens.hash = ? AND ${LIVE}
  UNION ALL
  SELECT '', '', '', '', NULL, NULL, NULL, NULL, '', NULL, source
  FROM gateway_operator_tokens WHERE hash = ? AND node IN ${living}`;

export function createTokens(sql: Sql, living: string) {
  const find = findToken(living);
  const now = () => new Date().toISOString();
  return {
    async createToken(
      user: string,
      name: string,
      options: NewToken = {},
      here?: AvailableHere,
    ): Promise<{
      readonly token: string;
      readonly info: TokenInfo;
      /** Names in its scope that are not in `here`. */
      readonly warnings: readonly string[];
    }> {
      const scope = scopeIn(options);
      const { expiresInDays } = options;
      const token = newSecret("postern_");
      const info: TokenInfo = {
        id: randomUUID(),
        user,
        name,
        ...scope,
        createdAt: now(),
        expiresAt: typeof expiresInDays === "number" ? inDays(expiresInDays) : undefined,
      };
      const added = await sql.run(
        `INSERT INTO gateway_tokens (id, "user", name, hash, created_at, expires_at, scope)
         SELECT ?, id, ?, ?, ?, ?, ? FROM gateway_users WHERE id = ?`,
        info.id,
        name,
        digestOf(token),
        info.createdAt,
        info.expiresAt ?? null,
        scope === undefined ? null : JSON.stringify(scope),
        user,
      );
      if (added === 0) throw noAccount(user, "user");
      return { token, info, warnings: scope && here ? warningsOf(scope, here) : [] };
    },
    async listTokens(): Promise<readonly TokenInfo[]> {
      const query = `SELECT ${TOKEN} FROM gateway_tokens ORDER BY created_at DESC, id`;
      return (await sql.all<TokenColumns>(query)).map(tokenInfo);
    },
    async revokeToken(id: string): Promise<boolean> {
      const revoke = "UPDATE gateway_tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL";
      return (await sql.run(revoke, now(), id)) > 0;
    },
    /** Counts from now; undefined means that the token never expires. */
    async setExpiry(id: string, expiresInDays: number | undefined): Promise<TokenInfo> {
      const until = expiresInDays === undefined ? null : inDays(expiresInDays);
      const row = await sql.get<TokenColumns>(
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
    /** Returns the token and its user unless it is expired or revoked. */
    async findToken(digest: string): Promise<FoundToken | undefined> {
      const row = await sql.get<FoundColumns>(find, digest, now(), digest);
      return row && foundToken(row);
    },
    /** True unless the credential with this source, which was presented before, is expired or revoked. */
    async isSourceLive(source: string): Promise<boolean> {
      const found = source.startsWith(TOKEN_SOURCE)
        ? sql.get(
            `SELECT 1 AS one FROM gateway_tokens AS tokens WHERE id = ? AND ${LIVE}`,
            source.slice(TOKEN_SOURCE.length),
            now(),
          )
        : sql.get(
            `SELECT 1 AS one FROM gateway_operator_tokens WHERE source = ? AND node IN ${living}`,
            source,
          );
      return (await found) !== undefined;
    },
    async markUsed({ id, lastUsedAt }: TokenInfo): Promise<void> {
      if (lastUsedAt !== undefined && Date.now() - Date.parse(lastUsedAt) < USED_MS) return;
      await sql.run("UPDATE gateway_tokens SET last_used_at = ? WHERE id = ?", now(), id);
    },
  };
}

export function noAccount(id: string, param: string): Fault {
  const message = `There is no user "${id}": add it first, with "postern user add ${id}" or POST /api/users.`;
  return new Fault("missing", "user_not_found", message, { param });
}

function foundToken(row: FoundColumns): FoundToken {
  if (row.source !== null) return { user: OPERATOR, source: row.source };
  const info = tokenInfo(row);
  return {
    info,
    user: boundBy(toUser(row.user, row.role, row.user_name), row.id, readScope(row.scope)),
    source: `${TOKEN_SOURCE}${info.id}`,
    expiresAt: info.expiresAt,
  };
}

export const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

function tokenInfo(row: TokenColumns): TokenInfo {
  return {
    id: row.id,
    user: row.user,
    name: row.name,
    ...readScope(row.scope),
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  };
}
