/** SQL on PostgreSQL. */
import { randomBytes, randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { SqlValue } from "../../../kernel/kit/store.ts";
import { type Fault, reason, type Sql, type Transaction } from "../../../kernel/plugin.ts";
import type { PostgresSettings } from "../config/postgres-url.ts";
import { ROOM_BYTES } from "../engine/open-store.ts";
import { watchStandstill } from "../engine/standstill.ts";
import { isConflict, isStale, mayRefuseWrites } from "./faults.ts";
import { type Lease, openPool, type StatementResult } from "./pool.ts";
import { createStatements, type Statement } from "./statements.ts";

/** Work that may take as long as it takes. */
const PATIENT_TIMEOUT_MS = 6 * 3600 * 1000;

// Work that conflicts with another transaction is tried this often.
const TRIES = 6;
const RETRY_MS = 20;

// Up to this many statements of one moment share a connection: PostgreSQL does one after the other.
const TOGETHER = 16;

const PROBE_MS = 5000;

const text = (sql: string): Statement => ({ text: sql });
const BEGIN = text("BEGIN ISOLATION LEVEL READ COMMITTED");
const BEGIN_UNFLUSHED = text(`${BEGIN.text}; SET LOCAL synchronous_commit = off`);
const BEGIN_PATIENT = text(`${BEGIN.text}; SET LOCAL statement_timeout = 0`);
const COMMIT = text("COMMIT");
const ROLLBACK = text("ROLLBACK");
const READ_ONLY = text("SELECT 1 WHERE current_setting('transaction_read_only') = 'on'");
const LINE_BYTES = 1024;
const ROOM = `SELECT repeat('x', ${LINE_BYTES}) AS line FROM generate_series(1, ${ROOM_BYTES / LINE_BYTES})`;
const TAKEN_BACK = new Error("this was only tried");
const UNMET = "a demand of Postern was not met, which it expects and handles";

export interface TransactionOptions {
  readonly flush?: boolean;
  readonly isPatient?: boolean;
}

/** Inside the store a transaction can do what plugins have no use for. */
export interface Handle extends Transaction {
  script(sql: string): Promise<void>;
}

export interface PostgresDatabase extends Sql {
  readonly engine: "postgres";
  transaction<Result>(work: (tx: Handle) => Promise<Result>, options?: TransactionOptions): Promise<Result>;
  readonly config: pg.ClientConfig;
  explain(error: unknown): unknown;
  /** The number of times this node has waited for the database. */
  roundTrips(): number;
  probe(): Promise<void>;
  /** Throws if it does not take writes. */
  assertWritable(): Promise<void>;
  close(): Promise<void>;
}

/** A statement outside a transaction, until a connection is free. */
interface QueuedStatement {
  readonly statement: Statement;
  readonly values: readonly SqlValue[];
  readonly timeoutMs: number | undefined;
  resolve(answer: StatementResult): void;
  reject(error: unknown): void;
}

export async function openDatabase(settings: PostgresSettings): Promise<PostgresDatabase> {
  const pool = await openPool(settings);
  const statements = createStatements();
  const working = new Set<Promise<unknown>>();
  let gathering: QueuedStatement[] | undefined;
  // Whether a write was refused, and nobody has tried since whether others are.
  let isInDoubt = false;
  let trying: Promise<void> | undefined;

  /** Sends what has been asked for when there is a connection for it. */
  async function dispatch(batch: QueuedStatement[]): Promise<void> {
    let lease: Lease;
    try {
      lease = await pool.lease();
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    } finally {
      if (gathering === batch) gathering = undefined;
    }
    const answers = batch.map(({ statement, values, timeoutMs, resolve, reject }) =>
      lease.send(statement, values, timeoutMs).then(resolve, reject),
    );
    await Promise.all(answers);
    lease.release();
  }

  function ask(
    statement: Statement,
    values: readonly SqlValue[],
    timeoutMs?: number,
  ): Promise<StatementResult> {
    return new Promise<StatementResult>((resolve, reject) => {
      const isFirst = gathering === undefined || gathering.length >= TOGETHER;
      const batch = isFirst ? [] : (gathering as QueuedStatement[]);
      batch.push({ statement, values, timeoutMs, resolve, reject });
      if (!isFirst) return;
      gathering = batch;
      void dispatch(batch);
    });
  }

  const single = (sql: string, values: readonly SqlValue[]): Promise<StatementResult> => {
    const statement = statements.find(sql);
    const attempted = () =>
      ask(statement, values).catch((error: unknown) => {
        if (isStale(error)) statements.renew(statement);
        throw error;
      });
    return guard(again(attempted));
  };

  async function attempt<Result>(
    work: (tx: Handle) => Promise<Result>,
    { flush = true, isPatient = false }: TransactionOptions,
  ): Promise<Result> {
    const lease = await pool.lease();
    const patience = isPatient ? PATIENT_TIMEOUT_MS : undefined;
    const begin = isPatient ? BEGIN_PATIENT : flush ? BEGIN : BEGIN_UNFLUSHED;
    const closing: (() => void)[] = [];
    const watch = watchIdle();
    let isOpen = false;
    let isOver = false;
    let failure: { readonly error: unknown; readonly isUnmet: boolean } | undefined;

    const send = (
      statement: Statement,
      values?: readonly SqlValue[],
      unmet?: Error,
    ): Promise<StatementResult> => {
      const answer = watch.during(lease.send(statement, values, patience));
      // PostgreSQL does nothing more after it: the first error says why.
      const heard = answer.catch((error: unknown) => {
        if (isStale(error)) statements.renew(statement);
        const isUnmet = unmet !== undefined && reason(error).includes(UNMET);
        failure ??= { error: isUnmet ? unmet : error, isUnmet };
        throw pool.explain(failure.error);
      });
      return unawaited(heard);
    };
    const execute = (
      statement: Statement,
      values?: readonly SqlValue[],
      unmet?: Error,
    ): Promise<StatementResult> => {
      if (isOver) return Promise.reject(new Error("a statement came after its transaction was over"));
      if (!isOpen) void send(begin);
      isOpen = true;
      return send(statement, values, unmet);
    };
    const run = (sql: string, values: readonly SqlValue[]) => execute(statements.find(sql), values);
    const tx: Handle = {
      all: <Row>(sql: string, ...values: SqlValue[]) =>
        unawaited(run(sql, values).then(({ rows }) => rows as Row[])),
      get: <Row>(sql: string, ...values: SqlValue[]) =>
        unawaited(run(sql, values).then(({ rows }) => rows[0] as Row | undefined)),
      run: (sql, ...values) => unawaited(run(sql, values).then(({ count }) => count)),
      last: (sql, ...values) => {
        if (isOver) throw new Error("a statement came after its transaction was over");
        closing.push(() => void run(sql, values));
      },
      demand: (unmet, sql, ...values) => {
        if (isOver) throw new Error("a statement came after its transaction was over");
        // Casting these words to a number fails, and the server's log shows them.
        const number = `SELECT CAST(CASE WHEN EXISTS (${sql}\n) THEN '1' ELSE '${UNMET}' END AS integer)`;
        void execute(statements.find(number), values, unmet);
      },
      script: async (sql) => void (await execute(text(sql))),
    };

    try {
      const result = await Promise.race([work(tx), watch.stalled, lease.lost]);
      for (const statement of closing) statement();
      isOver = true;
      if (!isOpen) return result;
      const { command } = await send(COMMIT);
      isOpen = false;
      if (failure !== undefined) throw failure.error;
      if (command !== "COMMIT") throw new Error(`PostgreSQL answered a commit with ${command}`);
      return result;
    } catch (error) {
      isOver = true;
      if (isOpen) await lease.send(ROLLBACK).catch(lease.discard);
      // The work may have turned a conflict, or a demand that was not met, into another error.
      const first = failure?.error ?? error;
      throw isRepeatable(first) || failure?.isUnmet ? first : error;
    } finally {
      watch.end();
      lease.release();
    }
  }

  function guard<Result>(answer: Promise<Result>): Promise<Result> {
    const guarded = answer
      .catch((error: unknown) => {
        isInDoubt ||= mayRefuseWrites(error);
        throw pool.explain(error);
      })
      .finally(() => working.delete(guarded));
    working.add(guarded);
    return guarded;
  }

  const transaction: PostgresDatabase["transaction"] = (work, options = {}) =>
    guard(again(() => attempt(work, options)));

  async function tryWrite(): Promise<void> {
    // A table that is never there: its file is gone as soon as it is taken back.
    const fill = `CREATE UNLOGGED TABLE room_${randomBytes(8).toString("hex")} AS ${ROOM}`;
    const tried = transaction(async (tx) => {
      await tx.script(fill);
      throw TAKEN_BACK;
    });
    await tried.catch((error: unknown) => {
      // A role that may make no table hears from its next write how it is.
      if (error !== TAKEN_BACK && (error as Fault).code !== "store_forbidden") throw error;
    });
    isInDoubt = false;
  }

  return {
    engine: "postgres",
    all: async <Row>(sql: string, ...values: SqlValue[]) => (await single(sql, values)).rows as Row[],
    get: async <Row>(sql: string, ...values: SqlValue[]) =>
      (await single(sql, values)).rows[0] as Row | undefined,
    run: async (sql, ...values) => (await single(sql, values)).count,
    transaction,
    config: pool.config,
    explain: pool.explain,
    roundTrips: pool.roundTrips,
    probe: async () => void (await guard(ask(text("SELECT 1"), [], PROBE_MS))),
    async assertWritable() {
      const { rows } = await guard(ask(READ_ONLY, [], PROBE_MS));
      if (rows.length === 0 && !isInDoubt) return;
      // Anyone may ask whether the service is ready: together they write once.
      trying ??= tryWrite().finally(() => {
        trying = undefined;
      });
      await trying;
    },
    async close() {
      while (working.size > 0) await Promise.allSettled(working);
      await pool.close();
    },
  };
}

/** A caller that does not wait for a statement hears of its failure from the commit. */
function unawaited<Result>(answer: Promise<Result>): Promise<Result> {
  answer.catch(() => {});
  return answer;
}

const isRepeatable = (error: unknown): boolean => isConflict(error) || isStale(error);

async function again<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === TRIES || !isRepeatable(error)) throw error;
      await sleep(randomInt(RETRY_MS * 2 ** tries));
    }
  }
}

/** Notices a transaction that stands still though none of its statements is under way. */
function watchIdle() {
  let underWay = 0;
  const { promise: stalled, reject } = Promise.withResolvers<never>();
  stalled.catch(() => {});
  const watch = watchStandstill((error) => (underWay > 0 ? watch.moved() : reject(error)));
  return {
    stalled,
    async during<Result>(answer: Promise<Result>): Promise<Result> {
      underWay++;
      try {
        return await answer;
      } finally {
        underWay--;
        watch.moved();
      }
    },
    end: watch.end,
  };
}
