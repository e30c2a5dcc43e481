/** One SQLite connection: opened safely, with errors turned into faults that name the file and say what to do. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { Fault, reason } from "../fault.ts";
import type { Sql, SqlValue } from "../vocabulary/store.ts";

// How long a write waits for another process before it is called locked.
const BUSY_MILLIS = 5000;

/** SQLite's primary result codes that an operator can act on. */
const WAYS_OUT: Readonly<Record<number, (file: string) => [code: string, message: string]>> = {
  5: locked,
  6: locked,
  8: (file) => [
    "store_read_only",
    `the store ${file} cannot be written: give its folder and file write permission, or set POSTERN_HOME to a folder you own`,
  ],
  10: (file) => [
    "store_io",
    `the disk failed while using the store ${file}: check the disk, then start again`,
  ],
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

export interface Database extends Sql {
  readonly file: string;
  exec(sql: string): void;
  close(): void;
}

/** Work that waits for the next shared commit. */
interface Waiting {
  work(): unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export function openDatabase(file: string): Database {
  const guard = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw explain(error, file);
    }
  };
  const connection = guard(() => new DatabaseSync(file, { timeout: BUSY_MILLIS }));
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = connection.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };
  let depth = 0;
  let closing: (() => void)[] = [];
  let waiting: Waiting[] = [];
  // Why SQLite has rolled back the open transaction, as it does when the disk is full.
  let broken: unknown;

  /** Runs a statement. After SQLite rolled a transaction back none is run: it would be committed alone. */
  const execute = <Result>(statement: () => Result): Result => {
    if (broken !== undefined) throw broken;
    try {
      return guard(statement);
    } catch (error) {
      if (depth > 0 && !connection.isTransaction) broken = error;
      throw error;
    }
  };

  /** Runs work inside the open transaction so that its failure undoes only what it did. */
  const alone = <Result>(work: () => Result): Result => {
    const before = closing.length;
    database.run("SAVEPOINT alone");
    try {
      return work();
    } catch (error) {
      closing.length = before;
      // A full disk may have rolled back everything already.
      if (connection.isTransaction) database.run("ROLLBACK TO alone");
      throw error;
    } finally {
      if (connection.isTransaction) database.run("RELEASE alone");
    }
  };

  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    const answers: (() => void)[] = [];
    try {
      database.transaction(() => {
        for (const { work, resolve, reject } of batch) {
          try {
            const result = alone(work);
            answers.push(() => resolve(result));
          } catch (error) {
            if (!connection.isTransaction) throw error;
            answers.push(() => reject(error));
          }
        }
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const answer of answers) answer();
  };

  const database: Database = {
    file,
    exec: (sql) => execute(() => connection.exec(sql)),
    all: <Row>(sql: string, ...values: SqlValue[]) => execute(() => prepare(sql).all(...values) as Row[]),
    get: <Row>(sql: string, ...values: SqlValue[]) =>
      execute(() => prepare(sql).get(...values) as Row | undefined),
    run: (sql, ...values) =>
      execute(() => {
        const { changes, lastInsertRowid } = prepare(sql).run(...values);
        return { changes: Number(changes), lastId: Number(lastInsertRowid) };
      }),
    transaction(work) {
      if (depth > 0) return work();
      database.run("BEGIN IMMEDIATE");
      depth++;
      try {
        const result = work();
        for (const close of closing) close();
        database.run("COMMIT");
        return result;
      } catch (error) {
        // A full disk may have rolled back already; the first error is the one to report.
        if (connection.isTransaction) connection.exec("ROLLBACK");
        throw error;
      } finally {
        depth--;
        closing = [];
        broken = undefined;
      }
    },
    last(work) {
      if (depth > 0) closing.push(work);
      else work();
    },
    batch: <Result>(work: () => Result) =>
      new Promise<Result>((resolve, reject) => {
        // After the sockets that are ready now have been read: what they bring shares the commit.
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ work, resolve: resolve as (result: unknown) => void, reject });
      }),
    close() {
      flush();
      connection.close();
    },
  };

  try {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;");
    // A checkpoint waits for the disk: every 32 MB instead of every 4 costs a turn an eighth less.
    database.exec("PRAGMA wal_autocheckpoint = 8000");
    // The first read of the schema is where a damaged file shows.
    database.get("SELECT count(*) FROM sqlite_schema");
  } catch (error) {
    connection.close();
    throw error;
  }
  return database;
}

function explain(error: unknown, file: string): unknown {
  const { errcode } = error as { errcode?: number };
  if (errcode === undefined) return error;
  const wayOut = WAYS_OUT[errcode & 0xff];
  if (wayOut === undefined) return error;
  const [code, message] = wayOut(file);
  return new Fault("unavailable", code, `${message} (${reason(error)})`, { cause: error, param: file });
}
