/** The store that plugins keep things in, and its limits. */

export interface Keyed<Value> {
  get(key: string): Promise<Value | undefined>;
  get(keys: string[]): Promise<(Value | undefined)[]>;
  set(key: string, value: Value, ttlMillis?: number): Promise<unknown>;
  has(key: string): Promise<boolean>;
  /** Returns false where there was nothing. */
  delete(key: string): Promise<boolean>;
  clear(): Promise<void>;
  iterator(): AsyncIterable<readonly [key: string, value: Value]>;
}

/** Keys that are in use: they may change between two calls. */
export interface Keyring {
  /** The first signs and seals, every one verifies and opens. */
  all(): readonly [Uint8Array, ...Uint8Array[]];
  derive(purpose: string): Keyring;
}

export interface Changes {
  /** Everybody who follows the topic is told once this has committed. */
  mark(topic: string, tx?: Transaction): Promise<void>;
  /**
   * Tells of changes by any node, within two seconds, and now and then of none. On SQLite it tells nothing: what is in the
   * home or the store is read as it is. Returns a function that stops it.
   */
  follow(topic: string, listener: () => void): () => void;
  /** Reads once and keeps the value until somebody changes it, on any node. `read` is given what it returned the last time. */
  cache<Value>(topic: string, read: (last: Value | undefined) => Promise<Value>): Cached<Value>;
}

export interface Cached<Value> {
  get(): Promise<Value>;
  /** For who has changed it and wants to see that at once. */
  forget(): void;
  close(): void;
}

/** SQL, or code where data has to be moved that SQL cannot compute. Runs once, in a transaction. */
export type Migration = string | ((tx: Transaction) => Promise<void>);

/** One list where every statement is understood by both engines; otherwise one for each, numbered on its own. */
export type Migrations =
  | readonly Migration[]
  | { readonly sqlite: readonly Migration[]; readonly postgres: readonly Migration[] };

/** The tables of one owner, as `store.tables` is asked for them. */
export interface OwnedTables {
  readonly owner: string;
  readonly migrations: Migrations;
  /** Those that only help to find what others hold. They are not copied but filled again. */
  readonly derived?: readonly string[];
  /** Fills them from the others, whatever was in them. */
  derive?(sql: Sql): Promise<void>;
  /** Those with a column `"user"` whose rows go when that user is removed with all data. */
  readonly personal?: readonly string[];
  /** Moves the rows of one user to another. Where they cannot be joined, those of the other stay. */
  give?(tx: Transaction, from: string, to: string): Promise<void>;
  /** Sealed columns, so that they can be sealed again under a new key. */
  readonly sealed?: readonly SealedPlace[];
  readonly ages?: readonly AgingRows[];
  /** The columns that count against a user's storage. */
  readonly keeps?: readonly KeptBytes[];
  /** Data that PostgreSQL keeps in tables and SQLite as files in the home. */
  readonly files?: {
    readonly tables: readonly string[];
    push(home: string, sql: Sql): Promise<void>;
    pull(home: string, sql: Sql): Promise<void>;
  };
}

/** Values that are sealed: a namespace of keyed state, each under its key's name, or a column of a table. */
export type SealedPlace = {
  readonly about: string;
  /** The purpose of their key, as `keysFor` was asked. */
  readonly purpose: string;
} & (
  | { readonly namespace: string }
  | {
      readonly table: string;
      readonly id: string;
      readonly column: string;
      /** Under which name the row's value is sealed. */
      name(id: string): string;
      /** A column that is 1 where the value is sealed. */
      readonly flag?: string;
    }
);

/** Rows that settings or `postern store prune` delete when they are old. Where a user is asked for, they have a column `"user"`. */
export interface AgingRows {
  readonly kind: string;
  readonly table: string;
  /** The column that identifies a row, a text. */
  readonly key: string;
  /** The column that grows with each row, a number. */
  readonly order: string;
  /** The column with the time that counts, in ISO form. */
  readonly time: string;
  /** SQL: which of them may go. */
  readonly when: string;
  /** SQL: about how many bytes a row and all that goes with it have. */
  readonly bytes: string;
  /** Deletes what does not go along, in the same transaction. */
  removeRest?(tx: Transaction, engine: Sql["engine"], keys: readonly string[]): Promise<unknown>;
}

export interface KeptBytes {
  /** As people read it; several owners may keep the same kind. */
  readonly kind: "threads" | "files" | "memory" | "jobs" | "workspace" | "tools";
  /** SQL: one number for the user, its only `?`. It is asked now and then, and has to be quick: from an index, or without the texts. */
  readonly bytes: string;
}

export type SqlValue = string | number | bigint | null | Uint8Array;

/**
 * Plain SQL with a `?` for each value, prepared once and kept. What is asked for without waiting in between shares a
 * round trip where the database is another machine.
 */
export interface Queries {
  all<Row>(sql: string, ...values: SqlValue[]): Promise<Row[]>;
  get<Row>(sql: string, ...values: SqlValue[]): Promise<Row | undefined>;
  run(sql: string, ...values: SqlValue[]): Promise<number>;
}

/**
 * Everything done through it commits together or not at all: a statement that fails fails the whole, even if nobody
 * waited for it. Functions that take part in a transaction are given it.
 */
export interface Transaction extends Queries {
  /** Runs it right before the commit, together with others of its kind. */
  last(sql: string, ...values: SqlValue[]): void;
  /** Fails the whole with this error unless the query has a row. Nobody has to wait for the answer. */
  demand(unmet: Error, sql: string, ...values: SqlValue[]): void;
}

/** Statements outside a transaction each commit alone. Every write is on disk when its promise resolves. */
export interface Sql extends Queries {
  /** For the few statements that differ: full text and migrations. */
  readonly engine: "sqlite" | "postgres";
  /**
   * An exception rolls back. The work waits for its own statements and nothing else: others may be waiting for it.
   * Without `flush` it survives the end of this process, but not a power cut.
   */
  transaction<Result>(
    work: (tx: Transaction) => Promise<Result>,
    options?: { readonly flush?: boolean },
  ): Promise<Result>;
}

/** Counts per key over one or more windows; replies at once, never waits. */
export interface Limiter {
  take(key: string): Promise<LimitVerdict>;
  peek(key: string): Promise<LimitVerdict>;
}

export interface LimitVerdict {
  readonly ok: boolean;
  readonly limit: number;
  readonly windowSecs: number;
  readonly remaining: number;
  /** Whole seconds until the tightest window has room again, or one place more. */
  readonly resetSecs: number;
}
