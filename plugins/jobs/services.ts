/** Services of jobs and routines for other plugins. */

import type { Outside } from "../../kernel/kit/turns.ts";
import type { Job, JobCallback, JobStatus, Page, Transaction, TurnInput } from "../../kernel/plugin.ts";
import type { Turn } from "../agent/services.ts";
import type { NewRoutine, Routine, RoutineChange, RoutinePreview, RoutineRun } from "./routine.ts";

export type { NewRoutine, RoutineChange } from "./routine.ts";

/** Jobs as commands handle them, in this process or in a service elsewhere. */
export interface JobControl<Shown = ShownJob> {
  find(id: string): Promise<Shown | undefined>;
  list(query?: {
    readonly user?: string;
    /** Failed: completed with an error. */
    readonly status?: JobStatus | "failed";
    readonly limit?: number;
    readonly before?: string;
  }): Promise<Page<Shown>>;
  /**
   * A queued job completes with the error `cancelled`; a running one is stopped, also where another process
   * (`postern job cancel`) asks. A completed one is left as it is.
   */
  cancel(id: string): Promise<Shown | undefined>;
  /** A new job with the same message, for the same user; it has no callback. Undefined where there is no such job. */
  retry(id: string): Promise<Shown | undefined>;
}

/** What commands show of a job. */
export type ShownJob = Pick<
  Job,
  | ("id" | "user" | "status" | "waitingFor" | "response" | "error" | "createdAt" | "completedAt")
  | ("conversation" | "thread")
>;

export interface Jobs extends JobControl<Job> {
  /** For people: undefined also where its thread is in the bin, as such jobs are in no list. */
  findListed(id: string): Promise<Job | undefined>;
  /**
   * On disk when it resolves; with `tx` it commits with the caller's transaction, and does not run before. The user needs room for
   * it: with `tx` the caller asks `assertRoom` before the transaction.
   */
  submit(job: NewJob, tx?: Transaction): Promise<Job>;
  /** Counts the job against its user's storage. Rejects with a `Fault` where that is full. */
  assertRoom(job: NewJob): Promise<void>;
  /** Records the state of its callback. */
  noteCallback(id: string, callback: JobCallback): Promise<void>;
  /** Forgets a job that has completed, before its time. Another is left as it is. */
  remove(id: string): Promise<void>;
  /** The job as it is when it completes, or after so many milliseconds. */
  wait(id: string, millis: number): Promise<Job | undefined>;
  counts(): Promise<{ readonly queued: number; readonly running: number }>;
  /** Called for every job that completes; returns a function that stops it. */
  onCompleted(listener: (job: Job) => void): () => void;
}

/** Starts and stops the work on jobs and routines, for the plugin `job-queue`. */
export interface JobQueue {
  start(): Promise<void>;
  stop(): void;
  /** Resolves when nothing of a stopped queue is under way. */
  idle(): Promise<void>;
}

/** Routines as commands handle them, in this process or in a service elsewhere. */
export interface RoutineControl {
  /** Rejects with a `Fault` that says what is wrong with it. */
  add(given: NewRoutine): Promise<Routine>;
  list(user?: string): Promise<readonly Routine[]>;
  find(id: string): Promise<Routine | undefined>;
  change(id: string, change: RoutineChange): Promise<Routine | undefined>;
  /** With its history; what runs is stopped. Its thread stays. */
  remove(id: string): Promise<boolean>;
  run(id: string): Promise<RoutineRun | undefined>;
  runs(id: string, query?: { readonly limit?: number; readonly before?: string }): Promise<Page<RoutineRun>>;
  preview(schedule: string, tz?: string): RoutinePreview | Promise<RoutinePreview>;
}

export interface Routines extends RoutineControl {
  /**
   * A channel takes answers of routines under this name. `owe` is called in the transaction that submits the run's job: it writes
   * down that the answer is owed, and the channel sends it when the job has completed. Call what it answers to stop.
   */
  deliverBy(
    name: string,
    owe: (tx: Transaction, run: { readonly job: string; readonly user: string }) => void | Promise<void>,
  ): () => void;
}

export interface NewJob {
  /** UUID minted by a channel that has to know the job's name beforehand. */
  readonly id?: string;
  /** An account, or an identity of the channel's own such as webhook/ann: never a name as a stranger chose it. */
  readonly user: string;
  readonly message: string;
  readonly channel: string;
  /** The caller's name for a conversation of this user: jobs of one run in order on one thread. */
  readonly conversation?: string;
  /** Text that people outside wrote. It is shown to the agent as data. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** A word for the source of the metadata; the channel by default. */
  readonly origin?: string;
  /** The pieces of the message that people outside wrote. */
  readonly spans?: NonNullable<Outside["spans"]>;
  /** True where it waits, queued, until its user is paired with an account. */
  readonly waitsForPairing?: boolean;
  /** The channel's sender: one sender's keys mean nothing to another. */
  readonly sender?: string;
  /** The same key of the same user within 24 hours returns the first submission's job. */
  readonly idempotencyKey?: string;
  /** Stands for what was sent, byte for byte: a key that comes with another fingerprint is refused. */
  readonly fingerprint?: string;
  /**
   * True where what proves the sender can be sent again by whoever has seen it: the same fingerprint within
   * 24 hours answers the first submission's job, whatever its key.
   */
  readonly canBeReplayed?: boolean;
  /** True where somebody is told when it completes. */
  readonly isCalledBack?: boolean;
  readonly turn?: JobTurn;
}

/** The parts of a job's turn beyond user, channel and message. They are stored with the job, as JSON. */
export interface JobTurn extends Omit<Turn, "user" | "channel" | "id" | "input" | "attached"> {
  /** Replaces the message. */
  readonly input?: TurnInput;
  readonly attached?: readonly { readonly id: string; readonly base64: string }[];
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    jobs: Jobs;
    jobControl: JobControl;
    jobQueue: JobQueue;
    routines: Routines;
    routineControl: RoutineControl;
  }
}
