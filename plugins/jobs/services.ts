/** What jobs and routines offer to other plugins. */
import type {
  AccountKey,
  NewRoutine,
  PairingGate,
  Routine,
  RoutineChange,
  RoutinePreview,
  RoutineRun,
} from "../../kernel/kit.ts";
import type {
  Identity,
  Job,
  JobCallback,
  JobStatus,
  NewJob,
  Page,
  Transaction,
} from "../../kernel/plugin.ts";

export interface Jobs {
  /** On disk when it resolves; with `tx` it commits with the caller's transaction, and does not run before. */
  submit(job: NewJob, tx?: Transaction): Promise<Job>;
  find(id: string): Promise<Job | undefined>;
  list(query?: {
    readonly user?: string;
    /** Failed: completed with an error. */
    readonly status?: JobStatus | "failed";
    readonly limit?: number;
    readonly before?: string;
  }): Promise<Page<Job>>;
  /**
   * A queued job completes with the error `cancelled`; a running one is stopped, also where another process
   * (`postern jobs cancel`) asks. A completed one is left as it is.
   */
  cancel(id: string): Promise<Job | undefined>;
  /** A new job with the same message, for the same user; it has no callback. Undefined where there is no such job. */
  retry(id: string): Promise<Job | undefined>;
  /** What has become of its callback. */
  noteCallback(id: string, callback: JobCallback): Promise<void>;
  /** Forgets a job that has completed, before its time. Another is left as it is. */
  remove(id: string): Promise<void>;
  /** The job as it is when it completes, or after so many milliseconds. */
  wait(id: string, millis: number): Promise<Job | undefined>;
  counts(): Promise<{ readonly queued: number; readonly running: number }>;
  /** Called for every job that completes; returns a function that stops it. */
  onCompleted(listener: (job: Job) => void): () => void;
}

export interface Routines {
  /** Rejects with a `Fault` that says what is wrong with it. */
  add(given: NewRoutine): Promise<Routine>;
  /** Lists this user's, or everybody's where none is named. */
  list(user?: string): Promise<readonly Routine[]>;
  find(id: string): Promise<Routine | undefined>;
  change(id: string, change: RoutineChange): Promise<Routine | undefined>;
  /** With its history; what runs is stopped. Its thread stays. */
  remove(id: string): Promise<boolean>;
  /** Runs it now, besides its schedule. */
  run(id: string): Promise<RoutineRun | undefined>;
  runs(id: string, query?: { readonly limit?: number; readonly before?: string }): Promise<Page<RoutineRun>>;
  preview(schedule: string, tz?: string): RoutinePreview;
  /**
   * A channel takes answers of routines under this name. `owe` is called in the transaction that submits the run's job: it writes
   * down that the answer is owed, and the channel sends it when the job has completed. Call what it answers to stop.
   */
  deliverBy(
    name: string,
    owe: (tx: Transaction, run: { readonly job: string; readonly user: string }) => void | Promise<void>,
  ): () => void;
}

/** Which account a webhook identity is. */
export interface Identities {
  /** The account that an operator paired it with; whoever asks looks whether that account is still there. */
  account(identity: string): Promise<AccountKey | undefined>;
  /** Those that have said something or are paired. */
  list(): Promise<readonly Identity[]>;
  /** Those whose messages wait, oldest first. */
  pending(): Promise<readonly PairingGate[]>;
  /** From now on its messages are the account's, and so are its threads, jobs, memory and missions. Messages that wait are run. */
  pair(identity: string, account: AccountKey): Promise<void>;
  /** From now on it speaks for itself again; what the account got stays there. False where it was not paired. */
  unpair(identity: string): Promise<boolean>;
  /** Refuses its waiting messages and returns how many there were. */
  deny(identity: string): Promise<number>;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    jobs: Jobs;
    routines: Routines;
    identities: Identities;
  }
}
