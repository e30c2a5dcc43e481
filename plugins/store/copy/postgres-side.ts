/** A PostgreSQL database as the source or the target of a copy. */
import pg from "pg";
import type { SqlValue } from "../../../kernel/kit/store.ts";
import { nameOf, type PostgresSettings } from "../config/postgres-url.ts";
import { APPLIED, type Applied } from "../engine/migrations.ts";
import { openPool } from "../postgres/pool.ts";
import {
  BYTES_AT_ONCE,
  NOT_DATA,
  ROWS_AT_ONCE,
  type Row,
  type Source,
  type Table,
  type Target,
} from "./side.ts";

const quote = pg.escapeIdentifier;

type Connection = Awaited<ReturnType<typeof connect>>;

/** For statements that may take as long as they take. */
async function connect(settings: PostgresSettings) {
  const pool = await openPool(settings);
  const { config, explain } = pool;
  await pool.close();
  const client = new pg.Client({ ...config, pipeline: false, statement_timeout: 0, query_timeout: 0 });
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    throw explain(error);
  }
  return {
    async query<Row>(
      query: string | object,
      values: readonly SqlValue[] = [],
    ): Promise<{ readonly rows: readonly Row[] }> {
      try {
        return (await client.query(query as string, [...values])) as unknown as { rows: readonly Row[] };
      } catch (error) {
        // The server may be stopped while a large store is read.
        throw explain(error);
      }
    },
    end: (): Promise<void> => client.end(),
  };
}

