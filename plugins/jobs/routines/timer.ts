/** Fires what is due, once in a fleet: the routine's next time, the run's row and its job are one transaction. */

import { randomUUIDv7 } from "node:crypto";
import { createBackground, oneAtATime } from "../../../kernel/kit/concurrency.ts";
import { dollars } from "../../../kernel/kit/words.ts";
import {
  type Clock,
  type Failure,
  type Log,
  reason,
  type Sql,
  type Transaction,
} from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import type { RunningJobs } from "../queue/jobs.ts";
import { ROUTINE_CHANNEL } from "../queue/row.ts";
import type { Routine } from "../routine.ts";
import type { Routines } from "../services.ts";
import { invalid } from "./bounds.ts";
import { planOf, type RoutineRow, type RunRow } from "./rows.ts";
import { countBetween, nextAfter } from "./schedule/plan.ts";
import { instantOf, localTime } from "./schedule/zone.ts";
import { createSettling, type SettlingParts } from "./settlement.ts";

export type Owe = Parameters<Routines["deliverBy"]>[1];

export interface TimerParts extends SettlingParts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly store: Pick<Store, "repeat" | "prune">;
  readonly jobs: Pick<RunningJobs, "submit" | "cancel" | "onCompleted">;
  readonly log: Log;
  readonly retentionDays: number;
  readonly deliveries: ReadonlyMap<string, Owe>;
}

export type Timer = ReturnType<typeof createTimer>;

// How late a routine may fire, and how soon one that another process has added is seen.
const LOOK_MS = 1000;
const SWEEP_MS = 3_600_000;
const DAY_MS = 86_400_000;
const PAGE = 50;
// Bounds the runs missed while nothing ran, since each is computed for every routine that is due.
const MAX_COUNTED = 100;

const BUSY: Failure = { code: "still_running", message: "The run before it is still going on." };

const OLD_RUNS = { table: "routine_runs", key: "id", order: "seq", condition: "completed_at < ?" };
/** Routines that fired once and whose history has gone. */
const DONE_ROUTINES = {
  table: "routines",
  key: "id",
  order: "seq",
  condition: `status = 'done'
    AND NOT EXISTS (SELECT 1 FROM routine_runs WHERE routine_runs.routine = routines.id)`,
  values: [],
};

const conversationOf = (routine: string): string => `routine:${routine}`;

