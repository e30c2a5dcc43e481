/** Keyed state on either engine: Keyv's SQLite adapter over the store's own SQL. PostgreSQL understands its statements too. */
import KeyvSqlite from "@keyv/sqlite";
import Keyv from "keyv";
import { defineTables, type SqlValue } from "../../../kernel/kit/store.ts";
import type { Sql, Transaction } from "../../../kernel/plugin.ts";

/** What the store itself keeps. */
export const STORE_TABLES = defineTables(
  ({ engine, text, integer, strict }) => `
  CREATE TABLE keyed (
    namespace ${text} NOT NULL, key ${text} NOT NULL, value ${text}, expires ${integer}, PRIMARY KEY (namespace, key)
  ) ${strict};
  CREATE INDEX keyed_by_expiry ON keyed (expires) WHERE expires IS NOT NULL;
  ${engine === "postgres" ? `CREATE TABLE store_facts (name ${text} PRIMARY KEY, value ${text} NOT NULL);` : ""}`,
);

// Expired rows are deleted this often.
const SWEEP_MS = 60_000;

/** The adapter looks for its table before its first statement. The migration above has made it. */
const LOOKS_FOR_TABLE = /^(?:PRAGMA|CREATE)\b/;
const COLUMNS = ["key", "value", "namespace", "expires"].map((name) => ({ name }));

/** `open` makes the tables. */
export function openKeyed(open: () => Promise<Sql>, onWrite = () => {}) {
  const adapters: KeyvSqlite[] = [];
  const keyed = new Map<string, Keyv>();
  const driver = {
    name: "custom" as const,
    async connect() {
      const sql = await open();
      return {
        async query(statement: string, ...values: unknown[]) {
          if (LOOKS_FOR_TABLE.test(statement)) return COLUMNS;
          const rows = await sql.all(statement, ...(values as SqlValue[]));
          // Only now: a caller that read before the write was done must read again.
          if (!statement.startsWith("SELECT")) onWrite();
          return rows;
        },
        close: async () => {},
      };
    },
  };

  /** Its own iterator turns a fault of the store into a bare error. */
  class Adapter extends KeyvSqlite {
    override async *iterator(): AsyncGenerator<[string, string]> {
      const sql = await open();
      const rows = await sql.all<{ key: string; value: string }>(
        "SELECT key, value FROM keyed WHERE namespace = ? AND (expires IS NULL OR expires > ?) ORDER BY key",
        this.namespace ?? "",
        Date.now(),
      );
      for (const { key, value } of rows) yield [key, value];
    }
  }

  return {
    get<Value>(namespace: string): Keyv<Value> {
      let keyv = keyed.get(namespace);
      if (keyv === undefined) {
        // One sweeps for all: they share the table.
        const clearExpiredInterval = adapters.length === 0 ? SWEEP_MS : 0;
        const store = new Adapter({ table: "keyed", driver, clearExpiredInterval });
        adapters.push(store);
        // No "error" listener, on purpose: Keyv would then return `false` or `undefined` for what failed.
        keyv = new Keyv({ store, namespace });
        keyed.set(namespace, keyv);
      }
      return keyv as Keyv<Value>;
    },
    async remove(tx: Transaction, namespace: string, ending: string): Promise<void> {
      const ends = "substr(key, length(key) - ? + 1) = ?";
      await tx.run(`DELETE FROM keyed WHERE namespace = ? AND ${ends}`, namespace, ending.length, ending);
    },
    /** Stops the timer, which would keep using a closed connection. */
    stop(): void {
      for (const adapter of adapters) adapter.clearExpiredInterval = 0;
    },
  };
}