export async function openPostgresSource(settings: PostgresSettings): Promise<Source> {
  const client = await connect(settings);
  // One moment for all that is read, whatever is written meanwhile.
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const tables = await describe(client);
  const texts = await columnsOf(client, "'text', 'character varying'");
  const bytes = await columnsOf(client, "'bytea'");
  /** How many rows fit into memory together: the largest decides. */
  const rowsAtOnce = async ({ name, columns }: Table): Promise<number> => {
    const large = columns.filter((column) => bytes.has(`${name}.${column}`));
    if (large.length === 0) return ROWS_AT_ONCE;
    const sum = large.map((column) => `coalesce(octet_length(${quote(column)}), 0)`).join(" + ");
    const { rows } = await client.query<{ largest: number | null }>(
      `SELECT max(${sum}) AS largest FROM ${quote(name)}`,
    );
    const fitting = Math.floor(BYTES_AT_ONCE / Math.max(1, Number(rows[0]?.largest ?? 0)));
    return Math.min(ROWS_AT_ONCE, Math.max(1, fitting));
  };
  return {
    name: nameOf(settings),
    async applied() {
      const { rows } = await client.query("SELECT 1 WHERE to_regclass('migrations') IS NOT NULL");
      return rows.length === 0 ? [] : (await client.query<Applied>(APPLIED)).rows;
    },
    tables: async () => tables,
    async count({ name }) {
      const { rows } = await client.query<{ count: number }>(`SELECT count(*) AS count FROM ${quote(name)}`);
      return Number(rows[0]?.count);
    },
    async *rows(table) {
      const { name, columns, key } = table;
      const most = await rowsAtOnce(table);
      const select = `SELECT ${list(columns)} FROM ${quote(name)} ORDER BY ${key.map((column) => order(texts, name, column)).join(", ")}`;
      await client.query(`DECLARE reading NO SCROLL CURSOR FOR ${select}`);
      for (;;) {
        const text = `FETCH ${most} FROM reading`;
        const { rows } = await client.query<SqlValue[]>({ text, rowMode: "array" });
        if (rows.length === 0) break;
        yield rows;
      }
      await client.query("CLOSE reading");
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

export async function openPostgresTarget(settings: PostgresSettings): Promise<Target> {
  const client = await connect(settings);
  await client.query("BEGIN");
  const tables = await describe(client);
  return {
    name: nameOf(settings),
    tables: async () => tables,
    async clear(chosen) {
      if (chosen.length > 0) await client.query(`TRUNCATE ${list(chosen.map(({ name }) => name))} CASCADE`);
    },
    async write({ name, columns }, rows) {
      refuseNul(name, columns, rows);
      const places = rows.map(
        (_, at) => `(${columns.map((_, column) => `$${at * columns.length + column + 1}`).join(", ")})`,
      );
      const values = rows.flatMap((row) =>
        row.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value)),
      );
      await client.query(
        `INSERT INTO ${quote(name)} (${list(columns)}) OVERRIDING SYSTEM VALUE VALUES ${places.join(", ")}`,
        values,
      );
    },
    async finish() {
      // Numbers that the database gives out go on after the highest that came.
      const { rows } = await client.query<{ table: string; column: string }>(
        `SELECT table_name AS table, column_name AS column FROM information_schema.columns
         WHERE table_schema = current_schema() AND is_identity = 'YES'`,
      );
      for (const { table, column } of rows)
        await client.query(
          `SELECT setval(pg_get_serial_sequence($1, $2), greatest((SELECT max(${quote(column)}) FROM ${quote(table)}), 1))`,
          [quote(table), column],
        );
      await client.query("COMMIT");
    },
    // The connection's end rolls back what was not committed.
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** Sorts as SQLite does: texts by their bytes, nothing before something. */
const order = (texts: ReadonlySet<string>, table: string, column: string): string =>
  `${quote(column)}${texts.has(`${table}.${column}`) ? ' COLLATE "C"' : ""} NULLS FIRST`;

/** Those of these types, with their tables. */
async function columnsOf(client: Connection, types: string): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
     WHERE table_schema = current_schema() AND data_type IN (${types})`,
  );
  return new Set(rows.map(({ name }) => name));
}

const list = (names: readonly string[]) => names.map(quote).join(", ");

function refuseNul(table: string, columns: readonly string[], rows: readonly Row[]): void {
  for (const row of rows)
    for (const [at, value] of row.entries())
      if (typeof value === "string" && value.includes("\0"))
        throw new Error(
          `a row of ${table} has a NUL character in ${columns[at]}, which PostgreSQL cannot hold: change it, then copy again`,
        );
}

/** The data's tables, those that others refer to first. */
async function describe(client: Connection): Promise<readonly Table[]> {
  const columns = await client.query<{ table: string; column: string }>(
    `SELECT columns.table_name AS table, columns.column_name AS column FROM information_schema.columns
     JOIN information_schema.tables USING (table_schema, table_name)
     WHERE columns.table_schema = current_schema() AND table_type = 'BASE TABLE' AND is_generated = 'NEVER'`,
  );
  const keys = await client.query<{ table: string; column: string }>(
    `SELECT relname AS table, attname AS column
     FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
       CROSS JOIN LATERAL unnest(indkey) WITH ORDINALITY AS key (number, place)
       JOIN pg_attribute ON attrelid = indrelid AND attnum = key.number
     WHERE indisprimary AND relnamespace = current_schema()::regnamespace ORDER BY relname, key.place`,
  );
  const references = await client.query<{ table: string; parent: string }>(
    `SELECT child.relname AS table, parent.relname AS parent FROM pg_constraint
       JOIN pg_class AS child ON child.oid = conrelid JOIN pg_class AS parent ON parent.oid = confrelid
     WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`,
  );
  const keysOf = Map.groupBy(keys.rows, ({ table }) => table);
  const parentsOf = Map.groupBy(references.rows, ({ table }) => table);
  const tables = new Map(
    [...Map.groupBy(columns.rows, ({ table }) => table)]
      .filter(([name]) => !NOT_DATA.has(name))
      .map(([name, found]): [string, Table] => {
        const names = found.map(({ column }) => column).sort();
        const key = keysOf.get(name)?.map(({ column }) => column) ?? names;
        return [name, { name, columns: names, key }];
      }),
  );
  const ordered: Table[] = [];
  const place = (name: string): void => {
    const table = tables.get(name);
    if (table === undefined || ordered.includes(table)) return;
    for (const { parent } of parentsOf.get(name) ?? []) if (parent !== name) place(parent);
    ordered.push(table);
  };
  for (const name of [...tables.keys()].sort()) place(name);
  return ordered;
}
