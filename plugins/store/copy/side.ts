/** A store as copying sees it: tables, and rows in the order of their key. One file for each engine says how. */
import { createHash } from "node:crypto";
import type { SqlValue } from "../../../kernel/kit/store.ts";
import type { Applied } from "../engine/migrations.ts";

export interface Table {
  readonly name: string;
  /** Those that hold data, in alphabetical order. What the engine computes is left out. */
  readonly columns: readonly string[];
  /** Identifies a row, and gives the order. */
  readonly key: readonly string[];
}

export type Row = readonly SqlValue[];

/** Reads one moment of a store, while others may go on writing. */
export interface Source extends AsyncDisposable {
  readonly name: string;
  /** The newest migration of each owner; none where there are no tables. */
  applied(): Promise<readonly Applied[]>;
  tables(): Promise<readonly Table[]>;
  count(table: Table): Promise<number>;
  rows(table: Table): AsyncIterable<readonly Row[]>;
}

/** Writes a whole store in one transaction, which is rolled back unless `finish` was called. */
export interface Target extends AsyncDisposable {
  readonly name: string;
  /** Those that another table refers to come first. */
  tables(): Promise<readonly Table[]>;
  clear(tables: readonly Table[]): Promise<void>;
  write(table: Table, rows: readonly Row[]): Promise<void>;
  finish(): Promise<void>;
}

/** Tables that say what a store is, or who uses it now. They are no data of anybody's. */
export const NOT_DATA: ReadonlySet<string> = new Set([
  "migrations",
  "store_facts",
  "store_sizes",
  "store_backups",
  "nodes",
  "locks",
  "changes",
  "repeated_work",
  // Recent counts mean nothing elsewhere.
  "limiter_takes",
  // These two are in backups only.
  "backup_note",
  "backup_files",
]);

export const ROWS_AT_ONCE = 500;
/** Files that people attach are in rows of their own, and many of them do not fit into memory together. */
export const BYTES_AT_ONCE = 8 * 2 ** 20;

export interface Digest {
  readonly table: string;
  readonly rows: number;
  readonly sha256: string;
}

/** The same for the same rows on either engine. */
export async function digestOf(table: Table, rows: AsyncIterable<readonly Row[]>): Promise<Digest> {
  const hash = createHash("sha256").update(JSON.stringify(table.columns));
  let count = 0;
  for await (const some of rows) {
    for (const row of some) hash.update(`${JSON.stringify(row.map(canonical))}\n`);
    count += some.length;
  }
  return { table: table.name, rows: count, sha256: hash.digest("hex") };
}

function canonical(value: SqlValue): unknown {
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("base64") };
  return typeof value === "bigint" ? Number(value) : value;
}
