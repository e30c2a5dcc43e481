/** The tasks of this store, from their beginning to their end, whichever node runs them and however often it dies. */
import { randomUUIDv7 } from "node:crypto";
import { createBackground, createMutex, oneAtATime } from "../../kernel/kit/concurrency.ts";
import { INTERRUPTED } from "../../kernel/kit/turns.ts";
import {
  type Failure,
  Fault,
  type Log,
  type Services,
  type Transaction,
  type TurnEvent,
} from "../../kernel/plugin.ts";
import type { Delegating, OwnToolContext } from "../agent/services.ts";
import type { OpenPurse, Purse } from "../models/services.ts";
import type { Store } from "../store/services.ts";
import { CANCELLED, factsOf, type ReportParts, reportOf } from "./report.ts";
import {
  assertGoesOn,
  assertRootGoesOn,
  endRow,
  failureOf,
  findRow,
  inTreeOrder,
  isOver,
  pathOf,
  type TaskRow,
  taskOf,
} from "./rows.ts";
import type { OpenTask, Tasks } from "./services.ts";
import { OLD_TASKS } from "./tables.ts";
import { type Asked, type BeginningParts, beginTask, TASK_CHANNEL } from "./task-start.ts";

export interface TasksParts extends BeginningParts, ReportParts {
  readonly agent: Pick<Services["agent"], "cancel" | "watch">;
  readonly jobs: Services["jobs"];
  readonly threads: Services["threads"];
  readonly store: Pick<Store, "signals" | "repeat" | "pruneOld">;
  readonly log: Log;
}

const LOOK_MS = 1000;
const SWEEP_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MAX_LISTED = 500;
const topicOf = (id: string): string => `task ${id}`;
const FREE: Purse = { assertLeft: async () => {}, spend: () => {} };
const OVERDUE: Failure = { code: "timeout", message: "It took longer than it may, so it was stopped." };
/** Fixed words: those of the task would count as the person's here. */
const WOKEN =
  "A task that you had delegated has ended. The data above is how. Tell the user what came of it.";

export type RunningTasks = ReturnType<typeof createTasks>;

