/** Where plugins keep things, and how often something may happen. */
import type Keyv from "keyv";

export interface Store {
  /** Keyed state with an optional time to live. Every write is durable when its promise resolves. */
  keyed<Value>(namespace: string): Keyv<Value>;
  /** Ordered and searchable state: the owner's tables, after its numbered migrations have run. */
  tables(owner: string, migrations: readonly Migration[]): Sql;
  /**
   * 32 bytes for one purpose, the same at every start, derived from the home's secrets key: nothing of them is
   * stored. For what a plugin signs or seals.
   */
  keyFor(purpose: string): Promise<Uint8Array>;
}

/** SQL, or code where data has to be moved that SQL cannot compute. Runs once, in a transaction. */
export type Migration = string | ((sql: Sql) => void);

export type SqlValue = string | number | bigint | null | Uint8Array;

/** Synchronous, on one connection; statements are prepared once and kept. */
export interface Sql {
  all<Row>(sql: string, ...values: SqlValue[]): Row[];
  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined;
  run(sql: string, ...values: SqlValue[]): { readonly changes: number; readonly lastId: number };
  /** What belongs together commits together; an exception rolls back. Nests. */
  transaction<Result>(work: () => Result): Result;
  /**
   * The same a moment later, in one commit with all that is asked for until then; an exception rolls back
   * only its own work. The promise resolves when it is on disk.
   */
  batch<Result>(work: () => Result): Promise<Result>;
  /** Does it as the last thing in the transaction at hand, together with others of its kind; at once where none is open. */
  last(work: () => void): void;
}

/** Counts per key over one or more windows; answers at once, never waits. */
export interface Limiter {
  take(key: string): Promise<LimitVerdict>;
  /** The same answer, without counting. */
  peek(key: string): Promise<LimitVerdict>;
}

export interface LimitVerdict {
  readonly ok: boolean;
  readonly limit: number;
  /** The window that the limit is for. */
  readonly windowSecs: number;
  readonly remaining: number;
  /** Whole seconds until the tightest window has room again, or one place more. */
  readonly resetSecs: number;
}
