/** Browser sessions. Only the hash of a cookie is kept, so a session has an id by which it is listed and ended. */
import { randomUUID } from "node:crypto";
import type { SessionInfo } from "../../../kernel/kit/people.ts";
import type { Sql, User } from "../../../kernel/plugin.ts";
import { boundBy, readScope, toUser } from "./scope.ts";
import { digestOf, newSecret } from "./secret.ts";

export interface FoundSession {
  readonly user: User;
  /** Names the credential it was made from; the session ends with it. */
  readonly source: string;
  /** True if the store knows that credential as valid. It may not know an operator's token. */
  readonly isSourceLive: boolean;
  readonly expiresAt: string;
  readonly lastUsedAt: string | undefined;
}

export interface NewSession {
  readonly user: string;
  readonly source: string;
  readonly expiresAt: Date;
  readonly browser: string | undefined;
  /** The digest of the browser's previous session, which ends. */
  readonly replaces?: string;
  /** The digest of the invitation that it uses up. */
  readonly invitation?: string;
}

interface Columns {
  readonly id: string;
  readonly user: string;
  readonly source: string;
  readonly browser: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly expires_at: string;
}

interface FoundColumns {
  readonly source: string;
  readonly expires_at: string;
  readonly last_used_at: string | null;
  readonly user_id: string;
  readonly role: User["role"];
  readonly name: string | null;
  /** The id of the token it was made from, if that is valid. */
  readonly token: string | null;
  readonly scope: string | null;
  readonly is_live: number;
}

const MAX_BROWSER_LENGTH = 200;

/** Reads the session, its user and its credential in one query, so that nothing can be revoked in between. */
const findSession = (living: string) => `
  SELECT sessions.source, sessions.expires_at, sessions.last_used_at, users.id AS user_id, users.role, users.name,
    tokens.id AS token, tokens.scope,
    CASE
      WHEN sessions.source LIKE 'token:%' THEN
        CASE WHEN tokens.id IS NOT NULL THEN 1 ELSE 0 END
      WHEN sessions.source LIKE 'operator:%' THEN (
        SELECT count(*) FROM gateway_operator_tokens AS printed
        WHERE printed.source = sessions.source AND printed.node IN ${living})
      ELSE 1
    END AS is_live
  FROM gateway_sessions AS sessions JOIN gateway_users AS users ON users.id = sessions."user"
    LEFT JOIN gateway_tokens AS tokens ON sessions.source LIKE 'token:%' AND tokens.id = substr(sessions.source, 7)
      AND tokens.revoked_at IS NULL AND (tokens.expires_at IS NULL OR tokens.expires_at > ?)
  WHERE sessions.hash = ? AND sessions.expires_at > ?`;

export function createSessions(sql: Sql, living: string) {
  const find = findSession(living);
  const now = () => new Date().toISOString();
  return {
    /** Returns the secret for the cookie, or undefined if the user was removed or the invitation used meanwhile. */
    async openSession({
      user,
      source,
      expiresAt,
      browser,
      replaces,
      invitation,
    }: NewSession): Promise<string | undefined> {
      const secret = newSecret("");
      const opened = await sql.transaction(async (tx) => {
        // Deleted first, in the same transaction: of two browsers with one link the second finds nothing to delete.
        const use = "DELETE FROM gateway_invitations WHERE hash = ? AND expires_at > ?";
        if (invitation !== undefined && (await tx.run(use, invitation, now())) === 0) return 0;
        const [added] = await Promise.all([
          tx.run(
            `INSERT INTO gateway_sessions (hash, "user", source, created_at, expires_at, id, browser)
             SELECT ?, id, ?, ?, ?, ?, ? FROM gateway_users WHERE id = ?`,
            digestOf(secret),
            source,
            now(),
            expiresAt.toISOString(),
            randomUUID(),
            // The browser wrote it, so keep only what a terminal can show safely.
            browser?.replace(/[^\x20-\x7e]/g, "?").slice(0, MAX_BROWSER_LENGTH) ?? null,
            user,
          ),
          tx.run("DELETE FROM gateway_sessions WHERE expires_at <= ? OR hash = ?", now(), replaces ?? ""),
        ]);
        return added;
      });
      return opened > 0 ? secret : undefined;
    },
    async findSession(digest: string): Promise<FoundSession | undefined> {
      const at = now();
      const row = await sql.get<FoundColumns>(find, at, digest, at);
      return (
        row && {
          user: boundBy(toUser(row.user_id, row.role, row.name), row.token ?? "", readScope(row.scope)),
          source: row.source,
          isSourceLive: row.is_live > 0,
          expiresAt: row.expires_at,
          lastUsedAt: row.last_used_at ?? undefined,
        }
      );
    },
    async markSessionUsed(digest: string): Promise<void> {
      await sql.run("UPDATE gateway_sessions SET last_used_at = ? WHERE hash = ?", now(), digest);
    },
    async closeSession(digest: string): Promise<void> {
      await sql.run("DELETE FROM gateway_sessions WHERE hash = ?", digest);
    },
    async listSessions(user?: string): Promise<readonly SessionInfo[]> {
      const found = await sql.all<Columns>(
        `SELECT * FROM gateway_sessions WHERE expires_at > ? ${user === undefined ? "" : 'AND "user" = ?'}
         ORDER BY created_at DESC, id`,
        now(),
        ...(user === undefined ? [] : [user]),
      );
      return found.map(sessionInfo);
    },
    /** Returns false if there is no such session, or it is not one of `user`, if given. */
    async endSession(id: string, user?: string): Promise<boolean> {
      const owner = user === undefined ? [] : [user];
      const query = `DELETE FROM gateway_sessions WHERE id = ? ${user === undefined ? "" : 'AND "user" = ?'}`;
      return (await sql.run(query, id, ...owner)) > 0;
    },
    endSessions: (user: string): Promise<number> =>
      sql.run('DELETE FROM gateway_sessions WHERE "user" = ?', user),
  };
}

const VIA: Readonly<Record<string, SessionInfo["via"]>> = {
  token: "token",
  operator: "operator_token",
  invitation: "invitation",
};

function sessionInfo(row: Columns): SessionInfo {
  const [kind = ""] = row.source.split(":");
  return {
    id: row.id,
    user: row.user,
    via: VIA[kind] ?? "identity_provider",
    browser: row.browser ?? undefined,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
    expiresAt: row.expires_at,
  };
}
