/** The tasks of this store, from their beginning to their end, whichever node runs them and however often it dies. */
import { createBackground, createMutex, oneAtATime } from "../../kernel/kit/concurrency.ts";
import type { Transaction } from "../../kernel/plugin.ts";
import type { Delegating, OwnToolContext } from "../agent/services.ts";
import type { OpenPurse } from "../models/services.ts";
import { isLate, OVERDUE, settle, stop } from "./ends.ts";
import { follow, followParent, wake } from "./parents.ts";
import type { TasksParts } from "./parts.ts";
import { openPurse } from "./purse.ts";
import { CANCELLED } from "./report.ts";
import { findRow, inTreeOrder, isOver, type TaskRow, taskOf } from "./rows.ts";
import type { OpenTask, Tasks } from "./services.ts";
import { OLD_TASKS } from "./tables.ts";
import { type Asked, beginTask, TASK_CHANNEL } from "./task-start.ts";

const LOOK_MS = 1000;
const SWEEP_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MAX_LISTED = 500;
export type RunningTasks = ReturnType<typeof createTasks>;

export function createTasks(parts: TasksParts) {
  const { sql, store, jobs, threads, clock, log } = parts;
  const background = createBackground(log, "tasks error, retrying");
  const undos: (() => void)[] = [];
  const inOrder = createMutex();

  const look = oneAtATime(async () => {
    for (const row of await sql.all<TaskRow>("SELECT * FROM tasks WHERE completed_at IS NULL ORDER BY seq")) {
      const open = await settle(parts, row);
      if (open && isLate(parts, open)) await stop(parts, open, OVERDUE);
      else if (open) await followParent(parts, open);
    }
    const owed = "SELECT * FROM tasks WHERE wakes = 1 AND completed_at IS NOT NULL ORDER BY seq";
    for (const row of await sql.all<TaskRow>(owed)) await wake(parts, row);
  });

  async function settleJob(id: string): Promise<void> {
    const row = await findRow(sql, id);
    if (row && !isOver(row)) await settle(parts, row);
    if (row?.wakes) await look();
  }

  /** With what it has called so far. */
  async function shown(row: TaskRow): Promise<ReturnType<typeof taskOf>> {
    const task = taskOf(row);
    if (isOver(row) || row.thread === null) return task;
    const { items } = await threads.turns(row.user, row.thread, { limit: 1 });
    const called = items.flatMap((turn) => turn.items);
    return { ...task, calls: called.flatMap((item) => (item.type === "tool_call" ? [item.call.name] : [])) };
  }

  /** Its own thread, or that of the person who asked, is in the bin. */
  async function isBinned({ user, root_thread, thread }: TaskRow): Promise<boolean> {
    const ids = thread === null ? [root_thread] : [root_thread, thread];
    return (await Promise.all(ids.map((id) => threads.isBinned(user, id)))).includes(true);
  }

  const service: Tasks = {
    async list({ user, thread, limit = 200 } = {}) {
      const conditions = [
        ...(user === undefined ? [] : ['"user" = ?']),
        ...(thread === undefined ? [] : ["(root_thread = ? OR parent_thread = ?)"]),
      ];
      const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
      const values = [
        ...(user === undefined ? [] : [user]),
        ...(thread === undefined ? [] : [thread, thread]),
      ];
      const rows = await sql.all<TaskRow>(
        `SELECT * FROM tasks ${where} ORDER BY seq DESC LIMIT ?`,
        ...values,
        Math.min(limit, MAX_LISTED),
      );
      const binned = await Promise.all(rows.map(isBinned));
      const listed = rows.filter((_, at) => !binned[at]);
      return await Promise.all(inTreeOrder(listed.toReversed()).map(shown));
    },
    async find(id) {
      const row = await findRow(sql, id);
      return row && (await shown(row));
    },
    open: () =>
      sql.all<OpenTask>(
        `SELECT "user", thread, root_thread AS "rootThread" FROM tasks
         WHERE completed_at IS NULL AND thread IS NOT NULL ORDER BY seq`,
      ),
    async cancel(id) {
      const row = await findRow(sql, id);
      if (row && !isOver(row)) await stop(parts, row, CANCELLED);
      return await service.find(id);
    },
  };

  return {
    service,
    openPurse: (turn: Parameters<OpenPurse>[0]) => openPurse(parts, turn),
    /** Those of a turn in the order of its calls: by that the next attempt finds them again. */
    begin: (asked: Asked, context: Parameters<typeof beginTask>[2]) =>
      inOrder(context.turn, () => beginTask(parts, asked, context)),
    follow: (begun: TaskRow, delegating: Delegating) => follow(parts, begun, delegating),
    async give(tx: Transaction, from: string, to: string) {
      for (const table of ["tasks", "task_trees"])
        await tx.run(`UPDATE ${table} SET "user" = ? WHERE "user" = ?`, to, from);
    },
    start(): void {
      const stopping = new AbortController();
      undos.push(
        () => stopping.abort(),
        clock.every(LOOK_MS, () => background.run(look)),
        store.repeat("sweep tasks", SWEEP_MS, async () => {
          const before = new Date(Date.now() - parts.config.retentionDays * DAY_MS).toISOString();
          background.run(() => store.pruneOld(OLD_TASKS, before, { signal: stopping.signal }));
        }),
        jobs.onCompleted(({ id, channel }) => {
          if (channel === TASK_CHANNEL) background.run(() => settleJob(id));
        }),
      );
      background.run(look);
    },
    stop(): void {
      for (const undo of undos.splice(0)) undo();
    },
    idle: background.idle,
  };
}

export type TaskContext = OwnToolContext & { readonly delegating: Delegating; readonly turn: string };
