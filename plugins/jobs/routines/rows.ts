/** Routines and runs as their rows say they are. */

import { parse } from "../queue/row.ts";
import type { RefusedCall, Routine, RoutineRun } from "../routine.ts";
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
    pausedWhy: row.paused_why ?? undefined,
    nextAt: iso(row.next_at),
    budget:
      row.budget_usd === null || row.budget_per === null
        ? undefined
        : { usd: row.budget_usd, per: row.budget_per },
    deliver: row.deliver ?? undefined,
    lastRun,
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
    refused: parse<RefusedCall[]>(row.refused) ?? [],
    costUsd: row.cost_usd,
    startedAt: iso(row.started_at),
    error: parse(row.error),
    undelivered: row.undelivered ?? undefined,
    thread: row.thread ?? undefined,
    turn: row.turn ?? undefined,
    job: row.job ?? undefined,
    completedAt: iso(row.completed_at),
  };
}

function iso(at: number): string;
function iso(at: number | null): string | undefined;
function iso(at: number | null): string | undefined {
  return at === null ? undefined : new Date(at).toISOString();
}
