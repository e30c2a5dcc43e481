/** The service `routines`: what users have set up, and its history. */

import { randomUUID } from "node:crypto";
import { pageOf, pageSize, readNumber } from "../../../kernel/kit/store.ts";
import { type Clock, Fault, type Page, type Transaction } from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import type { Routine, RoutinePreview, RoutineRun } from "../routine.ts";
import type { NewRoutine, RoutineChange, Routines } from "../services.ts";
import {
  assertBudget,
  assertDelivery,
  assertOwner,
  assertText,
  assertTimeout,
  DEFAULT_TIMEOUT_SECS,
  invalid,
  type RoutineLimits,
} from "./bounds.ts";
import { planOf, type RoutineRow, type RunRow, routineOf, runOf } from "./rows.ts";
import { assertSensible, nextAfter, nextFew, type Schedule } from "./schedule/plan.ts";
import { readSchedule } from "./schedule/words.ts";
import { assertZone, machineZone } from "./schedule/zone.ts";
import { MIGRATIONS } from "./tables.ts";
import { createTimer, type Owe, type Timer, type TimerParts } from "./timer.ts";

export interface RoutineParts extends Omit<TimerParts, "sql" | "store" | "deliveries"> {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: RoutineLimits;
  /** True for the service: only there it is known which channels take answers. */
  readonly isServing: boolean;
}

export interface RunningRoutines extends Routines, Pick<Timer, "start" | "stop" | "idle"> {
  preview(schedule: string, tz?: string): RoutinePreview;
  pauseAll(user: string, why: string): Promise<void>;
}

const MAX_LISTED = 1000;
const PREVIEWED = 5;
/** Finished routines may be so many times as many as others. */
const DONE_FACTOR = 10;

