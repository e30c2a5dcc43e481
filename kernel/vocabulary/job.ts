/** A job, what of it is shown where, and what can be done with jobs. */

import { type Declared, hidden, named, nullable } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";
import { Failure, type Outside, type Turn, type TurnInput } from "./turn.ts";

export const JobStatus = Type.Enum(["queued", "running", "completed"]);
export type JobStatus = Declared<typeof JobStatus>;

/** How far the callback of a job has come, where one is owed. */
export const JobCallback = Type.Object({
  status: Type.Enum(["waiting", "retrying", "delivered", "failed"]),
  attempts: Type.Integer(),
  message: Type.Optional(Type.String({ description: "Why the last attempt failed" })),
  nextAt: Type.Optional(Time),
});
export type JobCallback = Declared<typeof JobCallback>;

export const Job = Type.Object(
  {
    id: Type.String(),
    user: Type.String(),
    channel: hidden(Type.String()),
    sender: Type.Optional(hidden(Type.String())),
    message: Type.String(),
    status: JobStatus,
    waitingFor: Type.Optional(Type.Literal("pairing")),
    createdAt: Time,
    thread: Type.Optional(named("thread_id", Type.String())),
    /** The turn it runs, or ran, as: another one where it has to be run again. */
    turn: Type.Optional(hidden(Type.String())),
    conversation: Type.Optional(named("conversation_id", Type.String())),
    response: Type.Optional(Type.String()),
    error: Type.Optional(Failure),
    attempts: Type.Integer({ description: "How often it was begun" }),
    startedAt: Type.Optional(Time),
    completedAt: Type.Optional(Time),
    callback: Type.Optional(JobCallback),
  },
  { $id: "Job" },
);
export type Job = Declared<typeof Job>;

const { id, user, status, waitingFor, response, error, createdAt, completedAt, conversation } =
  Job.properties;

/** §2.3: what submitting a job answers. */
export const JobSubmission = Type.Object({ id: named("job_id", id), status, waitingFor, response, error });

/** §2.4, with `error` beside it where the job failed. */
export const JobRecord = Type.Object({ id, status, waitingFor, response, error, createdAt, completedAt });

const { properties: record } = JobRecord;
const owner = named("user_id", user);

export const CompletedJob = Type.Object({ ...record, user: owner, conversation });

/** What `postern jobs` prints as JSON. */
export const JobDetails = Type.Object({
  ...record,
  user: owner,
  conversation: nullable(named("conversation_id", Type.String())),
  thread: nullable(named("thread_id", Type.String())),
});

export interface NewJob {
  /** UUID minted by a channel that has to know the job's name beforehand. */
  readonly id?: string;
  /** An account, or an identity of the channel's own such as webhook/ann: never a name as a stranger chose it. */
  readonly user: string;
  readonly message: string;
  readonly channel: string;
  /** The caller's name for a conversation of this user: jobs of one run in order on one thread. */
  readonly conversation?: string;
  /** What people outside wrote. Shown to the agent as data. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Where the metadata came from, in a word; the channel by default. */
  readonly origin?: string;
  /** The pieces of the message that people outside wrote. */
  readonly spans?: NonNullable<Outside["spans"]>;
  /** True where it waits, queued, until its user is paired with an account. */
  readonly waitsForPairing?: boolean;
  /** Which of the channel's senders it came from: one sender's keys mean nothing to another. */
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

/** What its turn needs beyond user, channel and message. It is stored with the job, as JSON. */
export interface JobTurn extends Omit<Turn, "user" | "channel" | "id" | "input" | "attached" | "ephemeral"> {
  /** Replaces the message. */
  readonly input?: TurnInput;
  readonly attached?: readonly { readonly id: string; readonly base64: string }[];
}

/** A sender of the webhook channel with a secret of its own, which speaks for one user. */
export const Integration = Type.Object(
  {
    name: Type.String({ description: "It posts to /webhook/<name>" }),
    user: Type.String({ description: "An account, or webhook/<user_id>" }),
    message: nullable(
      Type.String({
        description: "The template that makes a message of its events; without one it posts messages itself",
      }),
    ),
    createdAt: Time,
    lastUsedAt: nullable(Time),
  },
  { $id: "Integration" },
);
export type Integration = Declared<typeof Integration>;

export interface NewIntegration {
  readonly name: string;
  readonly user: string;
  readonly message?: string;
}

export interface Integrations {
  /** The secret is the sender's to keep. */
  add(given: NewIntegration): Promise<{ readonly integration: Integration; readonly secret: string }>;
  list(): Promise<readonly Integration[]>;
  /** False where there was none. From then on its secret opens nothing. */
  remove(name: string): Promise<boolean>;
}
