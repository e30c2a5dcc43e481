/** One connection to a SQLite file, with errors turned into faults that name the file and say what to do. */
import { statfsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { SqlValue } from "../../../kernel/kit/store.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";

// A write waits this long for another process before the store counts as locked.
const BUSY_MS = 5000;

type WayOut = (file: string) => [code: string, message: string];

/** SQLite's primary result codes that an operator can act on. */
const FULL = 13;
const DISK_FAILED = 10;
// SQLite needs no more room than this beside its files to open them.
const NO_ROOM_BYTES = 64 * 1024;

const WAYS_OUT: Readonly<Record<number, WayOut>> = {
  5: locked,
  6: locked,
  8: (file) => [
    "store_read_only",
    `the store ${file} cannot be written: give its folder and file write permission, or set POSTERN_HOME to a folder you own`,
  ],
  [DISK_FAILED]: diskFailed,
  11: corrupt,
  [FULL]: diskFull,
  14: (file) => [
    "store_unopenable",
    `the store ${file} cannot be opened: check that its folder exists and that you may write to it, or set POSTERN_HOME`,
  ],
  26: corrupt,
};

function diskFull(file: string): [string, string] {
  return [
    "store_full",
    `the disk is full: the store ${file} could not be written. Free some space; what was acknowledged before is safe`,
  ];
}

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

export function explain(error: unknown, file: string): unknown {
  const { errcode } = error as { errcode?: number };
  if (errcode === undefined) return error;
  const code = errcode & 0xff;
  const wayOut = WAYS_OUT[code === DISK_FAILED && isDiskFull(file) ? FULL : code];
  return wayOut === undefined ? error : faultOf(error, file, wayOut);
}

/** Files beside the store are mapped into memory, and where there is no room for them SQLite says that the disk failed. */
function isDiskFull(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize < NO_ROOM_BYTES;
  } catch {
    return false;
  }
}

/** The disk did not take what was committed. */
export const unflushed = (error: unknown, file: string): Fault => faultOf(error, file, diskFailed);

/** Nothing more can be committed. */
export const full = (error: unknown, file: string): Fault => faultOf(error, file, diskFull);

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
