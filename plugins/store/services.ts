/** Services of the store for other plugins. */
import type { AgingRows, Changes, Keyring, Migrations, SqlValue } from "../../kernel/kit/store.ts";
import type { Figures, UsageBy, UsedStorage } from "../../kernel/kit/turns.ts";
import type { Env, Keyed, Limiter, Sql, Transaction } from "../../kernel/plugin.ts";
import type { ChangeableSetting } from "./wire.ts";

export type { ChangeableSetting } from "./wire.ts";

export interface Store {
  /** Keyed state with an optional time to live. Every write is durable when its promise resolves. */
  keyed<Value>(namespace: string): Keyed<Value>;
  /** Another text after each change of keyed state, by any process. Absent where only reading it would tell. */
  keyedVersion?(): string;
  /** Deletes the entries of keyed state whose key ends so, within a transaction. */
  removeKeyed(tx: Transaction, namespace: string, ending: string): Promise<void>;
  /** Ordered and searchable state: the owner's tables, after its numbered migrations have run. */
  tables(owner: string, migrations: Migrations): Promise<Sql>;
  /**
   * 32 bytes for one purpose, the same at every start, derived from the home's secrets key: nothing of them is
   * stored. For what a plugin signs or seals. It changes when the operator changes that key.
   */
  keyFor(purpose: string): Promise<Uint8Array>;
  /** The same with those from before the key was changed, as long as the operator keeps them. */
  keysFor(purpose: string): Promise<Keyring>;
  /** Its file, and the folder of its backups, if they are set: anyone who can read these can read everything. */
  readonly places?: readonly string[];
  /** This process among those on the store. */
  readonly node: Node;
  /** Tells readers when something that they keep has changed. */
  readonly changes: Changes;
  /** Messages between nodes. */
  readonly signals: Signals;
  /** Does the work when nobody else on the store does something of this name. Others wait. */
  exclusive<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /**
   * Does the work now and whenever so much time has passed, on one of all nodes. What it does must bear being done again.
   * Returns a function that stops it.
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

/**
 * For what is of use at once or never: nothing of it is kept. All who listen hear a signal, on every node, also on the one that
 * sent it; on SQLite there is no other. Those of one node on one topic arrive in the order in which they were sent, once.
 */
export interface Signals {
  /** With a transaction it goes out when that commits, or not at all. Rejects where the database is away. */
  send(topic: string, payload: string, tx?: Transaction): Promise<void>;
  /** Nothing that is sent after `ready` is missed; it rejects where the database is away. Call what it answers to stop. */
  listen(topic: string, listener: SignalListener): (() => void) & { ready(): Promise<void> };
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

export interface PrunedRows extends Pick<AgingRows, "table" | "key" | "order" | "removeRest"> {
  /** SQL: which rows, with a `?` for each value. */
  readonly condition: string;
  readonly values: readonly SqlValue[];
}

export interface PruneOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (done: number) => void;
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

/** From one time up to another. */
export interface FiguresSpan {
  readonly since: string;
  readonly until: string;
}

export interface FiguresQuery {
  /** One after the other, without gaps. */
  readonly spans: readonly FiguresSpan[];
  readonly by?: UsageBy;
  /** Limits the figures to this user. */
  readonly user?: string;
}

/** A table whose rows have a time, and what is counted of them, in SQL. */
export interface FigureSource {
  readonly table: string;
  /** It has all columns that are asked for, by time. Absent where the table itself is in that order. */
  readonly index?: string;
  readonly time: string;
  /** Tells rows apart, and is as even as odd. */
  readonly number: string;
  readonly failed: string;
  /** An SQL condition for the rows whose duration counts. */
  readonly timed: string;
  readonly inputTokens: string;
  readonly outputTokens: string;
  readonly usd: string;
  /** Of rows whose price is not known. */
  readonly estimatedUsd?: string;
  /** Input that providers had cached, and what that saved. */
  readonly cachedTokens?: string;
  readonly savedUsd?: string;
  /** The SQL of each column that it can be grouped by. */
  readonly groups: Readonly<Partial<Record<NonNullable<FiguresQuery["by"]>, string>>>;
}

/** A part of a plugin's settings that follows what is stored, on every node. */
export interface Live<Config> {
  /** As it is now. The same object while nothing of it has changed, and the last one where the store is away. */
  current(): Promise<Config>;
  /** As it was when somebody last looked. */
  last(): Config;
  /** Returns a function that stops it. */
  onChange(listener: (config: Config) => void): () => void;
}

/** By name; null goes back to the default. */
export type SettingValues = Readonly<Record<string, string | null>>;

export interface StoredSettings {
  /** Settings that this reader reads may be changed, and no others. The plugin names it in `live` too. */
  live<Config>(plugin: string, read: (env: Env) => Config): Promise<Live<Config>>;
  list(): Promise<readonly ChangeableSetting[]>;
  /** All of them or none. A fault names each that cannot be changed, and why. */
  change(values: SettingValues, who: string): Promise<void>;
  /** Reads with these values without storing them. Refuses the same values as `change`. */
  preview<Config>(plugin: string, read: (env: Env) => Config, values: SettingValues): Promise<Config>;
}

/** Counts the storage of each user over all plugins, and enforces `USER_STORAGE_MB`. Plugins say what counts with `keeps` in their tables. */
export interface UserStorage {
  /** Counts what is about to be stored. Throws the fault `storage_full` where the user has no room for it. */
  take(user: string, bytes: number): Promise<void>;
  /** The same for what may take more than a second to store: it counts until the returned function is called. */
  hold(user: string, bytes: number): Promise<() => void>;
  used(user: string): Promise<UsedStorage>;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    store: Store;
    storage: UserStorage;
    /** Settings that can be changed while the service runs. */
    settings: StoredSettings;
    storeHealth: StoreHealth;
  }
}
