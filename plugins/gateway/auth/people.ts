/** Who an identity provider says somebody is, and which account that is here. */
import { createHash } from "node:crypto";
import type { SyncSql } from "../../../kernel/plugin.ts";

/** A person is the issuer and the subject: those stay, and nobody can choose them. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  /** Only where the provider has verified it. */
  readonly email?: string;
}

export interface People {
  /** The account of a person, made where there is none. */
  admit(person: Person): { readonly id: string; readonly isNew: boolean };
}

/** What an account's id may be; an e-mail address that is none finds no account. */
export const USER_ID = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$/;

export function createPeople(sql: SyncSql): People {
  const now = () => new Date().toISOString();
  const isUnclaimed = (id: string) =>
    sql.get(
      "SELECT 1 FROM gateway_users WHERE id = ? AND NOT EXISTS (SELECT 1 FROM gateway_identities WHERE user = id)",
      id,
    ) !== undefined;

  const claim = ({ issuer, subject, email }: Person) => {
    const [own = "", other = ""] = idsOf(issuer, subject);
    // Added beforehand by its address; or made for this subject before the issuer was kept.
    const waiting = [email ?? "", own].find((id) => (id === own || USER_ID.test(id)) && isUnclaimed(id));
    const id = waiting ?? (hasUser(own) ? other : own);
    if (waiting === undefined)
      sql.run("INSERT INTO gateway_users (id, role, created_at) VALUES (?, 'user', ?)", id, now());
    sql.run("INSERT INTO gateway_identities VALUES (?, ?, ?, ?)", issuer, subject, id, now());
    return { id, isNew: waiting === undefined };
  };
  const hasUser = (id: string) => sql.get("SELECT 1 FROM gateway_users WHERE id = ?", id) !== undefined;

  return {
    admit(person) {
      const { issuer, subject, email = null } = person;
      const known = sql.get<{ id: string; name: string | null }>(
        `SELECT users.id, users.name FROM gateway_identities AS identities JOIN gateway_users AS users ON users.id = identities.user
         WHERE issuer = ? AND subject = ?`,
        issuer,
        subject,
      );
      if (known && known.name === email) return { id: known.id, isNew: false };
      return sql.transaction(() => {
        const admitted = known ? { id: known.id, isNew: false } : claim(person);
        sql.run("UPDATE gateway_users SET name = ? WHERE id = ?", email, admitted.id);
        return admitted;
      });
    },
  };
}

/** The colon keeps a provider from naming somebody like an account of ours; the second is for a subject that two issuers have. */
function idsOf(issuer: string, subject: string): readonly string[] {
  const digest = createHash("sha256").update(`${issuer}\n${subject}`).digest("hex").slice(0, 16);
  const isPlain = /^[!-~]{1,128}$/.test(subject);
  return [`oidc:${isPlain ? subject : digest}`, `oidc:${digest}:${isPlain ? subject : "other"}`];
}