export function createTasks(parts: TasksParts) {
  const { sql, store, agent, jobs, threads, clock, log } = parts;
  const background = createBackground(log, "tasks error, retrying");
  const undos: (() => void)[] = [];
  const inOrder = createMutex();

  async function end(row: TaskRow, why?: Failure): Promise<TaskRow> {
    const report = await reportOf(parts, row.user, await jobs.find(row.id));
    const error = why ?? (report.error === CANCELLED && isLate(row) ? OVERDUE : report.error);
    const status = why === undefined && error === report.error ? report.status : "failed";
    const told = error?.code === CANCELLED.code ? "cancelled" : status;
    const ended = await endRow(sql, row.id, { ...report, error, status: told });
    if (ended) await store.signals.send(topicOf(row.id), "");
    return ended ?? ((await findRow(sql, row.id)) as TaskRow);
  }

  const isLate = ({ deadline_at }: TaskRow): boolean => clock.now() >= deadline_at;

  async function setStatus(id: string, status: TaskRow["status"], thread: string): Promise<void> {
    const set = `UPDATE tasks SET status = ?, thread = ? WHERE id = ? AND completed_at IS NULL
      AND (status <> ? OR thread IS NULL)`;
    if ((await sql.run(set, status, thread, id, status)) > 0) await store.signals.send(topicOf(id), "");
  }

  /** Ends it where its turn has ended, and returns it where it goes on. */
  async function settle(row: TaskRow): Promise<TaskRow | undefined> {
    const job = await jobs.find(row.id);
    if (job !== undefined && job.status !== "completed") return row;
    const thread = job?.thread;
    const summary = thread === undefined ? undefined : await threads.find(row.user, thread);
    if (thread !== undefined && summary?.gate !== undefined) {
      await setStatus(row.id, "waiting", thread);
      return { ...row, status: "waiting" };
    }
    const last = summary && (await threads.turns(row.user, summary.id, { limit: 1 })).items.at(-1);
    if (last?.status === "queued" || last?.status === "running") return row;
    await end(row);
    return undefined;
  }

  /** Its turn ends soon, and the task then; one that waits for a person ends at once. */
  async function stop(row: TaskRow, why: Failure): Promise<void> {
    const job = await jobs.cancel(row.id);
    if (job !== undefined && job.status !== "completed") return;
    const still = await settle(row);
    if (still === undefined) return;
    if (still.status === "waiting") return void (await end(still, why));
    const last = (await threads.turns(row.user, job?.thread ?? "", { limit: 1 })).items.at(-1);
    if (last) await agent.cancel(row.user, last.id);
  }

  /** Nobody waits for a task whose parent was stopped, failed or is gone. A parent that was interrupted gets its end as a turn. */
  async function followParent(row: TaskRow): Promise<void> {
    const { owner, is_background: isBackground } = row;
    if (owner !== null) {
      const job = await jobs.find(owner);
      const isStopped = job === undefined || job.error?.code === CANCELLED.code;
      if (isStopped || (job.status === "completed" && !isBackground)) await stop(row, CANCELLED);
      return;
    }
    const turn = await threads.turn(row.user, row.parent_turn);
    if (turn?.status === "queued" || turn?.status === "running") return;
    if (turn === undefined || turn.status === "cancelled") return await stop(row, CANCELLED);
    if (isBackground || row.wakes) return;
    if (turn.error?.code !== INTERRUPTED || row.is_scoped) return await stop(row, CANCELLED);
    await sql.run("UPDATE tasks SET wakes = 1 WHERE id = ?", row.id);
  }

  /** Says in the parent's thread how it ended, as soon as no gate is open there. */
  async function wake(row: TaskRow): Promise<void> {
    const thread = await threads.find(row.user, row.parent_thread);
    if (thread?.gate) return;
    const claim = "UPDATE tasks SET wakes = 0 WHERE id = ? AND wakes = 1";
    if (thread === undefined) return void (await sql.run(claim, row.id));
    const job = {
      id: randomUUIDv7(),
      user: row.user,
      channel: TASK_CHANNEL,
      message: WOKEN,
      metadata: factsOf(row),
      origin: "a task",
      turn: { thread: thread.id, ...(row.is_unattended && { unattended: true }) },
    };
    await jobs.assertRoom(job);
    await sql.transaction(async (tx) => {
      if ((await tx.run(claim, row.id)) > 0) await jobs.submit(job, tx);
    });
  }

  const look = oneAtATime(async () => {
    for (const row of await sql.all<TaskRow>("SELECT * FROM tasks WHERE completed_at IS NULL ORDER BY seq")) {
      const open = await settle(row);
      if (open && isLate(open)) await stop(open, OVERDUE);
      else if (open) await followParent(open);
    }
    const owed = "SELECT * FROM tasks WHERE wakes = 1 AND completed_at IS NOT NULL ORDER BY seq";
    for (const row of await sql.all<TaskRow>(owed)) await wake(row);
  });

  async function settleJob(id: string): Promise<void> {
    const row = await findRow(sql, id);
    if (row && !isOver(row)) await settle(row);
    if (row?.wakes) await look();
  }

  /** Resolves with the task when it has ended. Where the parent is stopped before, the task is too. */
  async function follow(begun: TaskRow, delegating: Delegating): Promise<TaskRow> {
    const { signal, notice, alive } = delegating;
    const { id, user, title } = begun;
    let row = begun;
    let stirred = Promise.withResolvers<void>();
    const stir = (): void => stirred.resolve();
    const listening = store.signals.listen(topicOf(id), stir);
    const tell = (what: string): void => notice("task", `Task "${title}": ${what}`);
    const undo = [
      listening,
      clock.every(LOOK_MS, () => {
        alive();
        stir();
      }),
      agent.watch(user, (event, { thread }) => {
        const what = thread === row.thread ? progressOf(event) : undefined;
        if (what) tell(what);
      }),
    ];
    signal.addEventListener("abort", stir);
    try {
      await listening.ready;
      for (;;) {
        stirred = Promise.withResolvers<void>();
        const now = await findRow(sql, id);
        if (now === undefined) throw new Fault("turn", "task_lost", "The task was deleted.");
        const hasChanged = now.status !== row.status;
        row = now;
        if (signal.aborted) return await leave(row, signal.reason);
        if (hasChanged) tell(statusWords(row));
        if (isOver(row)) return row;
        await stirred.promise;
      }
    } finally {
      signal.removeEventListener("abort", stir);
      for (const one of undo) one();
    }
  }

  /** A parent that stops with the service, or loses it, finds its task again. */
  async function leave(row: TaskRow, why: unknown): Promise<TaskRow> {
    const isInterrupted = why instanceof Fault && why.code === INTERRUPTED;
    if (!isInterrupted && !isOver(row)) await stop(row, CANCELLED);
    return row;
  }

  const openPurse: OpenPurse = async ({ id, thread, task, job, budgetUsd }) => {
    if (task === undefined) {
      if (budgetUsd === undefined) return FREE;
      return { ...FREE, assertLeft: (usd) => assertRootGoesOn(sql, job ?? id, usd) };
    }
    await setStatus(task.id, "running", thread);
    const path = await pathOf(sql, task.id);
    const ids = path.map((row) => row.id);
    const root = path[0]?.root ?? "";
    return {
      assertLeft: () => assertGoesOn(sql, ids.length > 0 ? ids : [task.id], root),
      spend(tx, usd) {
        const places = ids.map(() => "?").join();
        void tx.run(`UPDATE tasks SET spent_usd = spent_usd + ? WHERE id IN (${places})`, usd, ...ids);
        void tx.run("UPDATE task_trees SET spent_usd = spent_usd + ? WHERE root = ?", usd, root);
      },
    };
  };

  /** With what it has called so far. */
  async function shown(row: TaskRow): Promise<ReturnType<typeof taskOf>> {
    const task = taskOf(row);
    if (isOver(row) || row.thread === null) return task;
    const { items } = await threads.turns(row.user, row.thread, { limit: 1 });
    const called = items.flatMap((turn) => turn.items);
    return { ...task, calls: called.flatMap((item) => (item.type === "tool_call" ? [item.call.name] : [])) };
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
      return await Promise.all(inTreeOrder(rows.toReversed()).map(shown));
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
      if (row && !isOver(row)) await stop(row, CANCELLED);
      return await service.find(id);
    },
  };

  return {
    service,
    openPurse,
    /** Those of a turn in the order of its calls: by that the next attempt finds them again. */
    begin: (asked: Asked, context: Parameters<typeof beginTask>[2]) =>
      inOrder(context.turn, () => beginTask(parts, asked, context)),
    follow,
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

function statusWords(row: TaskRow): string {
  const error = failureOf(row);
  if (error) return `${row.status} (${error.code}). ${error.message}`;
  return row.status === "waiting" ? "waits for a person" : row.status;
}

/** What those who watch the parent are told of a turn of the task. */
function progressOf(event: TurnEvent): string | undefined {
  if (event.type === "tool_started") return `calls ${event.call.name}`;
  if (event.type === "gate") return `asks about ${event.gate.call.name}`;
  return event.type === "notice" && event.code === "task" ? event.message : undefined;
}
