/**
 * What plugins lend each other. A plugin names a service in `needs` or `wants` and gets it by `use`.
 * A third party adds its own by declaration merging:
 *
 *   declare module "postern/plugin" { interface Services { clock: { now(): Date } } }
 */
import type Router from "@koa/router";
import type Keyv from "keyv";
import type { Context } from "koa";
import type { Agent, Approvals, ExternalTools, Jobs, Memory, Threads } from "./agent.ts";
import type { ToolAdmin, Tools } from "./tools.ts";

export interface Services {
  kernel: Kernel;
  store: Store;
  tools: Tools;
  toolAdmin: ToolAdmin;
  agent: Agent;
  threads: Threads;
  jobs: Jobs;
  memory: Memory;
  approvals: Approvals;
  externalTools: ExternalTools;
  chatLimit: Limiter;
  web: Web;
}

// —— kernel: always there ————————————————————————————————————————————————

export interface Kernel {
  readonly version: string;
  readonly startedAt: Date;
  /** Known secret values, hidden in every log line; whoever learns one adds it. */
  readonly mask: Mask;
  /**
   * True for the service itself, which holds the home's claim. False for a command that borrows a few
   * services beside it: such a process works no queue, recovers nothing and sweeps nothing.
   */
  readonly serving: boolean;
  plugins(): readonly PluginState[];
  /** What plugins had to tell the operator, for whoever owns the screen. */
  lines(): readonly string[];
  /** Runs every named check. */
  readiness(): Promise<readonly CheckResult[]>;
  /** The newest log lines as JSON texts, oldest first, secrets hidden. */
  recentLog(): readonly string[];
  /** Asks the process to stop everything in order and end, as a signal would. */
  shutdown(): void;
}

export interface PluginState {
  readonly name: string;
  readonly on: boolean;
  /** An address when on, the reason when off. */
  readonly detail: string;
}

export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly millis: number;
}

export interface Mask {
  add(secret: string): void;
  /** The text with every known secret value replaced. */
  hide(text: string): string;
  /** True where the text holds a known secret value. */
  finds(text: string): boolean;
  /** How many last characters may be the beginning of a known secret value, which a stream must hold back. */
  tail(text: string): number;
  /** How many values are known: what was hidden before it changed has to be hidden again. */
  readonly size: number;
}

// —— store ————————————————————————————————————————————————————————————————

export interface Store {
  /** Keyed state with an optional time to live. Every write is durable when its promise resolves. */
  keyed<Value>(namespace: string): Keyv<Value>;
  /** Ordered and searchable state: the owner's tables, after its numbered migrations have run. */
  tables(owner: string, migrations: readonly string[]): Sql;
}

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

// —— limiter ——————————————————————————————————————————————————————————————

/** Counts per key over one or more windows; answers at once, never waits. */
export interface Limiter {
  take(key: string): Promise<LimitVerdict>;
  /** The same answer, without counting. */
  peek(key: string): Promise<LimitVerdict>;
}

export interface LimitVerdict {
  readonly ok: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the tightest window has room again, or one place more. */
  readonly resetSecs: number;
}

// —— gateway ——————————————————————————————————————————————————————————————

export interface User {
  readonly id: string;
  readonly role: "operator" | "user";
}

/** The gateway's listener, lent to plugins that mount routes on it. */
export interface Web {
  /** Routes here are reached only with a valid token; errors thrown become the JSON envelope. */
  readonly router: Router;
  /** Who sent this request. */
  user(context: Context): User;
  /** Where people reach the gateway, without a slash at the end. */
  readonly url: string;
}
