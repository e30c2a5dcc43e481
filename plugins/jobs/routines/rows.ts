/** Routines and runs as their rows say they are. */
import type { RefusedCall, Routine, RoutineRun } from "../../../kernel/kit.ts";
import type { Plan } from "./schedule/plan.ts";

export interface RoutineRow {
  readonly id: string;
  readonly user: string;
  readonly text: string;
  readonly schedule: string;
  readonly words: string;
  readonly tz: string;
  readonly plan: string;
  readonly status: Routine["status"];
  readonly paused_why: string | null;
  readonly next_at: number | null;
  readonly budget_usd: number | null;
  readonly budget_per: "run" | "day" | null;
  readonly timeout_secs: number;
  readonly deliver: string | null;
  readonly created_at: string;
}

export interface RunRow {
  readonly seq: number;
  readonly id: string;
  readonly routine: string;
  readonly user: string;
  readonly due_at: number;
  readonly is_manual: number;
  readonly missed: number;
  readonly status: RoutineRun["status"];
  readonly error: string | null;
  readonly refused: string | null;
  readonly undelivered: string | null;
  readonly job: string | null;
  readonly turn: string | null;
  readonly thread: string | null;
  readonly cost_usd: number;
  readonly started_at: number;
  readonly completed_at: number | null;
}

export const ROUTINE = `id, "user", text, schedule, words, tz, plan, status, paused_why, next_at, budget_usd, budget_per,
  timeout_secs, deliver, created_at`;
export const RUN = `seq, id, routine, "user", due_at, is_manual, missed, status, error, refused, undelivered, job, turn, thread,
  cost_usd, started_at, completed_at`;

/** A run that begins later than this after it was due was due while nothing ran. */
const LATE_MS = 60_000;

export const planOf = ({ plan }: Pick<RoutineRow, "plan">): Plan => JSON.parse(plan) as Plan;

export function routineOf(row: RoutineRow, lastRun?: RoutineRun): Routine {
  return {
    id: row.id,
    user: row.user,
    text: row.text,
    schedule: row.schedule,
    words: row.words,
    tz: row.tz,
    status: row.status,
    timeoutSecs: row.timeout_secs,
    createdAt: row.created_at,
    ...(row.paused_why !== null && { pausedWhy: row.paused_why }),
    ...(row.next_at !== null && { nextAt: iso(row.next_at) }),
    ...(row.budget_usd !== null &&
      row.budget_per !== null && { budget: { usd: row.budget_usd, per: row.budget_per } }),
    ...(row.deliver !== null && { deliver: row.deliver }),
    ...(lastRun && { lastRun }),
  };
}

export function runOf(row: RunRow): RoutineRun {
  const isLate = row.missed > 0 || row.started_at - row.due_at > LATE_MS;
  return {
    id: row.id,
    routine: row.routine,
    dueAt: iso(row.due_at),
    cause: row.is_manual === 1 ? "manual" : isLate ? "catch_up" : "schedule",
    missed: row.missed,
    status: row.status,
    refused: row.refused === null ? [] : (JSON.parse(row.refused) as RefusedCall[]),
    costUsd: row.cost_usd,
    startedAt: iso(row.started_at),
    ...(row.error !== null && { error: JSON.parse(row.error) as NonNullable<RoutineRun["error"]> }),
    ...(row.undelivered !== null && { undelivered: row.undelivered }),
    ...(row.thread !== null && { thread: row.thread }),
    ...(row.turn !== null && { turn: row.turn }),
    ...(row.job !== null && { job: row.job }),
    ...(row.completed_at !== null && { completedAt: iso(row.completed_at) }),
  };
}

const iso = (at: number): string => new Date(at).toISOString();
