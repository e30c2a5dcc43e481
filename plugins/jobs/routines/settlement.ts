/** Settles runs: how each ended, what it cost, and which of its calls needed a person. */

import { oneAtATime } from "../../../kernel/kit/concurrency.ts";
import { countedUsd, NO_USAGE } from "../../../kernel/kit/turns.ts";
import type { Clock, Failure, Sql, TurnRecord } from "../../../kernel/plugin.ts";
import type { RefusedCall, RoutineRun } from "../routine.ts";

export interface SettlingParts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly jobs: { cancel(id: string): Promise<unknown> };
  turn(user: string, id: string): TurnRecord | undefined | Promise<TurnRecord | undefined>;
}

interface EndedRow {
  readonly id: string;
  readonly user: string;
  readonly started_at: number;
  readonly stop_at: number;
  readonly turn: string | null;
  readonly thread: string | null;
  readonly error: string | null;
  readonly is_there: number;
}

const NEEDS: Readonly<Record<string, RefusedCall["needs"]>> = {
  approval_required: "approval",
  authentication_required: "credential",
  question_required: "answer",
};
const MAX_REFUSED = 20;
const LOST: Failure = { code: "lost", message: "Its job was deleted before it had ended." };

export function createSettling({ sql, clock, jobs, turn }: SettlingParts) {
  async function settleOne(row: EndedRow): Promise<void> {
    const record = row.turn === null ? undefined : await turn(row.user, row.turn);
    const failure =
      row.is_there === 0 ? LOST : row.error === null ? undefined : (JSON.parse(row.error) as Failure);
    const isLate = failure?.code === "cancelled" && clock.now() >= row.stop_at;
    const error = isLate ? outOfTime(row) : failure;
    const status: RoutineRun["status"] =
      error === undefined ? "completed" : error.code === "cancelled" ? "cancelled" : "failed";
    const refused = record === undefined ? [] : refusedIn(record);
    // When two nodes see the same, the second changes nothing.
    await sql.run(
      `UPDATE routine_runs SET status = ?, error = ?, refused = ?, turn = ?, thread = ?, cost_usd = ?, completed_at = ?
       WHERE id = ? AND status = 'running'`,
      status,
      error === undefined ? null : JSON.stringify(error),
      refused.length === 0 ? null : JSON.stringify(refused),
      row.turn,
      row.thread,
      countedUsd(record?.usage ?? NO_USAGE),
      clock.now(),
      row.id,
    );
  }

  return {
    /** One at a time, so that those who wait for it find everything settled that had ended by then. */
    settle: oneAtATime(async () => {
      const ended = await sql.all<EndedRow>(
        `SELECT run.id, run."user", run.started_at, run.stop_at, jobs.turn, jobs.thread, jobs.error,
           CASE WHEN jobs.id IS NULL THEN 0 ELSE 1 END AS is_there
         FROM routine_runs AS run LEFT JOIN jobs ON jobs.id = run.job
         WHERE run.status = 'running' AND (jobs.id IS NULL OR jobs.status = 'completed')`,
      );
      for (const row of ended) await settleOne(row);
    }),

    /** Ends what has taken longer than it may, on whichever node it runs. */
    async stopLate(): Promise<void> {
      const late = await sql.all<{ job: string }>(
        "SELECT job FROM routine_runs WHERE status = 'running' AND stop_at <= ?",
        clock.now(),
      );
      for (const { job } of late) await jobs.cancel(job);
    },
  };
}

function outOfTime({ started_at, stop_at }: EndedRow): Failure {
  const secs = (stop_at - started_at) / 1000;
  const time = secs % 60 === 0 ? `${secs / 60} min` : `${secs} s`;
  return { code: "timeout", message: `It took longer than ${time}, so it was stopped.` };
}

/** The calls that were not made, because they needed a person. */
function refusedIn({ items }: TurnRecord): readonly RefusedCall[] {
  const names = new Map(
    items.flatMap((item) => (item.type === "tool_call" ? [[item.call.id, item.call.name] as const] : [])),
  );
  const refused = items.flatMap((item): RefusedCall[] => {
    if (item.type !== "tool_result" || item.outcome.status !== "error") return [];
    const needs = NEEDS[item.outcome.code];
    if (needs === undefined) return [];
    // The sentence about the call; what follows it is for the model.
    const message = item.outcome.message.split(" Nobody is there now")[0] ?? "";
    return [{ tool: names.get(item.call) ?? "", needs, message }];
  });
  return refused.slice(0, MAX_REFUSED);
}
