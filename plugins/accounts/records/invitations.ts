/** Invitations: links that open one browser session, once, within a few days. Only the hash of the secret is kept. */
import { randomUUID } from "node:crypto";
import type { InvitationInfo } from "../../../kernel/kit/people.ts";
import { Fault, type Sql } from "../../../kernel/plugin.ts";
import { digestOf, newSecret } from "./secret.ts";
import { inDays, noAccount, OPERATOR } from "./tokens.ts";

const PREFIX = "postern_invite_";
const DEFAULT_DAYS = 7;
export const MAX_INVITATION_DAYS = 30;
const MAX_OPEN_INVITATIONS = 500;

interface Columns {
  readonly id: string;
  readonly user: string;
  readonly created_at: string;
  readonly expires_at: string;
}

export const isInvitation = (secret: string): boolean => secret.startsWith(PREFIX);

export function createInvitations(sql: Sql) {
  const now = () => new Date().toISOString();
  return {
    async invite(
      user: string,
      expiresInDays = DEFAULT_DAYS,
    ): Promise<{ readonly secret: string; readonly info: InvitationInfo }> {
      // Its sessions end when its token is changed, which a session without a token would not.
      if (user === OPERATOR.id)
        throw new Fault(
          "invalid",
          "user_built_in",
          'The user "operator" signs in with the operator token. Invite somebody else, or use the link that Postern prints when it starts.',
          { param: "user" },
        );
      const secret = newSecret(PREFIX);
      const info = { id: randomUUID(), user, createdAt: now(), expiresAt: inDays(expiresInDays) };
      await sql.transaction(async (tx) => {
        await tx.run("DELETE FROM gateway_invitations WHERE expires_at <= ?", now());
        const open = await tx.get<{ readonly count: number }>(
          "SELECT count(*) AS count FROM gateway_invitations",
        );
        if (Number(open?.count ?? 0) >= MAX_OPEN_INVITATIONS) {
          const message = `${MAX_OPEN_INVITATIONS} invitations are open already. Withdraw some, or wait until they expire.`;
          throw new Fault("limited", "too_many_invitations", message);
        }
        const added = await tx.run(
          `INSERT INTO gateway_invitations (id, "user", hash, created_at, expires_at)
           SELECT ?, id, ?, ?, ? FROM gateway_users WHERE id = ?`,
          info.id,
          digestOf(secret),
          info.createdAt,
          info.expiresAt,
          user,
        );
        if (added === 0) throw noAccount(user, "user");
      });
      return { secret, info };
    },
    async listInvitations(): Promise<readonly InvitationInfo[]> {
      const found = await sql.all<Columns>(
        'SELECT id, "user", created_at, expires_at FROM gateway_invitations WHERE expires_at > ? ORDER BY created_at DESC, id',
        now(),
      );
      return found.map(({ id, user, created_at, expires_at }) => ({
        ...{ id, user, createdAt: created_at, expiresAt: expires_at },
      }));
    },
    async withdrawInvitation(id: string): Promise<boolean> {
      return (await sql.run("DELETE FROM gateway_invitations WHERE id = ?", id)) > 0;
    },
    /** Returns whom an open invitation is for. */
    async findInvitation(digest: string): Promise<string | undefined> {
      const row = await sql.get<{ readonly user: string }>(
        'SELECT "user" FROM gateway_invitations WHERE hash = ? AND expires_at > ?',
        digest,
        now(),
      );
      return row?.user;
    },
  };
}
