/** Keyed state on PostgreSQL: Keyv's adapter on the store's own connections and table. */
import KeyvPostgres, { type KeyvPostgresOptions } from "@keyv/postgres";
import Keyv, { type KeyvStorageAdapter } from "keyv";
import type { Store } from "../services.ts";
import type { PostgresDatabase } from "./database.ts";
import type { Value } from "./pool.ts";

/** The shape that the adapter's statements expect. */
export const KEYED = `
  CREATE TABLE keyed (key TEXT COLLATE "C" NOT NULL, value TEXT, namespace TEXT COLLATE "C", expires BIGINT);
  CREATE UNIQUE INDEX keyed_by_key ON keyed (key, COALESCE(namespace, ''));
  CREATE INDEX keyed_by_namespace ON keyed (namespace, key);
  CREATE INDEX keyed_by_expiry ON keyed (expires) WHERE expires IS NOT NULL;`;

// Rows past their time to live are deleted for good this often.
const SWEEP_MS = 60_000;

type Query = (sql: string, values?: readonly Value[]) => Promise<unknown[]>;

/** The adapter as its constructor uses it. Left alone, it makes its table and a pool of its own. */
const Adapter = KeyvPostgres as unknown as new (
  options: KeyvPostgresOptions,
) => KeyvStorageAdapter & { init(): Promise<Query> };

export function openKeyed(database: PostgresDatabase, schema: string) {
  class SharedAdapter extends Adapter {
    override init(): Promise<Query> {
      return Promise.resolve((sql, values) => database.query(sql, values));
    }
  }

  const keyed = new Map<string, Keyv>();

  return {
    get<Stored>(namespace: string): Keyv<Stored> {
      let keyv = keyed.get(namespace);
      if (keyv === undefined) {
        // No "error" listener, on purpose: Keyv would then return `false` or `undefined` for what failed.
        keyv = new Keyv({ store: new SharedAdapter({ table: "keyed", schema }), namespace });
        keyed.set(namespace, keyv);
      }
      return keyv as Keyv<Stored>;
    },
    /** Deletes for good what is past its time to live, again and again. Returns a function that stops it. */
    sweep: (repeat: Store["repeat"]) =>
      repeat("sweep keyed state", SWEEP_MS, () =>
        database.run("DELETE FROM keyed WHERE expires < ?", Date.now()),
      ),
  };
}
