/** Where plugins keep things, and how often something may happen. */
import type Keyv from "keyv";
import type { FigureSource, Figures, FiguresQuery } from "./usage.ts";

export interface Store {
  /** Keyed state with an optional time to live. Every write is durable when its promise resolves. */
  keyed<Value>(namespace: string): Keyv<Value>;
  /** Another text after each change of keyed state, by any process. Absent where only reading it would tell. */
  keyedVersion?(): string;
  /** Ordered and searchable state: the owner's tables, after its numbered migrations have run. */
  tables(owner: string, migrations: Migrations): Promise<Sql>;
  /**
   * 32 bytes for one purpose, the same at every start, derived from the home's secrets key: nothing of them is
   * stored. For what a plugin signs or seals. It changes when the operator changes that key.
   */
  keyFor(purpose: string): Promise<Uint8Array>;
  /** The same with those from before the key was changed, as long as the operator keeps them. */
  keysFor(purpose: string): Promise<Keyring>;
  /** This process among those on the store. */
  readonly node: Node;
  /** What others may have read before and keep. */
  readonly changes: Changes;
  /** Messages between nodes. */
  readonly signals: Signals;
  /** Does the work when nobody else on the store does something of this name. Others wait. */
  exclusive<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /**
   * Does the work now and whenever so much time has passed, on one of all nodes. What it does must bear being done again.
   * Answers how to stop.
   */
  repeat(name: string, everyMillis: number, work: () => Promise<unknown>): () => void;
  /** Counts how often something happens for each key, on all nodes together. */
  limiter(options: LimiterOptions): OpenLimiter;
  /** Deletes rows a few at a time, so that nobody waits for it. Returns how many went. */
  prune(rows: PrunedRows, options?: PruneOptions): Promise<number>;
  /** The same for rows that settings or `postern store prune` delete when they are older than an ISO time. */
  pruneOld(rows: AgingRows, before: string, options?: PruneOptions): Promise<number>;
  /** Sums and latencies over time of a table whose rows have a time. */
  figures(source: FigureSource): (query: FiguresQuery) => Promise<Figures>;
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
   * home or the store is read as it is. Answers how to stop.
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

/**
 * For what is of use at once or never: nothing of it is kept. All who listen hear a signal, on every node, also on the one that
 * sent it; on SQLite there is no other. Those of one node on one topic arrive in the order in which they were sent, once.
 */
export interface Signals {
  /** With a transaction it goes out when that commits, or not at all. Rejects where the database is away. */
  send(topic: string, payload: string, tx?: Transaction): Promise<void>;
  /** Nothing that is sent after `ready` is missed. Call what it answers to stop. */
  listen(topic: string, listener: SignalListener): (() => void) & { readonly ready: Promise<void> };
  /** Calls the listener after a gap in which signals may have been missed. Returns a function that unsubscribes. */
  onLost(listener: () => void): () => void;
}

/** `isOwn`: this node sent it. */
export type SignalListener = (payload: string, isOwn: boolean) => void;

/** How the store is doing, for the operator. */
export interface StoreHealth {
  /** How large it is, how fast it grows and how much disk is left; undefined where nobody looks. */
  describe(): Promise<{ readonly detail: string; readonly isFilling: boolean } | undefined>;
}

/** A process on the store. What it has taken for itself is marked with its id. */
export interface Node {
  /** New at each start. */
  readonly id: string;
  /**
   * SQL for the ids of all that live, to be used inside a statement, where it cannot be out of date:
   * `WHERE node NOT IN ${node.living}` finds what nobody is at any more.
   */
  readonly living: string;
  /** Those that serve, the oldest first. */
  list(): Promise<readonly NodeInfo[]>;
  /**
   * Tells, on each node, of every other that stopped or died, within 15 seconds. None is told twice; a node that starts later
   * is not told at all and has to look. A node that could not be reached for so long is told of its own id, when it can be reached
   * again: others have taken what it was at. Answers how to stop listening.
   */
  onDead(listener: (id: string) => void): () => void;
}

export interface NodeInfo {
  readonly id: string;
  readonly version: string;
  readonly startedAt: string;
  readonly lastSeenAt: string;
}

/** One list where every statement is understood by both engines; otherwise one for each, numbered on its own. */
export type Migrations =
  | readonly Migration[]
  | { readonly sqlite: readonly Migration[]; readonly postgres: readonly Migration[] };

/** SQL, or code where data has to be moved that SQL cannot compute. Runs once, in a transaction. */
export type Migration = string | ((tx: Transaction) => Promise<void>);

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
  /** What is sealed in them, so that it can be sealed again under a new key. */
  readonly sealed?: readonly SealedPlace[];
  /** What may go when it is old. */
  readonly ages?: readonly AgingRows[];
  /** What PostgreSQL keeps in tables and SQLite as files in the home. */
  readonly files?: {
    readonly tables: readonly string[];
    /** From the home to the tables. */
    push(home: string, sql: Sql): Promise<void>;
    pull(home: string, sql: Sql): Promise<void>;
  };
}

/** Values that are sealed: a namespace of keyed state, each under its key's name, or a column of a table. */
export type SealedPlace = {
  /** What they are, in the plural. */
  readonly about: string;
  /** The purpose of their key, as `keysFor` was asked. */
  readonly purpose: string;
} & (
  | { readonly namespace: string }
  | {
      readonly table: string;
      /** The column that a row is found by. */
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

export interface PrunedRows extends Pick<AgingRows, "table" | "key" | "order" | "removeRest"> {
  /** SQL: which rows, with a `?` for each value. */
  readonly condition: string;
  readonly values: readonly SqlValue[];
}

export interface PruneOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (done: number) => void;
}

export type SqlValue = string | number | bigint | null | Uint8Array;

/**
 * Plain SQL with a `?` for each value, prepared once and kept. What is asked for without waiting in between shares a
 * round trip where the database is another machine.
 */
export interface Queries {
  all<Row>(sql: string, ...values: SqlValue[]): Promise<Row[]>;
  get<Row>(sql: string, ...values: SqlValue[]): Promise<Row | undefined>;
  /** Returns how many rows it changed. */
  run(sql: string, ...values: SqlValue[]): Promise<number>;
}

/**
 * What is done through it commits together or not at all: a statement that fails fails the whole, also where nobody
 * waited for it. Functions that take part in one are given it.
 */
export interface Transaction extends Queries {
  /** Runs it right before the commit, together with others of its kind. */
  last(sql: string, ...values: SqlValue[]): void;
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

/** Counts per key over one or more windows; answers at once, never waits. */
export interface Limiter {
  take(key: string): Promise<LimitVerdict>;
  /** Returns the same verdict without counting. */
  peek(key: string): Promise<LimitVerdict>;
}

export interface LimitWindow {
  readonly limit: number;
  readonly seconds: number;
}

export interface LimiterOptions {
  /** Keeps the keys of different limiters apart. */
  readonly name: string;
  /** A function where the operator can change them: what was counted so far goes on counting. */
  readonly windows: readonly LimitWindow[] | (() => Promise<readonly LimitWindow[]>);
  /** False where a restart on SQLite may forget what was counted: then nothing is written there. */
  readonly isKept?: boolean;
}

/** A limiter and what it has to give back. */
export interface OpenLimiter extends Limiter {
  /** Hands unused permits back to the other nodes. */
  close(): Promise<void>;
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
