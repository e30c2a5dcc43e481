/** What a task is to the turn that delegated it: watched while it runs, stopped with it, told of when that turn is over. */
import { randomUUIDv7 } from "node:crypto";
import { distinctOrigins, INTERRUPTED, MODEL } from "../../kernel/kit/turns.ts";
import { Fault, type TurnEvent } from "../../kernel/plugin.ts";
import type { Delegating } from "../agent/services.ts";
import { stop, topicOf } from "./ends.ts";
import type { TasksParts } from "./parts.ts";
import { CANCELLED, factsOf } from "./report.ts";
import { failureOf, findRow, isOver, originsOf, type TaskRow } from "./rows.ts";
import { TASK_CHANNEL } from "./task-start.ts";

const WATCH_MS = 1000;
/** Fixed words: those of the task would count as the person's here. */
const WOKEN =
  "A task that you had delegated has ended. The data above is how. Tell the user what came of it.";

/** Stops a task whose parent was stopped, failed or is gone. A parent that was interrupted gets its end as a turn. */
export async function followParent(parts: TasksParts, row: TaskRow): Promise<void> {
  const { sql, jobs, threads } = parts;
  const { owner, is_background: isBackground } = row;
  if (owner !== null) {
    const job = await jobs.find(owner);
    const isStopped = job === undefined || job.error?.code === CANCELLED.code;
    if (isStopped || (job.status === "completed" && !isBackground)) await stop(parts, row, CANCELLED);
    return;
  }
  const turn = await threads.turn(row.user, row.parent_turn);
  if (turn?.status === "queued" || turn?.status === "running") return;
  if (turn === undefined || turn.status === "cancelled") return await stop(parts, row, CANCELLED);
  if (isBackground || row.wakes) return;
  if (turn.error?.code !== INTERRUPTED || row.is_scoped) return await stop(parts, row, CANCELLED);
  await sql.run("UPDATE tasks SET wakes = 1 WHERE id = ?", row.id);
}

/** Says in the parent's thread how it ended, as soon as no gate is open there. */
export async function wake({ sql, jobs, threads }: TasksParts, row: TaskRow): Promise<void> {
  const thread = await threads.find(row.user, row.parent_thread);
  if (thread?.gate) return;
  const claim = "UPDATE tasks SET wakes = 0 WHERE id = ? AND wakes = 1";
  if (thread === undefined) return void (await sql.run(claim, row.id));
  const job = {
    id: randomUUIDv7(),
    user: row.user,
    channel: TASK_CHANNEL,
    message: WOKEN,
    turn: {
      thread: thread.id,
      preamble: {
        outside: {
          origin: "a task",
          data: factsOf(row),
          origins: distinctOrigins([MODEL, ...originsOf(row)]),
        },
      },
      ...(row.is_unattended && { work: { unattended: true } }),
    },
  };
  await jobs.assertRoom(job);
  await sql.transaction(async (tx) => {
    if ((await tx.run(claim, row.id)) > 0) await jobs.submit(job, tx);
  });
}

/** Resolves with the task when it has ended. If the parent is stopped before, the task is too. */
export async function follow(parts: TasksParts, begun: TaskRow, delegating: Delegating): Promise<TaskRow> {
  const { sql, store, agent, clock } = parts;
  const { signal, notice, alive } = delegating;
  const { id, user, title } = begun;
  let row = begun;
  let stirred = Promise.withResolvers<void>();
  const stir = (): void => stirred.resolve();
  const listening = store.signals.listen(topicOf(id), stir);
  const tell = (what: string): void => notice("task", `Task "${title}": ${what}`);
  const undo = [
    listening,
    clock.every(WATCH_MS, () => {
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
    await listening.ready().catch(() => {});
    for (;;) {
      stirred = Promise.withResolvers<void>();
      const now = await findRow(sql, id);
      if (now === undefined) throw new Fault("turn", "task_lost", "The task was deleted.");
      const hasChanged = now.status !== row.status;
      row = now;
      if (signal.aborted) return await leave(parts, row, signal.reason);
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
async function leave(parts: TasksParts, row: TaskRow, why: unknown): Promise<TaskRow> {
  const isInterrupted = why instanceof Fault && why.code === INTERRUPTED;
  if (!isInterrupted && !isOver(row)) await stop(parts, row, CANCELLED);
  return row;
}

function statusWords(row: TaskRow): string {
  const error = failureOf(row);
  if (error) return `${row.status} (${error.code}). ${error.message}`;
  return row.status === "waiting" ? "waits for a person" : row.status;
}

/** What is shown in the parent of a turn of the task. */
function progressOf(event: TurnEvent): string | undefined {
  if (event.type === "tool_started") return `calls ${event.call.name}`;
  if (event.type === "gate") return `asks about ${event.gate.call.name}`;
  return event.type === "notice" && event.code === "task" ? event.message : undefined;
}