export async function createRoutines(parts: RoutineParts): Promise<RunningRoutines> {
  const { clock, limits } = parts;
  const sql = await parts.store.tables("routines", MIGRATIONS);
  const deliveries = new Map<string, Owe>();
  const timer = createTimer({ ...parts, sql, deliveries });

  function read(schedule: string, tz: string): Schedule {
    assertZone(tz);
    const now = clock.now();
    const read = readSchedule(schedule, { zone: tz, now });
    assertSensible(read.plan, tz, now, limits.leastMinutes);
    return read;
  }

  const assertCanDeliver = (name: string): void =>
    assertDelivery(name, parts.isServing ? new Set(deliveries.keys()) : undefined);

  async function assertRoom(tx: Transaction, user: string): Promise<void> {
    const counted = await tx.all<{ status: Routine["status"]; count: number }>(
      'SELECT status, count(*) AS count FROM routines WHERE "user" = ? GROUP BY status',
      user,
    );
    const all = counted.reduce((sum, { count }) => sum + count, 0);
    const open = all - (counted.find(({ status }) => status === "done")?.count ?? 0);
    if (open < limits.perUser && all < limits.perUser * DONE_FACTOR) return;
    const message = `There are ${open < limits.perUser ? all : open} routines of ${user} already: remove one first. The operator sets the most with ROUTINES_PER_USER.`;
    throw new Fault("invalid", "too_many_routines", message);
  }

  async function withLastRuns(rows: readonly RoutineRow[]): Promise<readonly Routine[]> {
    const last = await Promise.all(
      rows.map(({ id }) =>
        sql.get<RunRow>("SELECT * FROM routine_runs WHERE routine = ? ORDER BY seq DESC LIMIT 1", id),
      ),
    );
    return rows.map((row, at) => routineOf(row, last[at] && runOf(last[at])));
  }

  const find = async (id: string): Promise<Routine | undefined> => {
    const row = await sql.get<RoutineRow>("SELECT * FROM routines WHERE id = ?", id);
    return row && (await withLastRuns([row]))[0];
  };

  return {
    start: timer.start,
    stop: timer.stop,
    idle: timer.idle,

    async add(given: NewRoutine) {
      const {
        user,
        schedule,
        tz = machineZone(),
        budget,
        timeoutSecs = DEFAULT_TIMEOUT_SECS,
        deliver,
      } = given;
      assertOwner(user);
      const text = assertText(given.text);
      const { plan, words } = read(schedule, tz);
      assertTimeout(timeoutSecs);
      if (budget) assertBudget(budget);
      if (deliver !== undefined) assertCanDeliver(deliver);
      const row = await sql.transaction(async (tx) => {
        await assertRoom(tx, user);
        return (await tx.get<RoutineRow>(
          `INSERT INTO routines (id, "user", text, schedule, words, tz, plan, status, next_at, budget_usd, budget_per, timeout_secs,
             deliver, created_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, 'active', ?, ?, ?, ?, ?, ?) RETURNING *`,
          `r_${randomUUID().slice(0, 8)}`,
          user,
          text,
          schedule.trim(),
          words,
          tz,
          JSON.stringify(plan),
          nextAfter(plan, tz, clock.now()) ?? null,
          budget?.usd ?? null,
          budget?.per ?? null,
          timeoutSecs,
          deliver ?? null,
          new Date(clock.now()).toISOString(),
        )) as RoutineRow;
      });
      return routineOf(row);
    },

    async list(user) {
      const rows = await sql.all<RoutineRow>(
        `SELECT * FROM routines ${user === undefined ? "" : 'WHERE "user" = ?'} ORDER BY seq DESC LIMIT ?`,
        ...(user === undefined ? [] : [user]),
        MAX_LISTED,
      );
      return await withLastRuns(rows);
    },

    find,

    async change(id, change) {
      const changed = await sql.transaction(async (tx) => {
        // Locks it: a firing comes before or after.
        const row = await tx.get<RoutineRow>(
          `UPDATE routines SET created_at = created_at WHERE id = ? RETURNING *`,
          id,
        );
        if (row === undefined) return false;
        const next = changedRow(row, change, { read, assertCanDeliver, now: clock.now() });
        await tx.run(
          `UPDATE routines SET text = ?, schedule = ?, words = ?, tz = ?, plan = ?, status = ?, paused_why = ?, next_at = ?,
             budget_usd = ?, budget_per = ?, timeout_secs = ?, deliver = ? WHERE id = ?`,
          ...[
            next.text,
            next.schedule,
            next.words,
            next.tz,
            next.plan,
            next.status,
            next.paused_why,
            next.next_at,
          ],
          ...[next.budget_usd, next.budget_per, next.timeout_secs, next.deliver, id],
        );
        return true;
      });
      return changed ? await find(id) : undefined;
    },

    async remove(id) {
      const running = await sql.transaction(async (tx) => {
        const removed = await tx.run("DELETE FROM routines WHERE id = ?", id);
        const open = await tx.all<{ job: string }>(
          "SELECT job FROM routine_runs WHERE routine = ? AND status = 'running'",
          id,
        );
        await tx.run("DELETE FROM routine_runs WHERE routine = ?", id);
        return removed > 0 ? open : undefined;
      });
      for (const { job } of running ?? []) await parts.jobs.cancel(job);
      return running !== undefined;
    },

    async run(id): Promise<RoutineRun | undefined> {
      const run = await timer.runNow(id);
      return run && runOf(run);
    },

    async runs(id, { limit, before } = {}): Promise<Page<RoutineRun>> {
      const most = pageSize(limit);
      const rows = await sql.all<RunRow>(
        `SELECT * FROM routine_runs WHERE routine = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
        id,
        before === undefined ? Number.MAX_SAFE_INTEGER : readNumber(before),
        most + 1,
      );
      return pageOf(rows, most, runOf, ({ seq }) => String(seq));
    },

    preview(schedule, tz = machineZone()) {
      const { plan, words } = read(schedule, tz);
      const firings = nextFew(plan, tz, clock.now(), PREVIEWED).map((at) => new Date(at).toISOString());
      return { words, tz, firings };
    },

    deliverBy(name, owe) {
      deliveries.set(name, owe);
      return () => void deliveries.delete(name);
    },

    async pauseAll(user, why) {
      await sql.run(
        `UPDATE routines SET status = 'paused', paused_why = ?, next_at = NULL WHERE "user" = ? AND status = 'active'`,
        why,
        user,
      );
    },
  };
}

interface ChangeRules {
  readonly now: number;
  read(schedule: string, tz: string): Schedule;
  assertCanDeliver(name: string): void;
}

/** The row of a routine after a change; throws if the change cannot be made. */
function changedRow(
  row: RoutineRow,
  change: RoutineChange,
  { read, assertCanDeliver, now }: ChangeRules,
): RoutineRow {
  const { schedule, tz = row.tz, timeoutSecs = row.timeout_secs, budget, deliver, paused } = change;
  if (schedule === undefined && tz !== row.tz && planOf(row).type === "once")
    throw invalid("bad_schedule", "Give the schedule again with the new time zone.", "schedule");
  const isNew = schedule !== undefined || tz !== row.tz;
  const { plan, words } = isNew ? read(schedule ?? row.schedule, tz) : { ...row, plan: planOf(row) };
  assertTimeout(timeoutSecs);
  if (budget) assertBudget(budget);
  if (deliver) assertCanDeliver(deliver);
  const isActive =
    paused === undefined ? (isNew ? row.status !== "paused" : row.status === "active") : !paused;
  const isResumed = isActive && row.status !== "active";
  // Runs that it missed while it was paused are not caught up with.
  const next = isNew || isResumed ? nextAfter(plan, tz, now) : (row.next_at ?? undefined);
  if (isResumed && next === undefined)
    throw invalid("bad_schedule", "Its time has passed. Give it another schedule.", "schedule");
  const stopped = row.status === "done" && paused !== true ? "done" : "paused";
  return {
    ...row,
    text: change.text === undefined ? row.text : assertText(change.text),
    schedule: schedule?.trim() ?? row.schedule,
    words,
    tz,
    plan: JSON.stringify(plan),
    status: isActive ? "active" : stopped,
    paused_why: isActive || paused === true ? null : row.paused_why,
    next_at: isActive ? (next ?? null) : null,
    timeout_secs: timeoutSecs,
    ...(budget !== undefined && { budget_usd: budget?.usd ?? null, budget_per: budget?.per ?? null }),
    ...(deliver !== undefined && { deliver }),
  };
}
