/** A table that cannot be written, as on a full disk. */
import type { Sql } from "../../../kernel/plugin.ts";
import { afterThisTest } from "../undo.ts";

/** Refuses an `UPDATE` or `DELETE` of rows of this table. Answers how to mend it. */
export async function breakTable(sql: Sql, table: string, write: "UPDATE" | "DELETE") {
  const onTable = sql.engine === "postgres" ? `ON ${table}` : "";
  const mend = () => sql.run(`DROP TRIGGER IF EXISTS broken ${onTable}`);
  const before = `CREATE TRIGGER broken BEFORE ${write} ON ${table}`;
  if (sql.engine === "postgres") {
    await sql.run(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE 'disk full'; END $$`);
    await sql.run(`${before} FOR EACH ROW EXECUTE FUNCTION refuse()`);
    // The next test may use the same tables.
    afterThisTest(() => mend().catch(() => {}));
  } else await sql.run(`${before} BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`);
  return mend;
}