export function createTimer(parts: TimerParts) {
  const { sql, store, clock, jobs, log, deliveries } = parts;
  const settling = createSettling(parts);
  const background = createBackground(log, "routines error, retrying");
  const undos: (() => void)[] = [];
  let isOpen = false;

  const look = oneAtATime(async () => {
    if (!isOpen) return;
    // First: what has ended no longer holds up the next run.
    await settling.settle();
    await settling.stopLate();
    let due: readonly RoutineRow[];
    do {
      due = await sql.all<RoutineRow>(
        `SELECT * FROM routines WHERE next_at <= ? ORDER BY next_at LIMIT ${PAGE}`,
        clock.now(),
      );
      for (const routine of due) if (isOpen) await fire(routine);
    } while (isOpen && due.length === PAGE);
  });

  async function fire(routine: RoutineRow): Promise<void> {
    const { id, tz } = routine;
    const now = clock.now();
    const due = routine.next_at as number;
    let next: number | undefined;
    let missed: number;
    try {
      const plan = planOf(routine);
      next = nextAfter(plan, tz, now);
      missed = countBetween(plan, tz, due, now, MAX_COUNTED);
    } catch (error) {
      // Such as a time zone that this machine does not know. It must not hold up the others.
      log.error({ error, routine: id }, `a routine was paused: ${reason(error)}`);
      return void (await sql.run(
        "UPDATE routines SET status = 'paused', next_at = NULL, paused_why = ? WHERE id = ? AND next_at = ?",
        `Its schedule could not be computed: ${reason(error)}`,
        id,
        due,
      ));
    }
    await sql.transaction(async (tx) => {
      const claimed = await tx.get<RoutineRow>(
        `UPDATE routines SET next_at = ?, status = ? WHERE id = ? AND next_at = ? AND status = 'active' RETURNING *`,
        next ?? null,
        (next === undefined ? "done" : "active") satisfies Routine["status"],
        id,
        due,
      );
      // Another node was quicker, or it was changed meanwhile.
      if (claimed !== undefined) await begin(tx, claimed, { due, missed, isManual: false, now });
    });
  }

  interface Beginning {
    readonly due: number;
    readonly missed: number;
    readonly isManual: boolean;
    readonly now: number;
  }

  /** Writes the run's row, and submits its job unless something speaks against it. The routine's row is locked. */
  async function begin(
    tx: Transaction,
    routine: RoutineRow,
    beginning: Beginning,
  ): Promise<RunRow | undefined> {
    const { due, missed, isManual, now } = beginning;
    const open = await tx.get(
      "SELECT 1 AS one FROM routine_runs WHERE routine = ? AND status = 'running' LIMIT 1",
      routine.id,
    );
    const left = open === undefined ? await budgetLeft(tx, routine, now) : undefined;
    const why = open !== undefined ? BUSY : left === 0 ? spentToday(routine) : undefined;
    // The person who asked for it is told at once, and the history stays as it is.
    if (why !== undefined && isManual) throw invalid(why.code, `${why.message} It was not run.`, "id");
    const run = await tx.get<RunRow>(
      `INSERT INTO routine_runs (id, routine, "user", due_at, is_manual, missed, status, error, job, started_at, stop_at, completed_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (routine, due_at, is_manual) DO NOTHING RETURNING *`,
      randomUUIDv7(),
      routine.id,
      routine.user,
      due,
      isManual ? 1 : 0,
      missed,
      why === undefined ? "running" : "skipped",
      why === undefined ? null : JSON.stringify(why),
      why === undefined ? randomUUIDv7() : null,
      now,
      now + routine.timeout_secs * 1000,
      why === undefined ? null : now,
    );
    if (run === undefined || run.job === null) return run;
    await jobs.submit(
      {
        id: run.job,
        user: routine.user,
        channel: ROUTINE_CHANNEL,
        message: routine.text,
        conversation: conversationOf(routine.id),
        turn: { work: { unattended: true, budgetUsd: left } },
      },
      tx,
    );
    await deliver(tx, routine, { id: run.id, job: run.job });
    return run;
  }

  async function budgetLeft(tx: Transaction, routine: RoutineRow, now: number): Promise<number | undefined> {
    const { id, tz, budget_usd: usd, budget_per: per } = routine;
    if (usd === null || per === "run") return usd ?? undefined;
    const midnight = instantOf({ ...localTime(now, tz), hour: 0, minute: 0 }, tz) ?? now;
    const spent = await tx.get<{ usd: number | null }>(
      "SELECT sum(cost_usd) AS usd FROM routine_runs WHERE routine = ? AND started_at >= ?",
      id,
      midnight,
    );
    return Math.max(0, usd - (spent?.usd ?? 0));
  }

  async function deliver(
    tx: Transaction,
    { user, deliver: name }: RoutineRow,
    { id, job }: { readonly id: string; readonly job: string },
  ): Promise<void> {
    if (name === null) return;
    const owe = deliveries.get(name);
    if (owe !== undefined) return await owe(tx, { job, user });
    const needs =
      name === "callback" ? "HTTP_ENABLED=true and HTTP_CALLBACK_URL are needed" : "the channel is off";
    await tx.run(
      "UPDATE routine_runs SET undelivered = ? WHERE id = ?",
      `The answer is in the thread only: ${needs}.`,
      id,
    );
  }

  async function sweep(signal: AbortSignal): Promise<void> {
    const before = clock.now() - parts.retentionDays * DAY_MS;
    await store.prune({ ...OLD_RUNS, values: [before] }, { signal });
    await store.prune(DONE_ROUTINES, { signal });
  }

  return {
    /** Rejects where a run is going on. Undefined where there is no such routine. */
    async runNow(id: string): Promise<RunRow | undefined> {
      const now = clock.now();
      return await sql.transaction(async (tx) => {
        // The same lock as a firing takes.
        const routine = await tx.get<RoutineRow>(
          `UPDATE routines SET created_at = created_at WHERE id = ? RETURNING *`,
          id,
        );
        return routine && (await begin(tx, routine, { due: now, missed: 0, isManual: true, now }));
      });
    },
    start(): void {
      isOpen = true;
      const stopping = new AbortController();
      undos.push(
        () => stopping.abort(),
        clock.every(LOOK_MS, () => background.run(look)),
        parts.store.repeat("sweep routines", SWEEP_MS, async () =>
          background.run(() => sweep(stopping.signal)),
        ),
        jobs.onCompleted(({ channel }) => {
          if (channel === ROUTINE_CHANNEL && isOpen) background.run(settling.settle);
        }),
      );
      background.run(look);
    },
    stop(): void {
      isOpen = false;
      for (const undo of undos.splice(0)) undo();
    },
    idle: background.idle,
  };
}

function spentToday({ budget_usd: usd }: RoutineRow): Failure {
  return { code: "budget_spent", message: `The budget of ${dollars(usd ?? 0)} a day is spent.` };
}
