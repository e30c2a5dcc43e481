/** A routine: what its user wants done again and again, or once, at a time of their choice; and each run of it. */
import { type Declared, maybe, named, nullable, Time, Type } from "../../kernel/kit/schema.ts";
import { Failure } from "../../kernel/kit/turns.ts";

export const RoutineBudget = Type.Object({
  usd: Type.Number({ exclusiveMinimum: 0, maximum: 100_000, description: "US dollars for models" }),
  per: Type.Enum(["run", "day"], { description: "A day is one of the routine's time zone" }),
});
export type RoutineBudget = Declared<typeof RoutineBudget>;

const text = Type.String({ description: "What is said to the agent, as the user's own words" });
const schedule = Type.String({
  description: 'Plain words or cron: "weekdays at 8:00", "every 2 hours", "0 8 * * 1-5"',
});
const tz = Type.String({ description: "A time zone such as Europe/Berlin" });
const timeoutSecs = Type.Integer({ description: "A run that takes longer is stopped" });
const deliver = Type.String({
  description: "Where answers go beside the routine's thread: callback, or a channel that offers it",
});

/** A call of a run that was not made, because nobody was there to agree to it. */
export const RefusedCall = Type.Object({
  tool: Type.String(),
  needs: Type.Enum(["approval", "credential", "answer"]),
  message: Type.String(),
});
export type RefusedCall = Declared<typeof RefusedCall>;

export const RoutineRun = Type.Object(
  {
    id: Type.String(),
    routine: named("routine_id", Type.String()),
    dueAt: Time,
    cause: Type.Enum(["schedule", "catch_up", "manual"], {
      description: "`catch_up`: it was due while nothing ran; what else was missed is not run",
    }),
    missed: Type.Integer({ description: "How many later firings had passed as well" }),
    status: Type.Enum(["running", "completed", "failed", "cancelled", "skipped"]),
    error: nullable(Failure),
    refused: Type.Array(RefusedCall),
    undelivered: nullable(Type.String({ description: "Why the answer goes to the thread only" })),
    thread: nullable(named("thread_id", Type.String())),
    turn: nullable(named("turn_id", Type.String())),
    job: nullable(named("job_id", Type.String())),
    costUsd: Type.Number(),
    startedAt: Time,
    completedAt: nullable(Time),
  },
  { $id: "RoutineRun" },
);
export type RoutineRun = Declared<typeof RoutineRun>;

export const Routine = Type.Object(
  {
    id: Type.String(),
    user: Type.String(),
    text,
    schedule,
    words: Type.String({ description: "The schedule in plain words" }),
    tz,
    status: Type.Enum(["active", "paused", "done"], { description: "`done`: it will not fire again" }),
    pausedWhy: nullable(Type.String()),
    nextAt: nullable(Time),
    budget: nullable(RoutineBudget),
    timeoutSecs,
    deliver: nullable(deliver),
    createdAt: Time,
    lastRun: nullable(RoutineRun),
  },
  { $id: "Routine" },
);
export type Routine = Declared<typeof Routine>;

export const NewRoutine = Type.Object({
  schedule,
  text,
  tz: Type.Optional(tz),
  budget: Type.Optional(RoutineBudget),
  timeoutSecs: Type.Optional(timeoutSecs),
  deliver: Type.Optional(deliver),
  user: Type.Optional(Type.String({ description: "Whose it is; only an operator may name another" })),
});
export type NewRoutine = Declared<typeof NewRoutine> & Pick<Routine, "user">;

/** Null removes a field. */
export const RoutineChange = Type.Object({
  schedule: Type.Optional(schedule),
  text: Type.Optional(text),
  tz: Type.Optional(tz),
  budget: maybe(RoutineBudget),
  timeoutSecs: Type.Optional(timeoutSecs),
  deliver: maybe(deliver),
  paused: Type.Optional(Type.Boolean()),
});
export type RoutineChange = Declared<typeof RoutineChange>;

export const RoutinePreview = Type.Object({
  words: Type.String(),
  tz,
  firings: Type.Array(Time, { description: "The next five" }),
});
export type RoutinePreview = Declared<typeof RoutinePreview>;
