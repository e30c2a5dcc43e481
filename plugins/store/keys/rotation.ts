/** Seals everything again under the first key, batch by batch: stopped anywhere, it goes on where it was. */
import { type SealingKey, seal, unseal } from "../../../kernel/kit/secrets.ts";
import type { Keyring, OwnedTables, SealedPlace, SqlValue } from "../../../kernel/kit/store.ts";
import { Fault, type Queries, type Sql } from "../../../kernel/plugin.ts";

/** Counts the values of one place by the key they are sealed under. */
export interface Count {
  readonly about: string;
  current: number;
  old: number;
  readonly unreadable: string[];
}

const BATCH = 200;
/** A service beside us may seal under the old key until it notices: what it wrote meanwhile is sealed in another pass. */
const PASSES = 5;

interface Row {
  readonly id: string;
  readonly value: string;
}

/** A place as SQL: where the rows are, and where in a value the sealed text is. */
interface Column {
  readonly about: string;
  readonly table: string;
  readonly id: string;
  readonly column: string;
  readonly where: string;
  readonly values: readonly SqlValue[];
  readonly keys: Keyring;
  name(id: string): string;
  take(value: string): string;
  put(value: string, sealed: string): string;
}

async function hasTable(sql: Sql, table: string): Promise<boolean> {
  const found =
    sql.engine === "sqlite"
      ? "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
      : "SELECT 1 WHERE to_regclass(?) IS NOT NULL";
  return (await sql.get(found, table)) !== undefined;
}

/** Counts what is there and changes nothing. A look at the store finds no rows where a table is missing. */
export async function survey(
  queries: Sql | Pick<Queries, "all">,
  owned: readonly OwnedTables[],
  keys: Keyring,
): Promise<readonly Count[]> {
  const counts: Count[] = [];
  for (const column of columnsOf(owned, keys)) {
    const count: Count = { about: column.about, current: 0, old: 0, unreadable: [] };
    counts.push(count);
    if ("engine" in queries && !(await hasTable(queries, column.table))) continue;
    for await (const rows of batches(queries, column))
      for (const { id, value } of rows) {
        const opened = open(column, id, value);
        if (opened === undefined) count.unreadable.push(id);
        else if (opened.isCurrent) count.current++;
        else count.old++;
      }
  }
  return counts;
}

/** Yields after each batch how many values it has sealed again so far. */
export async function* reseal(
  sql: Sql,
  owned: readonly OwnedTables[],
  keys: Keyring,
): AsyncGenerator<number> {
  let done = 0;
  for (let pass = 0; pass < PASSES; pass++) {
    let found = 0;
    for (const column of columnsOf(owned, keys)) {
      if (!(await hasTable(sql, column.table))) continue;
      for await (const rows of batches(sql, column)) {
        const old = rows.flatMap(({ id, value }) => {
          const opened = open(column, id, value);
          return opened === undefined || opened.isCurrent ? [] : [{ id, value, text: opened.text }];
        });
        if (old.length === 0) continue;
        found += old.length;
        done += await sealAgain(sql, column, old);
        yield done;
      }
    }
    if (found === 0) return;
  }
  const message =
    "A service still seals under the old key: restart every node with the new key first in POSTERN_SECRETS_KEY, and run this again.";
  throw new Fault("unavailable", "secrets_still_written", message);
}

async function sealAgain(
  sql: Sql,
  { table, id, column, where, values, keys, name, put }: Column,
  rows: readonly (Row & { readonly text: string })[],
): Promise<number> {
  return await sql.transaction(async (tx) => {
    const changed = await Promise.all(
      rows.map((row) =>
        // Only where it is still what was read: a service may have set another value.
        tx.run(
          `UPDATE ${table} SET ${column} = ? WHERE ${where} AND ${id} = ? AND ${column} = ?`,
          put(row.value, seal(keys, name(row.id), row.text)),
          ...values,
          row.id,
          row.value,
        ),
      ),
    );
    return changed.reduce((sum, count) => sum + count, 0);
  });
}

async function* batches(
  queries: Pick<Queries, "all">,
  { table, id, column, where, values }: Column,
): AsyncGenerator<readonly Row[]> {
  let after = "";
  for (;;) {
    const rows = await queries.all<Row>(
      `SELECT ${id} AS id, ${column} AS value FROM ${table} WHERE ${where} AND ${id} > ? ORDER BY ${id} LIMIT ${BATCH}`,
      ...values,
      after,
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last.id;
  }
}

function open({ keys, name, take }: Column, id: string, value: string) {
  const read = (key: SealingKey): string | undefined => {
    try {
      return unseal(key, name(id), take(value));
    } catch {
      return undefined;
    }
  };
  const current = read(keys.all()[0]);
  const text = current ?? read(keys);
  return text === undefined ? undefined : { text, isCurrent: current !== undefined };
}

function columnsOf(owned: readonly OwnedTables[], keys: Keyring): readonly Column[] {
  return owned.flatMap(({ sealed = [] }) => sealed.map((place) => columnOf(place, keys)));
}

function columnOf(place: SealedPlace, keys: Keyring): Column {
  if ("namespace" in place)
    return {
      about: place.about,
      table: "keyed",
      id: "key",
      column: "value",
      where: "namespace = ? AND (expires IS NULL OR expires > ?)",
      values: [place.namespace, Date.now()],
      keys: keys.derive(place.purpose),
      name: (id) => id,
      // As Keyv writes it, with the time it expires at beside it.
      take: (value) => String((JSON.parse(value) as { value: unknown }).value),
      put: (value, sealed) => JSON.stringify({ ...(JSON.parse(value) as object), value: sealed }),
    };
  return {
    ...place,
    where: place.flag === undefined ? "1 = 1" : `${place.flag} = 1`,
    values: [],
    keys: keys.derive(place.purpose),
    take: (value) => value,
    put: (_, sealed) => sealed,
  };
}
