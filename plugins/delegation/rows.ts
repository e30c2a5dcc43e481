/** Tasks as their rows say they are. */

import type { Origin } from "../../kernel/kit/turns.ts";
import { dollars } from "../../kernel/kit/words.ts";
import { type Failure, Fault, type Queries, type Sql, type Task, type Usage } from "../../kernel/plugin.ts";

export interface TaskRow {
  readonly id: string;
  readonly user: string;
  readonly root: string;
  readonly root_thread: string;
  readonly parent: string | null;
  readonly parent_thread: string;
  readonly parent_turn: string;
  readonly call: string;
  readonly owner: string | null;
  readonly depth: number;
  readonly title: string;
  readonly is_background: number;
  readonly is_scoped: number;
  readonly is_unattended: number;
  readonly wakes: number;
  readonly status: Task["status"];
  readonly error: string | null;
  readonly thread: string | null;
  readonly calls: string;
  readonly origins: string;
  readonly usage: string | null;
  readonly answer: string | null;
  readonly budget_usd: number | null;
  readonly spent_usd: number;
  readonly deadline_at: number;
  readonly created_at: string;
  readonly completed_at: string | null;
}

/** How a task ended, or how far it is. */
export interface Report {
  readonly status: Task["status"];
  readonly error?: Failure | undefined;
  readonly thread?: string | undefined;
  readonly calls: readonly string[];
  readonly origins: readonly Origin[];
  readonly usage?: Usage | undefined;
  readonly answer: string;
}

export const isOver = ({ completed_at }: Pick<TaskRow, "completed_at">): boolean => completed_at !== null;

export const failureOf = ({ error }: Pick<TaskRow, "error">): Failure | undefined =>
  error === null ? undefined : (JSON.parse(error) as Failure);

export const originsOf = ({ origins }: Pick<TaskRow, "origins">): readonly Origin[] =>
  JSON.parse(origins) as Origin[];

export const callsOf = ({ calls }: Pick<TaskRow, "calls">): readonly string[] =>
  JSON.parse(calls) as string[];

export function taskOf(row: TaskRow): Task {
  return {
    id: row.id,
    user: row.user,
    parent: row.parent ?? undefined,
    parentThread: row.parent_thread,
    parentTurn: row.parent_turn,
    call: row.call,
    depth: row.depth,
    title: row.title,
    status: row.status,
    error: failureOf(row),
    isBackground: row.is_background === 1,
    thread: row.thread ?? undefined,
    calls: [...callsOf(row)],
    costUsd: row.spent_usd,
    budgetUsd: row.budget_usd ?? undefined,
    origins: [...originsOf(row)],
    createdAt: row.created_at,
    deadlineAt: new Date(row.deadline_at).toISOString(),
    completedAt: row.completed_at ?? undefined,
  };
}

export const findRow = (sql: Queries, id: string): Promise<TaskRow | undefined> =>
  sql.get<TaskRow>("SELECT * FROM tasks WHERE id = ?", id);

/** The task and those that it is a part of, itself first. */
export async function pathOf(sql: Queries, id: string): Promise<readonly TaskRow[]> {
  const row = await findRow(sql, id);
  if (row === undefined) return [];
  return row.parent === null ? [row] : [row, ...(await pathOf(sql, row.parent))];
}

/** Each directly after the task that it is a part of, or the last part of that. */
export function inTreeOrder(rows: readonly TaskRow[]): readonly TaskRow[] {
  const known = new Set(rows.map(({ id }) => id));
  const parts = Map.groupBy(rows, ({ parent }) => (parent !== null && known.has(parent) ? parent : ""));
  const below = (id: string): readonly TaskRow[] =>
    (parts.get(id) ?? []).flatMap((row) => [row, ...below(row.id)]);
  return below("");
}

/** Undefined where it was over before. */
export const endRow = (sql: Sql, id: string, report: Report): Promise<TaskRow | undefined> =>
  sql.get<TaskRow>(
    `UPDATE tasks SET status = ?, error = ?, thread = COALESCE(?, thread), calls = ?, origins = ?, usage = ?, answer = ?,
       completed_at = ? WHERE id = ? AND completed_at IS NULL RETURNING *`,
    report.status,
    report.error === undefined ? null : JSON.stringify(report.error),
    report.thread ?? null,
    JSON.stringify(report.calls),
    JSON.stringify(report.origins),
    report.usage === undefined ? null : JSON.stringify(report.usage),
    report.answer,
    new Date().toISOString(),
    id,
  );

interface Tree {
  readonly budget_usd: number | null;
  readonly root_usd: number;
  readonly spent_usd: number;
}

/** Rejects where one of them is over or has spent its budget, or the tree has. */
export async function assertGoesOn(sql: Queries, path: readonly string[], root: string): Promise<void> {
  const places = path.map(() => "?").join();
  const [rows, tree] = await Promise.all([
    sql.all<TaskRow>(`SELECT * FROM tasks WHERE id IN (${places})`, ...path),
    sql.get<Tree>("SELECT * FROM task_trees WHERE root = ?", root),
  ]);
  if (rows.length < path.length || rows.some(isOver))
    throw new Fault("turn", "task_ended", "The task has ended, so this does not go on.");
  for (const { budget_usd, spent_usd } of rows) assertLeft(budget_usd, spent_usd, "The task");
  assertTreeLeft(tree);
}

/** Counts what the turn at the root has spent by now. */
export async function assertRootGoesOn(sql: Queries & Pick<Sql, "get">, root: string, usd: number) {
  const count = "UPDATE task_trees SET root_usd = ? WHERE root = ? RETURNING *";
  assertTreeLeft(await sql.get<Tree>(count, usd, root));
}

function assertTreeLeft(tree: Tree | undefined): void {
  if (tree) assertLeft(tree.budget_usd, tree.root_usd + tree.spent_usd, "This run and its tasks");
}

function assertLeft(budget: number | null, spent: number, who: string): void {
  if (budget === null || spent < budget) return;
  const verb = who === "The task" ? "has" : "have";
  const message = `${who} ${verb} used ${dollars(spent)}, and the budget is ${dollars(budget)}.`;
  throw new Fault("turn", "budget_spent", message);
}
