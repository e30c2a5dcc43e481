/** The store on one SQLite file: one connection writes, one reads. Statements run where they are called. */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { SqlValue } from "../../../kernel/kit/store.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import type { Durability } from "../config/settings.ts";
import { APPLIED, type Applied, refuseOtherSchema, STAMP } from "../engine/migrations.ts";
import { ROOM_BYTES } from "../engine/open-store.ts";
import { createCommits, type Flushing } from "./commits.ts";
import { type Connection, connect, full, unflushed } from "./connection.ts";

/** Reads that need nothing of the writer. What has RETURNING writes. */
const READS = /^\s*(?:select|explain|with(?![\s\S]*\b(?:insert|update|delete)\b))\b/i;

export type Database = ReturnType<typeof openDatabase>;

export function openDatabase(file: string, durability: Durability = "full") {
  const writer = connect(file, false);
  let applied: readonly Applied[];
  try {
    writer.exec("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL");
    // A checkpoint waits for the disk: every 32 MB instead of every 4 costs a turn an eighth less.
    writer.exec("PRAGMA wal_autocheckpoint = 8000");
    // The first read of the schema is where a damaged file shows.
    writer.get("SELECT count(*) FROM sqlite_schema", []);
    writer.exec(`CREATE TABLE IF NOT EXISTS migrations (
      owner TEXT NOT NULL, number INTEGER NOT NULL, applied_at TEXT NOT NULL, PRIMARY KEY (owner, number)
    ) WITHOUT ROWID`);
    if (writer.get("SELECT 1 FROM migrations LIMIT 1", []) === undefined) writer.exec(STAMP);
    applied = writer.all<Applied>(APPLIED, []);
    refuseOtherSchema(applied, file);
  } catch (error) {
    writer.connection.close();
    throw error;
  }
  // A store in memory is nobody else's to read.
  const reader = file === ":memory:" ? writer : connect(file, true);
  const log = createLogFlush(file, writer);
  const commits = createCommits(writer, durability === "full" && file !== ":memory:" ? log : UNFLUSHED);

  const write = <Result>(statement: () => Result): Promise<Result> =>
    commits.ask({ flush: true, isStatement: true, work: () => statement() });
  const answer = <Result>(statement: () => Result): Promise<Result> => {
    try {
      return Promise.resolve(statement());
    } catch (error) {
      return Promise.reject(error);
    }
  };
  // Between transactions the writer sees what the reader does, and it still has the pages that it wrote.
  const route = <Result>(sql: string, statement: (connection: Connection) => Result): Promise<Result> =>
    READS.test(sql)
      ? answer(() => statement(commits.isOpen() ? reader : writer))
      : write(() => commits.execute(() => statement(writer)));

  const sql: Sql = {
    engine: "sqlite",
    all: <Row>(sql: string, ...values: SqlValue[]) => route(sql, (on) => on.all<Row>(sql, values)),
    get: <Row>(sql: string, ...values: SqlValue[]) => route(sql, (on) => on.get<Row>(sql, values)),
    run: (sql, ...values) => write(() => commits.execute(() => writer.run(sql, values))),
    transaction: (work, { flush = true } = {}) => commits.ask({ flush, work }),
  };
  return {
    ...sql,
    file,
    /** The migrations that it had when it was opened. */
    applied,
    /** Several statements without values, in the transaction that is open, after another statement of it. */
    script: (text: string) => commits.execute(() => writer.exec(text)),
    copyTo: (copy: string) => void reader.run("VACUUM INTO ?", [copy]),
    /** Another number after each commit of another connection. */
    foreignVersion: () =>
      writer.get<{ data_version: number }>("PRAGMA data_version", [])?.data_version ?? Number.NaN,
    probe() {
      reader.get("SELECT count(*) FROM migrations", []);
      assertRoom(file);
    },
    async close() {
      await commits.idle();
      if (reader !== writer) reader.connection.close();
      writer.connection.close();
      await log.close();
    },
  };
}

/** Throws if the disk is full. What the system says is left may not be for us to use, or not be all, so a file of that size is written. */
function assertRoom(file: string): void {
  if (file === ":memory:") return;
  const folder = dirname(file);
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize > ROOM_BYTES) return;
  let aside: string | undefined;
  try {
    aside = mkdtempSync(join(folder, ".room-"));
    writeFileSync(join(aside, "room"), Buffer.alloc(ROOM_BYTES, 1));
  } catch (error) {
    throw full(error, file);
  } finally {
    if (aside !== undefined) rmSync(aside, { recursive: true, force: true });
  }
}

const UNFLUSHED: Flushing = { now() {}, soon() {} };
/** Commits that nobody waits for are on disk after this long. */
const SOON_MS = 200;

/** Flushes as `synchronous=FULL` does, but not for commits that a power cut may take, and with the faster fdatasync. */
function createLogFlush(file: string, writer: Connection): Flushing & { close(): Promise<void> } {
  let log: number | undefined;
  let hasHole = false;
  // A descriptor of its own: the system tells each descriptor once that the disk failed, and who waits has to hear it.
  let unawaited: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  return {
    now() {
      clearTimeout(timer);
      timer = undefined;
      try {
        log ??= openLog(file);
        fdatasyncSync(log);
        if (hasHole) emptyLog(writer);
        hasHole = false;
      } catch (error) {
        hasHole = true;
        throw unflushed(error, file);
      }
    },
    soon() {
      timer ??= setTimeout(() => {
        timer = undefined;
        flushing = flushUnawaited().catch(() => {});
      }, SOON_MS).unref();
    },
    async close() {
      clearTimeout(timer);
      await flushing;
      for (const open of [log, unawaited]) if (open !== undefined) closeSync(open);
    },
  };

  async function flushUnawaited(): Promise<void> {
    unawaited ??= openLog(file);
    await promisify(fdatasync)(unawaited);
  }
}

/**
 * After a flush that failed, the system takes what it could not write for written: the log has a hole on disk, and what comes after a hole is not
 * found after a power cut. Its content is still in memory, so it goes into the store's file, and the log begins anew.
 */
function emptyLog(writer: Connection): void {
  const done = writer.get<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)", []);
  if (done?.busy !== 0) throw new Error("another process keeps the log in use");
}

/** A file that is new has to be found again, too. */
function openLog(file: string): number {
  const log = openSync(`${file}-wal`, "r+");
  if (process.platform === "win32") return log;
  const folder = openSync(dirname(file), "r");
  fsyncSync(folder);
  closeSync(folder);
  return log;
}
