/** One connection to a SQLite file, with errors turned into faults that name the file and say what to do. */

import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { SqlValue } from "../../../kernel/kit.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";

// How long a write waits for another process before it is called locked.
const BUSY_MS = 5000;

/** SQLite's primary result codes that an operator can act on. */
const WAYS_OUT: Readonly<Record<number, (file: string) => [code: string, message: string]>> = {
  5: locked,
  6: locked,
  8: (file) => [
    "store_read_only",
    `the store ${file} cannot be written: give its folder and file write permission, or set POSTERN_HOME to a folder you own`,
  ],
  10: diskFailed,
  11: corrupt,
  13: (file) => [
    "store_full",
    `the disk is full: the store ${file} could not be written. Free some space; what was acknowledged before is safe`,
  ],
  14: (file) => [
    "store_unopenable",
    `the store ${file} cannot be opened: check that its folder exists and that you may write to it, or set POSTERN_HOME`,
  ],
  26: corrupt,
};

function diskFailed(file: string): [string, string] {
  return ["store_io", `the disk failed while using the store ${file}: check the disk, then start again`];
}

function locked(file: string): [string, string] {
  return [
    "store_locked",
    `the store ${file} is locked by another process: stop it (is another Postern or a database tool using the file?) and try again`,
  ];
}

function corrupt(file: string): [string, string] {
  return [
    "store_corrupt",
    `the store ${file} is damaged or is not a SQLite database. Move it away and copy the newest ${file}.before-* snapshot or your backup to its place`,
  ];
}

/** One connection and its prepared statements. */
export function connect(file: string, readOnly: boolean) {
  const guard = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw explain(error, file);
    }
  };
  const connection = guard(() => new DatabaseSync(file, { timeout: BUSY_MS, readOnly }));
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = connection.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };
  return {
    connection,
    exec: (sql: string) => guard(() => connection.exec(sql)),
    all: <Row>(sql: string, values: SqlValue[]) => guard(() => prepare(sql).all(...values) as Row[]),
    get: <Row>(sql: string, values: SqlValue[]) =>
      guard(() => prepare(sql).get(...values) as Row | undefined),
    run: (sql: string, values: SqlValue[]) => guard(() => prepare(sql).run(...values)),
  };
}

export type Connection = ReturnType<typeof connect>;

function explain(error: unknown, file: string): unknown {
  const { errcode } = error as { errcode?: number };
  if (errcode === undefined) return error;
  const wayOut = WAYS_OUT[errcode & 0xff];
  if (wayOut === undefined) return error;
  const [code, message] = wayOut(file);
  return new Fault("unavailable", code, `${message} (${reason(error)})`, { cause: error, param: file });
}

/** The disk did not take what was committed. */
export function unflushed(error: unknown, file: string): Fault {
  const [code, message] = diskFailed(file);
  return new Fault("unavailable", code, `${message} (${reason(error)})`, { cause: error, param: file });
}
