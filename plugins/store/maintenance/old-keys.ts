/** What `postern doctor` says about keys that are listed only to open what is old. */
import { existsSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Finding, OwnedTables, Queries, SharedStore, SqlValue } from "../../../kernel/plugin.ts";
import { fileOf, type StoreSettings } from "../config/settings.ts";
import { createRing } from "../keys/keyring.ts";
import { type Count, survey } from "../keys/rotation.ts";
import { keyFileOf, parseKeys } from "../keys/secrets-key.ts";

interface Parts {
  readonly home: string;
  readonly store: StoreSettings;
  readonly owned: readonly OwnedTables[];
  readonly shared: SharedStore | "unreachable" | undefined;
}

/** Nothing where there is no old key, which is what most people have. */
export async function diagnoseOldKeys(parts: Parts): Promise<readonly Finding[]> {
  const { home, store } = parts;
  const file = keyFileOf(home);
  if (store.secretsKey === undefined && !existsSync(file)) return [];
  const keys = parseKeys(store.secretsKey ?? readFileSync(file, "utf8"), file);
  if (keys.length === 1) return [];
  const counts = await countIn(
    parts,
    createRing(() => keys),
  );
  if (counts === undefined) return [];
  const old = counts.reduce((sum, count) => sum + count.old, 0);
  const remove =
    store.secretsKey === undefined
      ? "postern secrets rotate --remove-old"
      : "leave only the first in POSTERN_SECRETS_KEY on every node";
  const detail =
    old > 0
      ? `an old key is listed and ${old} values are still sealed under it: run postern secrets rotate`
      : `an old key is listed and nothing stored is sealed under it any more: ${remove}`;
  return [{ name: "old secrets key", ok: true, warning: true, detail }];
}

async function countIn(
  { home, store, owned, shared }: Parts,
  keys: Parameters<typeof survey>[2],
): Promise<readonly Count[] | undefined> {
  if (store.engine === "postgres")
    return shared === undefined || shared === "unreachable"
      ? undefined
      : survey(shared.sql, owned, keys, shared.has);
  const file = fileOf(store, home);
  if (!existsSync(file)) return [];
  using connection = new DatabaseSync(file, { readOnly: true });
  const all = (sql: string, ...values: SqlValue[]) => connection.prepare(sql).all(...values);
  const queries: Pick<Queries, "all"> = {
    all: async <Row>(sql: string, ...values: SqlValue[]) => all(sql, ...values) as Row[],
  };
  const has = async (table: string) =>
    all("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", table).length > 0;
  return await survey(queries, owned, keys, has);
}
