/** Commits on one SQLite connection. What is asked for at the same time shares one, and one flush of the disk. */
import type { SqlValue } from "../../../kernel/kit/store.ts";
import type { Transaction } from "../../../kernel/plugin.ts";
import { watchStandstill } from "../engine/standstill.ts";
import type { Connection } from "./connection.ts";

const MAX_ROUNDS = 4;

/** Work that waits for the next shared commit. */
interface QueuedWork {
  readonly flush: boolean;
  /** One statement undoes itself where it fails. */
  readonly isStatement: boolean;
  work(tx: Transaction): unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

type Statement = () => unknown;

interface Handle {
  readonly tx: Transaction;
  /** The error of a demand that was not met. */
  unmet(): Error | undefined;
  assertDone(): void;
  end(): void;
}

const afterCommit = new WeakMap<Transaction, (() => void)[]>();

/** Does it when what the handle is for has been committed. */
export function onCommit(tx: Transaction, work: () => void): void {
  const works = afterCommit.get(tx) ?? [];
  works.push(work);
  afterCommit.set(tx, works);
}

/** Makes what has been committed survive a power cut. */
export interface Flushing {
  now(): void;
  soon(): void;
}

export function createCommits(writer: Connection, flushing: Flushing) {
  const { connection } = writer;
  let waiting: QueuedWork[] = [];
  let isScheduled = false;
  let committing: Promise<void> | undefined;
  // Above nothing while a transaction is open.
  let depth = 0;
  let closing: Statement[] = [];
  // True when something in it would be lost with the whole.
  let hasWritten = false;
  // Why SQLite has rolled back the open transaction, as it does when the disk is full.
  let broken: unknown;
  const stall = createStall();

  /** Runs a statement. After SQLite rolled a transaction back none is run: it would be committed alone. */
  const execute = <Result>(statement: () => Result): Result => {
    if (broken !== undefined) throw broken;
    try {
      return statement();
    } catch (error) {
      if (depth > 0 && !connection.isTransaction) broken = error;
      throw error;
    }
  };

  const command = (sql: string): void => execute(() => void writer.run(sql, []));

  /** Runs one piece of work so that its failure undoes only what it did; returns a function that tells its caller. */
  async function attempt({ work, isStatement, resolve, reject }: QueuedWork): Promise<() => void> {
    const before = closing.length;
    let undo: "ROLLBACK" | "ROLLBACK TO alone" | undefined;
    // A transaction without writes has nothing to undo, and the first to write is undone with the whole.
    const handle = createHandle(() => {
      if (undo !== undefined) return;
      if (hasWritten) command("SAVEPOINT alone");
      undo = hasWritten ? "ROLLBACK TO alone" : "ROLLBACK";
      hasWritten = true;
    });
    try {
      const given = work(handle.tx);
      const result = given instanceof Promise ? await stall.unless(given) : given;
      handle.assertDone();
      if (isStatement) hasWritten = true;
      if (undo === "ROLLBACK TO alone") command("RELEASE alone");
      return () => {
        resolve(result);
        for (const tell of afterCommit.get(handle.tx) ?? []) tell();
      };
    } catch (error) {
      closing.length = before;
      // A full disk may have rolled back everything already.
      if (!connection.isTransaction) throw error;
      if (undo !== undefined) {
        command(undo);
        command(undo === "ROLLBACK" ? "BEGIN IMMEDIATE" : "RELEASE alone");
        if (undo === "ROLLBACK") hasWritten = false;
      }
      // The work goes on after a demand that was not met, and may have failed for that.
      return () => reject(handle.unmet() ?? error);
    } finally {
      stall.over();
      handle.end();
    }
  }

  async function commitWaiting(): Promise<void> {
    const batch = waiting;
    waiting = [];
    const answers: (() => void)[] = [];
    try {
      command("BEGIN IMMEDIATE");
      depth++;
      try {
        for (const entry of batch) answers.push(await attempt(entry));
        for (const statement of closing) execute(statement);
        command("COMMIT");
      } finally {
        // The first error is the one to report.
        if (connection.isTransaction) connection.exec("ROLLBACK");
        depth--;
        closing = [];
        hasWritten = false;
        broken = undefined;
      }
      // Nobody has seen what was committed yet: no other code runs before it is on disk.
      if (batch.some((entry) => entry.flush)) flushing.now();
      else flushing.soon();
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const answer of answers) answer();
  }

  /** Puts the commit off for as long as each round of the event loop brings more work: a flush takes longer than a few rounds. */
  function gather(seen = 1, round = 0): void {
    if (waiting.length > seen && round < MAX_ROUNDS) setImmediate(gather, waiting.length, round + 1);
    else void drain();
  }

  async function drain(): Promise<void> {
    isScheduled = false;
    if (committing !== undefined || waiting.length === 0) return;
    committing = commitWaiting();
    await committing;
    committing = undefined;
    if (waiting.length > 0) schedule();
  }

  function schedule(): void {
    if (isScheduled || committing !== undefined) return;
    isScheduled = true;
    setImmediate(gather);
  }

  /** A handle for one piece of work, which does nothing more once that work is over. */
  function createHandle(prepare: () => void): Handle {
    let isOver = false;
    let failure: { readonly error: unknown } | undefined;
    let unmet: Error | undefined;
    const statement = <Result>(run: () => Result): Promise<Result> => {
      try {
        if (isOver) throw new Error("a statement came after its transaction was over");
        prepare();
        stall.moved();
        return Promise.resolve(execute(run));
      } catch (error) {
        failure ??= { error };
        const failed = Promise.reject(error);
        // A caller that does not wait for a statement hears of its failure from the commit.
        failed.catch(() => {});
        return failed;
      }
    };
    return {
      tx: {
        all: <Row>(sql: string, ...values: SqlValue[]) => statement(() => writer.all<Row>(sql, values)),
        get: <Row>(sql: string, ...values: SqlValue[]) => statement(() => writer.get<Row>(sql, values)),
        run: (sql, ...values) => statement(() => writer.run(sql, values)),
        last: (sql, ...values) => {
          // It would be done with somebody else's work.
          if (isOver) throw new Error("a statement came after its transaction was over");
          closing.push(() => writer.run(sql, values));
        },
        demand: (error, sql, ...values) => {
          if (isOver) throw new Error("a statement came after its transaction was over");
          void statement(() => {
            if (writer.get(sql, values) !== undefined) return;
            unmet ??= error;
            throw error;
          });
        },
      },
      unmet: () => unmet,
      assertDone: () => {
        if (failure !== undefined) throw failure.error;
      },
      end: () => {
        isOver = true;
      },
    };
  }

  const ask = <Result>(given: {
    readonly flush: boolean;
    readonly isStatement?: boolean;
    work(tx: Transaction): Result | Promise<Result>;
  }): Promise<Result> =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({
        isStatement: false,
        ...given,
        resolve: resolve as (result: unknown) => void,
        reject,
      });
      schedule();
    });

  return {
    execute,
    ask,
    isOpen: (): boolean => depth > 0,
    async idle(): Promise<void> {
      while (waiting.length > 0 || committing !== undefined) await (committing ?? drain());
    },
  };
}

/** Work is watched only if it is not over when the event loop comes round: a timer for each transaction would cost more than most of them do. */
function createStall() {
  let underWay: { reject(error: Error): void } | undefined;
  let watch: ReturnType<typeof watchStandstill> | undefined;
  let isLooking = false;

  function look(): void {
    isLooking = false;
    if (underWay !== undefined) watch = watchStandstill(underWay.reject);
  }

  return {
    unless: <Result>(work: Promise<Result>): Promise<Result> =>
      new Promise((resolve, reject) => {
        underWay = { reject };
        if (!isLooking) setImmediate(look);
        isLooking = true;
        work.then(resolve, reject);
      }),
    moved: (): void => watch?.moved(),
    over(): void {
      underWay = undefined;
      watch?.end();
      watch = undefined;
    },
  };
}
