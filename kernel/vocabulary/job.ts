/** A job, what of it is shown where, and what can be done with jobs. */

import { type Declared, hidden, named, nullable } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";
import { Origin } from "./origin.ts";
import { Failure } from "./turn.ts";

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

/** A piece of a turn's work that a turn of its own does, as a job. Where a task has tasks itself, they count as its own. */
export const Task = Type.Object(
  {
    id: Type.String(),
    user: Type.String(),
    parent: nullable(named("parent_id", Type.String())),
    parentThread: named("parent_thread_id", Type.String()),
    parentTurn: named("parent_turn_id", Type.String()),
    call: named("call_id", Type.String({ description: "The call of that turn that delegated it" })),
    depth: Type.Integer({ description: "1 where a conversation delegated it, 2 where such a task did" }),
    title: Type.String(),
    status: Type.Enum(["queued", "running", "waiting", "completed", "failed", "cancelled"]),
    error: Type.Optional(Failure),
    isBackground: named("background", Type.Boolean()),
    thread: nullable(named("thread_id", Type.String())),
    calls: Type.Array(Type.String(), { description: "The tools it called, the last one last" }),
    costUsd: named("cost", Type.Number({ description: "In US dollars" })),
    budgetUsd: nullable(named("budget", Type.Number({ description: "In US dollars" }))),
    origins: Type.Array(Origin, { description: "Whose words it read, beside the person's" }),
    createdAt: Time,
    deadlineAt: Time,
    completedAt: Type.Optional(Time),
  },
  { $id: "Task" },
);
export type Task = Declared<typeof Task>;
