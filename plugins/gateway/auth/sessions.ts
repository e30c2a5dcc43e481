/** Browser sessions: of the cookie only the hash is kept, so a session has an id to be listed and ended by. */
import { randomUUID } from "node:crypto";
import type { SyncSql, User } from "../../../kernel/plugin.ts";
import { type Declared, nullable } from "../../../kernel/vocabulary/wire/form.ts";
import { Time, Type } from "../../../kernel/vocabulary/wire/type.ts";
import { digestOf, newSecret } from "./secret.ts";

export const SessionInfo = Type.Object(
  {
    id: Type.String(),
    user: Type.String(),
    via: Type.Enum(["token", "operator_token", "identity_provider"], {
      description: "What it was signed in with; it ends with that",
    }),
    browser: nullable(Type.String({ description: "What the browser calls itself" })),
    createdAt: Time,
    lastUsedAt: nullable(Time),
    expiresAt: Time,
  },
  { $id: "BrowserSession" },
);
export type SessionInfo = Declared<typeof SessionInfo>;

export interface FoundSession {
  readonly user: User;
  /** Which credential it was made from: it does not outlive that one. */
  readonly source: string;
  readonly expiresAt: string;
  readonly lastUsedAt: string | undefined;
}

export interface NewSession {
  readonly user: string;
  readonly source: string;
  readonly expiresAt: Date;
  readonly browser: string | undefined;
}

export interface Sessions {
  /** Answers the cookie's secret. */
  openSession(session: NewSession): string;
  findSession(digest: string): FoundSession | undefined;
  markSessionUsed(digest: string): void;
  closeSession(digest: string): void;
  /** Newest first; of all users, or of one. */
  listSessions(user?: string): readonly SessionInfo[];
  /** By its id; of that user alone, where one is named. False where there is none. */
  endSession(id: string, user?: string): boolean;
  /** All of a user's; answers how many. */
  endSessions(user: string): number;
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

const LONGEST_BROWSER = 200;

export function createSessions(sql: SyncSql, findUser: (id: string) => User | undefined): Sessions {
  const now = () => new Date().toISOString();
  return {
    openSession({ user, source, expiresAt, browser }) {
      const secret = newSecret("");
      sql.transaction(() => {
        sql.run("DELETE FROM gateway_sessions WHERE expires_at <= ?", now());
        sql.run(
          "INSERT INTO gateway_sessions (hash, user, source, created_at, expires_at, id, browser) VALUES (?, ?, ?, ?, ?, ?, ?)",
          digestOf(secret),
          user,
          source,
          now(),
          expiresAt.toISOString(),
          randomUUID(),
          // Written by whoever signs in: only what a terminal can show.
          browser?.replace(/[^\x20-\x7e]/g, "?").slice(0, LONGEST_BROWSER) ?? null,
        );
      });
      return secret;
    },
    findSession(digest) {
      const row = sql.get<Columns>(
        "SELECT * FROM gateway_sessions WHERE hash = ? AND expires_at > ?",
        digest,
        now(),
      );
      const user = row && findUser(row.user);
      return (
        user && {
          user,
          source: row.source,
          expiresAt: row.expires_at,
          lastUsedAt: row.last_used_at ?? undefined,
        }
      );
    },
    markSessionUsed: (digest) =>
      void sql.run("UPDATE gateway_sessions SET last_used_at = ? WHERE hash = ?", now(), digest),
    closeSession: (digest) => void sql.run("DELETE FROM gateway_sessions WHERE hash = ?", digest),
    listSessions: (user) =>
      sql
        .all<Columns>(
          "SELECT * FROM gateway_sessions WHERE expires_at > ?1 AND (?2 IS NULL OR user = ?2) ORDER BY created_at DESC, id",
          now(),
          user ?? null,
        )
        .map(sessionInfo),
    endSession: (id, user) =>
      sql.run("DELETE FROM gateway_sessions WHERE id = ?1 AND (?2 IS NULL OR user = ?2)", id, user ?? null)
        .changes > 0,
    endSessions: (user) => sql.run("DELETE FROM gateway_sessions WHERE user = ?", user).changes,
  };
}

function sessionInfo({
  id,
  user,
  source,
  browser,
  created_at,
  last_used_at,
  expires_at,
}: Columns): SessionInfo {
  return {
    id,
    user,
    via: source.startsWith("token:")
      ? "token"
      : source.startsWith("operator:")
        ? "operator_token"
        : "identity_provider",
    ...(browser !== null && { browser }),
    createdAt: created_at,
    ...(last_used_at !== null && { lastUsedAt: last_used_at }),
    expiresAt: expires_at,
  };
}
