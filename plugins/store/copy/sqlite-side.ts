/** A SQLite file as the source or the target of a copy. */
import { DatabaseSync } from "node:sqlite";
import type { SqlValue } from "../../../kernel/kit/store.ts";
import { APPLIED, type Applied } from "../engine/migrations.ts";
import {
  BYTES_AT_ONCE,
  NOT_DATA,
  ROWS_AT_ONCE,
  type Row,
  type Source,
  type Table,
  type Target,
} from "./side.ts";

export function openSqliteSource(file: string): Source {
  const database = new DatabaseSync(file, { readOnly: true });
  // The first read fixes the moment for all that follow.
  database.exec("BEGIN");
  const tables = describe(database);
  return {
    name: file,
    async applied() {
      const known = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get();
      return known === undefined ? [] : (database.prepare(APPLIED).all() as unknown as Applied[]);
    },
    tables: async () => tables,
    async count({ name }) {
      return Number(database.prepare(`SELECT count(*) AS count FROM ${quote(name)}`).get()?.["count"]);
    },
    async *rows(table) {
      const statement = database.prepare(
        `SELECT ${list(table.columns)} FROM ${quote(table.name)} ORDER BY ${list(table.key)}`,
      );
      statement.setReturnArrays(true);
      let some: Row[] = [];
      let bytes = 0;
      for (const values of statement.iterate()) {
        const row = values as unknown as SqlValue[];
        some.push(row);
        for (const value of row) if (value instanceof Uint8Array) bytes += value.byteLength;
        if (some.length < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
        yield some;
        some = [];
        bytes = 0;
      }
      if (some.length > 0) yield some;
    },
    async [Symbol.asyncDispose]() {
      database.close();
    },
  };
}

export function openSqliteTarget(file: string): Target {
  const database = new DatabaseSync(file);
  // Rows come table by table; whether they fit together is looked at when all are there.
  database.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE");
  const tables = describe(database);
  return {
    name: file,
    tables: async () => tables,
    async clear(tables) {
      for (const { name } of tables) database.exec(`DELETE FROM ${quote(name)}`);
    },
    async write(table, rows) {
      const values = table.columns.map(() => "?").join(", ");
      const statement = database.prepare(
        `INSERT INTO ${quote(table.name)} (${list(table.columns)}) VALUES (${values})`,
      );
      for (const row of rows) statement.run(...row);
    },
    async finish() {
      const [orphan] = database.prepare("PRAGMA foreign_key_check").all();
      if (orphan !== undefined)
        throw new Error(`a row of ${orphan["table"]} refers to a row of ${orphan["parent"]} that is missing`);
      database.exec("COMMIT");
    },
    async [Symbol.asyncDispose]() {
      if (database.isTransaction) database.exec("ROLLBACK");
      database.close();
    },
  };
}

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;

const list = (names: readonly string[]) => names.map(quote).join(", ");

function describe(database: DatabaseSync): readonly Table[] {
  const entries = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
    .all()
    .map(({ name, sql }) => ({ name: String(name), sql: String(sql) }));
  // An index of words is a table with others behind it.
  const indexes = entries.filter(({ sql }) => /^CREATE VIRTUAL TABLE/i.test(sql)).map(({ name }) => name);
  const isOfIndex = (name: string) =>
    indexes.some(
      (index) =>
        name.startsWith(index) &&
        /^(?:_data|_idx|_content|_docsize|_config)?$/.test(name.slice(index.length)),
    );
  return entries
    .filter(({ name }) => !NOT_DATA.has(name) && !name.startsWith("sqlite_") && !isOfIndex(name))
    .map(({ name }) => {
      const columns = database.prepare(`PRAGMA table_info(${quote(name)})`).all();
      const names = columns.map((column) => String(column["name"])).sort();
      const key = columns
        .filter((column) => Number(column["pk"]) > 0)
        .sort((a, b) => Number(a["pk"]) - Number(b["pk"]))
        .map((column) => String(column["name"]));
      // Without a key all of a row says which one it is.
      return { name, columns: names, key: key.length > 0 ? key : names };
    });
}
