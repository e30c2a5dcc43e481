/**
 * What plugins lend each other. A plugin names a service in `needs` or `wants` and gets it by `use`.
 * A third party adds its own by declaration merging:
 *
 *   declare module "postern/plugin" { interface Services { clock: { now(): Date } } }
 */
import type Router from "@koa/router";
import type Keyv from "keyv";
import type { Context } from "koa";
import type {
  ApprovalDecision,
  Gate,
  JsonSchema,
  ModelName,
  ToolCall,
  ToolOutcome,
  Turn,
  TurnEvent,
  TurnRecord,
  TurnStatus,
} from "./turn.ts";

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

// —— tool host ————————————————————————————————————————————————————————————

export interface ToolInfo {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** JSON Schema of `params`. */
  readonly schema: JsonSchema;
  /** Sentences: what the capabilities file grants. */
  readonly grants: readonly string[];
  /** True where a grant goes beyond GET and HEAD. */
  readonly writes: boolean;
}

export interface Tools {
  list(): Promise<readonly ToolInfo[]>;
  /** Never throws for what a tool did; `signal` cancels the call. */
  call(
    call: ToolCall,
    options: { readonly user: string; readonly signal?: AbortSignal },
  ): Promise<ToolOutcome>;
}

/** A component with its capabilities file, as it was handed over. */
export interface ToolUpload {
  readonly component: Uint8Array;
  /** The text of the capabilities file. */
  readonly capabilities: string;
}

/** What an upload would be once installed. */
export interface ToolProposal extends Omit<ToolInfo, "name"> {
  /** SHA-256 of the component. */
  readonly digest: string;
  /** How it differs from the installed tool of that name. */
  readonly replaces?: {
    readonly version: string;
    /** Sentences: what the tool could not do until now, and what it no longer may. */
    readonly added: readonly string[];
    readonly removed: readonly string[];
  };
}

/** What a tool has to be given before it works. */
export interface ToolSetup {
  readonly secrets: readonly {
    readonly name: string;
    readonly isSet: boolean;
    /** What to ask a person for. */
    readonly question: string;
    /** How and where to get it. */
    readonly instructions?: string;
    readonly url?: string;
  }[];
  /** True where the credential comes from signing in elsewhere, by `beginSignIn`. */
  readonly signsIn: boolean;
}

/** What the host saw of one call. No params, no output, no secret. */
export interface ToolReceipt {
  readonly id: string;
  readonly at: string;
  readonly tool: string;
  readonly user: string;
  readonly millis: number;
  readonly status: "ok" | "error" | "unauthenticated";
  readonly code?: string;
  readonly message?: string;
  readonly requests: readonly {
    readonly method: string;
    readonly host: string;
    readonly status?: number;
    readonly bytes: number;
    readonly millis: number;
    readonly error?: string;
  }[];
  /** Names of the credentials that were put into requests. */
  readonly credentials: readonly string[];
  readonly memoryPeak: number;
  readonly logs: readonly { readonly level: string; readonly message: string }[];
}

/**
 * What the `tool` commands do, for a page: whoever asks is the operator, and has been shown the grants. A fault
 * of kind `invalid` says why something is refused, `missing` that there is no such tool.
 */
export interface ToolAdmin {
  /** Every check of an install under this name; changes nothing. */
  examine(name: string, upload: ToolUpload): Promise<ToolProposal>;
  /** Without `replace` a name that is taken is refused. */
  install(name: string, upload: ToolUpload, options: { readonly replace: boolean }): Promise<ToolInfo>;
  /** False where there is no such tool. */
  remove(name: string): Promise<boolean>;
  setup(name: string): Promise<ToolSetup>;
  setSecret(name: string, secret: string, value: string): Promise<void>;
  /** Where to send the browser; it comes back to `redirectUri`, which then goes to `finishSignIn`. */
  beginSignIn(name: string, redirectUri: string): Promise<{ readonly url: string }>;
  /** The tool that is signed in now; a fault where the address answers no sign-in that was begun here. */
  finishSignIn(redirected: URL): Promise<{ readonly tool: string }>;
  /** Newest first. */
  receipts(query: {
    readonly tool?: string;
    readonly user?: string;
    readonly limit?: number;
  }): Promise<readonly ToolReceipt[]>;
  receipt(id: string): Promise<ToolReceipt | undefined>;
}

