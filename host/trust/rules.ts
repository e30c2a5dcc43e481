/** Whose signature is needed for which tools. Rows of the store: the same on every node. */

import { hash } from "node:crypto";
import { defineTables } from "../../kernel/kit/store.ts";
import type { ToolOrigin } from "../../kernel/kit/tools.ts";
import { Fault } from "../../kernel/plugin.ts";
import type { Store } from "../../plugins/store/services.ts";
import { comparePrecision, isFor, type Pattern, parsePattern, placeOf } from "./pattern.ts";

export type NamedSigner =
  | { readonly type: "key"; readonly pem: string; readonly fingerprint: string }
  | {
      readonly type: "identity";
      /** Ends with `*` where the rest may be anything. */
      readonly subject: string;
      readonly issuer: string;
      /** JSON; the public Sigstore's where there is none. */
      readonly trustedRoot?: string;
    };

export interface TrustRule {
  readonly id: string;
  readonly pattern: string;
  readonly signer: NamedSigner;
  readonly addedAt: string;
}

export type TrustRules = Awaited<ReturnType<typeof openTrustRules>>;

export const OWNER = "trust";
const MAX_RULES = 1000;

export const TABLES = defineTables(
  ({ text }) => `CREATE TABLE trust_rules (
    id ${text} PRIMARY KEY, pattern ${text} NOT NULL, signer ${text} NOT NULL, added_at ${text} NOT NULL
  )`,
);

interface Row {
  readonly id: string;
  readonly pattern: string;
  readonly signer: string;
  readonly added_at: string;
}

export async function openTrustRules(store: Store) {
  const sql = await store.tables(OWNER, TABLES);
  // Read at every question: a rule that another node added a moment ago holds here too.
  const list = async () => {
    const rows = await sql.all<Row>(
      "SELECT id, pattern, signer, added_at FROM trust_rules ORDER BY pattern, added_at, id",
    );
    return rows.map(toRule);
  };
  return {
    list,
    /** Undefined where there is the same rule already. */
    async add(pattern: string, signer: NamedSigner): Promise<TrustRule | undefined> {
      const rule = { id: idOf(pattern, signer), pattern, signer, addedAt: new Date().toISOString() };
      if ((await list()).length >= MAX_RULES)
        throw new Fault("invalid", "trust_rules", `there are ${MAX_RULES} trust rules; remove some first`);
      const added = await sql.run(
        "INSERT INTO trust_rules (id, pattern, signer, added_at) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        rule.id,
        pattern,
        JSON.stringify(signer),
        rule.addedAt,
      );
      return added === 1 ? rule : undefined;
    },
    /** By id, or all of a pattern; returns what was removed. */
    remove: (idOrPattern: string) =>
      sql.transaction(async (tx) => {
        const rows = await tx.all<Row>(
          "SELECT id, pattern, signer, added_at FROM trust_rules WHERE id = ? OR pattern = ?",
          idOrPattern,
          idOrPattern,
        );
        for (const { id } of rows) await tx.run("DELETE FROM trust_rules WHERE id = ?", id);
        return rows.map(toRule);
      }),
    /** The rules with the most precise pattern that matches: any one of them is enough, and no other counts. */
    async matching(origin: ToolOrigin): Promise<readonly TrustRule[]> {
      const place = placeOf(origin);
      if (place === undefined) return [];
      const found = (await list())
        .map((rule) => ({ rule, pattern: parsePattern(rule.pattern) }))
        .filter(({ pattern }) => isFor(pattern, place));
      const best = found.reduce<Pattern | undefined>(
        (most, { pattern }) => (most === undefined || comparePrecision(pattern, most) > 0 ? pattern : most),
        undefined,
      );
      return found
        .filter(({ pattern }) => best !== undefined && comparePrecision(pattern, best) === 0)
        .map(({ rule }) => rule);
    },
  };
}

/** The same rule has the same id, so that adding it twice is adding it once. */
function idOf(pattern: string, signer: NamedSigner): string {
  return hash("sha256", JSON.stringify([pattern, signer])).slice(0, 12);
}

function toRule({ id, pattern, signer, added_at }: Row): TrustRule {
  return { id, pattern, signer: JSON.parse(signer) as NamedSigner, addedAt: added_at };
}
