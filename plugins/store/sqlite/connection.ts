/** One connection to a SQLite file, with errors turned into faults that name the file and say what to do. */
import { basename } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { SqlValue } from "../../../kernel/kit/store.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";

// A write waits this long for another process before the store counts as locked.
const BUSY_MS = 5000;

type WayOut = (file: string) => [code: string, message: string];

/** SQLite's primary result codes that an operator can act on. */
const WAYS_OUT: Readonly<Record<number, WayOut>> = {
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
  return [
    "store_io",
    `the disk failed while using the store ${file}: check the disk. Postern goes on when it works again`,
  ];
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
  const preparing = (options?: { readonly readBigInts: boolean }) => {
    const statements = new Map<string, StatementSync>();
    return (sql: string): StatementSync => {
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = connection.prepare(sql);
        statement.setReadBigInts(options?.readBigInts ?? false);
        statements.set(sql, statement);
      }
      return statement;
    };
  };
  const prepare = preparing();
  // With a change comes the number of the last row, which in a full-text index may be larger than a JavaScript number holds.
  const prepareChange = preparing({ readBigInts: true });
  return {
    connection,
    exec: (sql: string) => guard(() => connection.exec(sql)),
    all: <Row>(sql: string, values: SqlValue[]) => guard(() => prepare(sql).all(...values) as Row[]),
    get: <Row>(sql: string, values: SqlValue[]) =>
      guard(() => prepare(sql).get(...values) as Row | undefined),
    /** Returns how many rows have changed. */
    run: (sql: string, values: SqlValue[]) => guard(() => Number(prepareChange(sql).run(...values).changes)),
  };
}

export type Connection = ReturnType<typeof connect>;

function explain(error: unknown, file: string): unknown {
  const { errcode } = error as { errcode?: number };
  if (errcode === undefined) return error;
  const wayOut = WAYS_OUT[errcode & 0xff];
  return wayOut === undefined ? error : faultOf(error, file, wayOut);
}

/** The disk did not take what was committed. */
export const unflushed = (error: unknown, file: string): Fault => faultOf(error, file, diskFailed);

function faultOf(error: unknown, file: string, wayOut: WayOut): Fault {
  const [code, message] = wayOut(file);
  // Where the file is on this machine is for the operator alone.
  const [, callersMessage] = wayOut(basename(file));
  return new Fault("unavailable", code, `${message} (${reason(error)})`, {
    cause: error,
    param: file,
    callersMessage,
  });
}
