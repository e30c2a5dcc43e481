/** What the agent lends: turns, threads, jobs, memory, approvals. */
import type { Gate, ModelName, Turn, TurnEvent, TurnRecord } from "./turn.ts";

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