// —— agent ————————————————————————————————————————————————————————————————

/** A turn under way. Nobody has to listen: it runs, ends and is stored all the same. */
export interface RunningTurn extends AsyncIterable<TurnEvent> {
  readonly id: string;
  readonly thread: string;
  readonly record: Promise<TurnRecord>;
  cancel(): void;
}

export interface Agent {
  /** Starts the turn. Throws a `Fault` where it cannot even begin (foreign thread, no such gate, busy). */
  run(turn: Turn): RunningTurn;
  /** True where that turn of this user was still running. */
  cancel(user: string, turn: string): boolean;
  /** Every event of every turn of this user, on whatever channel; answers its own undo. */
  watch(
    user: string,
    listener: (event: TurnEvent, turn: { readonly id: string; readonly thread: string }) => void,
  ): () => void;
  model(): ModelName;
}

export interface ThreadSummary {
  readonly id: string;
  readonly title: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly turns: number;
  readonly gate?: Gate;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Pass as `before` to go on; absent at the end. */
  readonly next?: string;
}

export interface Threads {
  list(
    user: string,
    query?: { readonly q?: string; readonly limit?: number; readonly before?: string },
  ): Page<ThreadSummary>;
  find(user: string, thread: string): ThreadSummary | undefined;
  turns(
    user: string,
    thread: string,
    query?: { readonly limit?: number; readonly before?: string },
  ): Page<TurnRecord>;
  turn(user: string, turn: string): TurnRecord | undefined;
  rename(user: string, thread: string, title: string): void;
  remove(user: string, thread: string): void;
}

export type JobStatus = "queued" | "running" | "completed";

export interface NewJob {
  readonly user: string;
  readonly message: string;
  readonly channel: string;
  /** The caller's name for a conversation of this user: jobs of one run in order on one thread. */
  readonly conversation?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The same key within 24 hours answers the first submission's job. */
  readonly idempotencyKey?: string;
}

export interface Job {
  readonly id: string;
  readonly user: string;
  readonly status: JobStatus;
  readonly thread?: string;
  readonly conversation?: string;
  readonly response?: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly createdAt: string;
  readonly completedAt?: string;
}

export interface Jobs {
  /** On disk when it returns. */
  submit(job: NewJob): Job;
  find(id: string): Job | undefined;
  list(query?: {
    readonly user?: string;
    readonly status?: JobStatus;
    readonly limit?: number;
    readonly before?: string;
  }): Page<Job>;
  /**
   * A queued job completes with the error `cancelled`; a running one is stopped, also where another process
   * (`postern jobs cancel`) asks. A completed one is left as it is.
   */
  cancel(id: string): Job | undefined;
  /** The job as it is when it completes, or after so many milliseconds. */
  wait(id: string, millis: number): Promise<Job | undefined>;
  counts(): { readonly queued: number; readonly running: number };
  /** Told of every job that completes; answers its own undo. */
  onCompleted(listener: (job: Job) => void): () => void;
}

export interface MemoryHit {
  readonly path: string;
  readonly snippet: string;
  readonly score: number;
  readonly updatedAt: string;
}

export interface Memory {
  search(user: string, q: string, limit?: number): Promise<readonly MemoryHit[]>;
  tree(
    user: string,
  ): readonly { readonly path: string; readonly updatedAt: string; readonly bytes: number }[];
  read(
    user: string,
    path: string,
  ):
    | { readonly path: string; readonly text: string; readonly updatedAt: string; readonly version: number }
    | undefined;
  write(user: string, path: string, text: string): { readonly path: string; readonly version: number };
  remove(user: string, path: string): boolean;
}

export interface Approvals {
  /** What was remembered for this user: tool → always allowed or denied. */
  remembered(user: string): Readonly<Record<string, "allow" | "deny">>;
  remember(user: string, tool: string, decision: "allow" | "deny"): void;
  revoke(user: string, tool: string): boolean;
  pending(user: string): readonly Gate[];
}

export interface ExternalTools {
  /** Names a caller may not shadow, prefixes included. */
  isReserved(name: string): Promise<boolean>;
  /** The live external-tool gate of this user's thread. */
  pending(user: string, thread: string): Extract<Gate, { type: "external_tool" }> | undefined;
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

export type { ApprovalDecision, TurnStatus };
