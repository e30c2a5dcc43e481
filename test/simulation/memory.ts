/** The store of the simulation: SQLite in memory, which in a fleet understands what Postern says to PostgreSQL. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Migrations, SqlValue } from "../../kernel/kit/store.ts";
import type { Sql, Transaction } from "../../kernel/plugin.ts";
import { stepsOf } from "../../plugins/store/engine/migrations.ts";
import { beat, draw } from "./statements.ts";

export interface Database extends Sql {
  /** True where it is asked by several nodes at once. */
  readonly isConcurrent?: boolean;
  migrate(owner: string, migrations: Migrations): Promise<void>;
  close(): Promise<void>;
}

export type Values = readonly SqlValue[];

/** Empty tables by engine, made once for a process. */
const templates = { sqlite: createTemplate(), postgres: createTemplate() };

function createTemplate() {
  return { database: new DatabaseSync(":memory:"), owners: new Set<string>() };
}

/** The database's clock in milliseconds, in the words of both engines. */
export const NOW =
  /\(extract\(epoch FROM \w+\(\)\) \* 1000\)::bigint|CAST\(unixepoch\('now', 'subsec'\) \* 1000 AS INTEGER\)/g;
const LOCKS = /\bFOR UPDATE(?: OF \w+)?(?: SKIP LOCKED)?/g;
/** The search in threads and memory, and rows that nobody counts any more: nothing here depends on them. */
const LEFT_OUT = /\b(?:thread_texts|memory_words)\b|pg_advisory_xact_lock|\bctid\b/;

/** `now`: the database's own clock. */
export function openMemory(engine: Sql["engine"], now: () => number): Database {
  const template = templates[engine];
  const database = new DatabaseSync(":memory:");
  if (template.owners.size > 0) database.deserialize(template.database.serialize());
  database.exec("PRAGMA foreign_keys = ON");
  database.function("simulated_now", () => now());
  const statements = new Map<string, StatementSync>();

  function prepare(text: string): StatementSync {
    let statement = statements.get(text);
    if (statement === undefined) {
      statement = database.prepare(text.replaceAll(NOW, "simulated_now()").replaceAll(LOCKS, ""));
      statements.set(text, statement);
    }
    return statement;
  }
  /** The index of words leaves numbers of rows behind that no number of JavaScript holds. */
  const change = (text: string, values: Values): number => {
    const statement = prepare(text);
    statement.setReadBigInts(true);
    try {
      return Number(statement.run(...(values as SqlValue[])).changes);
    } finally {
      statement.setReadBigInts(false);
    }
  };
  const all = (text: string, values: Values): unknown[] => {
    if (engine === "postgres") {
      if (LEFT_OUT.test(text)) return [];
      if (text.includes("WITH beat AS")) return beat(plain, values, now());
      if (text.includes("WITH asked AS")) return [draw(plain, text, values, now())];
    }
    return prepare(text).all(...(values as SqlValue[]));
  };
  const run = (text: string, values: Values): number => {
    if (engine === "postgres" && LEFT_OUT.test(text)) return 0;
    return change(text, values);
  };
  const plain = {
    all: (text: string, ...values: SqlValue[]) => prepare(text).all(...values) as never[],
    run: (text: string, ...values: SqlValue[]) => void change(text, values),
  };
  const attempt = <Result>(work: () => Result): Promise<Result> => {
    try {
      return Promise.resolve(work());
    } catch (error) {
      const failed = Promise.reject(error);
      failed.catch(() => {});
      return failed;
    }
  };
  const queries = {
    all: <Row>(text: string, ...values: SqlValue[]) => attempt(() => all(text, values) as Row[]),
    get: <Row>(text: string, ...values: SqlValue[]) => attempt(() => all(text, values)[0] as Row | undefined),
    run: (text: string, ...values: SqlValue[]) => attempt(() => run(text, values)),
  };

  return {
    engine,
    ...queries,
    async transaction(work) {
      database.exec("BEGIN IMMEDIATE");
      const closing: (() => void)[] = [];
      let failure: { readonly error: unknown } | undefined;
      let unmet: Error | undefined;
      const noting =
        <Given extends unknown[], Result>(query: (...given: Given) => Promise<Result>) =>
        (...given: Given) => {
          const answer = query(...given);
          answer.catch((error: unknown) => {
            failure ??= { error };
          });
          return answer;
        };
      const tx: Transaction = {
        all: noting(queries.all) as Transaction["all"],
        get: noting(queries.get) as Transaction["get"],
        run: noting(queries.run),
        last: (text, ...values) => void closing.push(() => run(text, values)),
        demand(error, text, ...values) {
          if (all(text, values).length === 0) unmet ??= error;
        },
      };
      try {
        const result = await work(tx);
        for (const statement of closing) statement();
        if (unmet !== undefined || failure !== undefined) throw failure?.error;
        database.exec("COMMIT");
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw unmet ?? error;
      }
    },
    async migrate(owner, migrations) {
      if (template.owners.has(owner)) return;
      template.owners.add(owner);
      const own = stepsOf(migrations, "sqlite");
      const steps = own.length > 0 ? own : stepsOf(migrations, engine);
      for (const step of steps) {
        if (typeof step !== "string") throw new Error(`${owner} has a migration that is no text`);
        for (const one of [template.database, database]) one.exec(step.replaceAll('COLLATE "C"', ""));
      }
    },
    close: async () => database.close(),
  };
}
