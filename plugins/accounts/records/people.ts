/** The people of an identity provider, and the account that each of them has here. */
import { createHash } from "node:crypto";
import type { Queries, Sql, Transaction, User } from "../../../kernel/plugin.ts";
import { toUser } from "./scope.ts";

/** A person is identified by issuer and subject: those never change, and nobody can choose them. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  /** Present only if the provider has verified it. */
  readonly email?: string;
}

export interface People {
  /** Returns the account of a person, and creates it if there is none. */
  admit(person: Person): Promise<{ readonly user: User; readonly isNew: boolean }>;
}

/** The form of an account's id. An e-mail address of another form finds no account. */
export const USER_ID = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$/;

interface Known {
  readonly id: string;
  readonly role: User["role"];
  readonly name: string | null;
}

export function createPeople(sql: Sql): People {
  return {
    async admit(person) {
      const email = person.email ?? null;
      const known = await find(sql, person);
      if (known && known.name === email)
        return { user: toUser(known.id, known.role, known.name), isNew: false };
      return sql.transaction(async (tx) => {
        // This row is a lock: if two nodes meet the same new person at once, the second finds what the first made.
        await tx.run("UPDATE gateway_users SET role = role WHERE id = 'operator'");
        const before = await find(tx, person);
        const { id, role, isNew } = before ? { ...before, isNew: false } : await claim(tx, person);
        await tx.run("UPDATE gateway_users SET name = ? WHERE id = ?", email, id);
        return { user: toUser(id, role, email), isNew };
      });
    },
  };
}

function find(queries: Queries, { issuer, subject }: Person): Promise<Known | undefined> {
  return queries.get<Known>(
    `SELECT users.id, users.role, users.name
     FROM gateway_identities AS identities JOIN gateway_users AS users ON users.id = identities."user"
     WHERE issuer = ? AND subject = ?`,
    issuer,
    subject,
  );
}

interface Claimed {
  readonly id: string;
  readonly role: User["role"];
  readonly isNew: boolean;
}

async function claim(tx: Transaction, { issuer, subject, email }: Person): Promise<Claimed> {
  const [own = "", other = ""] = idsOf(issuer, subject);
  const now = new Date().toISOString();
  const isUnclaimed = (id: string) =>
    tx.get<Pick<Known, "id" | "role">>(
      `SELECT id, role FROM gateway_users
       WHERE id = ? AND NOT EXISTS (SELECT 1 FROM gateway_identities WHERE "user" = gateway_users.id)`,
      id,
    );
  // The account may have been added beforehand under the e-mail address.
  const waiting = email !== undefined && USER_ID.test(email) ? await isUnclaimed(email) : undefined;
  const identify = (id: string) =>
    tx.run("INSERT INTO gateway_identities VALUES (?, ?, ?, ?)", issuer, subject, id, now);
  if (waiting !== undefined) {
    await identify(waiting.id);
    return { ...waiting, isNew: false };
  }
  const isTaken = (await tx.get("SELECT 1 AS one FROM gateway_users WHERE id = ?", own)) !== undefined;
  const id = isTaken ? other : own;
  await tx.run("INSERT INTO gateway_users (id, role, created_at) VALUES (?, 'user', ?)", id, now);
  await identify(id);
  return { id, role: "user", isNew: true };
}

/** The colon keeps a provider from naming somebody like an account of ours. The second id is for a subject that two issuers have. */
function idsOf(issuer: string, subject: string): readonly string[] {
  const digest = createHash("sha256").update(`${issuer}\n${subject}`).digest("hex").slice(0, 16);
  const isPlain = /^[!-~]{1,128}$/.test(subject);
  return [`oidc:${isPlain ? subject : digest}`, `oidc:${digest}:${isPlain ? subject : "other"}`];
}
