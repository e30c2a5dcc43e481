/** How tasks end: with their turn, in time or not, or because they are stopped. */
import type { Failure } from "../../kernel/plugin.ts";
import type { TasksParts } from "./parts.ts";
import { CANCELLED, reportOf } from "./report.ts";
import { endRow, type TaskRow } from "./rows.ts";

export const OVERDUE: Failure = {
  code: "timeout",
  message: "It took longer than it may, so it was stopped.",
};
export const topicOf = (id: string): string => `task ${id}`;

/** Ends it if its turn has ended, and returns it if it continues. */
export async function settle(parts: TasksParts, row: TaskRow): Promise<TaskRow | undefined> {
  const { jobs, threads } = parts;
  const job = await jobs.find(row.id);
  if (job !== undefined && job.status !== "completed") return row;
  const thread = job?.thread;
  const summary = thread === undefined ? undefined : await threads.find(row.user, thread);
  if (thread !== undefined && summary?.gate !== undefined) {
    await setStatus(parts, row.id, "waiting", thread);
    return { ...row, status: "waiting" };
  }
  const last = summary && (await threads.turns(row.user, summary.id, { limit: 1 })).items.at(-1);
  if (last?.status === "queued" || last?.status === "running") return row;
  await end(parts, row);
  return undefined;
}

/** Its turn ends soon, and the task then; one that waits for a person ends at once. */
export async function stop(parts: TasksParts, row: TaskRow, why: Failure): Promise<void> {
  const { agent, jobs, threads } = parts;
  const job = await jobs.cancel(row.id);
  if (job !== undefined && job.status !== "completed") return;
  const still = await settle(parts, row);
  if (still === undefined) return;
  if (still.status === "waiting") return await end(parts, still, why);
  const last = (await threads.turns(row.user, job?.thread ?? "", { limit: 1 })).items.at(-1);
  if (last) await agent.cancel(row.user, last.id);
}

async function end(parts: TasksParts, row: TaskRow, why?: Failure): Promise<void> {
  const report = await reportOf(parts, row.user, await parts.jobs.find(row.id));
  const error = why ?? (report.error === CANCELLED && isLate(parts, row) ? OVERDUE : report.error);
  const status = why === undefined && error === report.error ? report.status : "failed";
  const told = error?.code === CANCELLED.code ? "cancelled" : status;
  if (await endRow(parts.sql, row.id, { ...report, error, status: told }))
    await parts.store.signals.send(topicOf(row.id), "");
}

export async function setStatus(
  { sql, store }: TasksParts,
  id: string,
  status: TaskRow["status"],
  thread: string,
): Promise<void> {
  const set = `UPDATE tasks SET status = ?, thread = ? WHERE id = ? AND completed_at IS NULL
    AND (status <> ? OR thread IS NULL)`;
  if ((await sql.run(set, status, thread, id, status)) > 0) await store.signals.send(topicOf(id), "");
}

export function isLate({ clock }: TasksParts, { deadline_at }: TaskRow): boolean {
  return clock.now() >= deadline_at;
}
