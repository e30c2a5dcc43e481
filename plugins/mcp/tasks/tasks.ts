/** Calls that outlive their request. The node that began one runs it; answers and the result are in the store. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isInputRequiredResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { type Log, reason, type Sql } from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import { createTaskRows, type Task, type TaskOwner, type TaskState } from "./rows.ts";

/** A running call, which ends in a result or in what it has to ask first. */
export interface RunningCall {
  readonly result: Promise<object>;
  abort(): void;
}

interface TaskParts {
  readonly sql: Sql;
  readonly store: Pick<Store, "node" | "signals" | "repeat">;
  readonly log: Log;
  /** True if this process deletes expired tasks: a command does not. */
  readonly sweeps: boolean;
}

export type Tasks = ReturnType<typeof createTasks>;

const TOPIC = "mcp tasks";
const RENEW_MS = 4000;
const LOOK_MS = 500;
const SWEEP_MS = 60_000;
const WORKING: TaskState = { status: "working" };

export function createTasks({ sql, store, log, sweeps }: TaskParts) {
  const rows = createTaskRows(sql, store.node);
  const running = new Map<string, { readonly done: Promise<void>; abort(): void }>();
  const stopSweeping = sweeps ? store.repeat(TOPIC, SWEEP_MS, rows.removeExpired) : () => {};
  // Another node has cancelled it.
  const stopListening = store.signals.listen(TOPIC, (id) => running.get(id)?.abort());
  let renewing: NodeJS.Timeout | undefined;

  function follow(task: Task, call: RunningCall): void {
    const done = ending(call.result).then(async (state) => {
      try {
        await rows.change(task.id, WORKING, state);
      } catch (error) {
        log.error({ error }, `the result of an MCP task could not be stored: ${reason(error)}`);
      } finally {
        running.delete(task.id);
        if (running.size === 0) clearInterval(renewing);
      }
    });
    running.set(task.id, { abort: call.abort, done });
    if (running.size === 1) renewing = setInterval(() => void renew(), RENEW_MS).unref();
  }

  /** If the store fails, the next renewal comes soon. */
  async function renew(): Promise<void> {
    const mine = [...running];
    const still = await rows.renew().catch(() => undefined);
    if (still === undefined) return;
    for (const [id, { abort }] of mine) if (!still.includes(id)) abort();
  }

  async function ending(result: Promise<object>): Promise<TaskState> {
    try {
      const value = await result;
      if (!isInputRequiredResult(value)) return { status: "completed", result: { ...value } };
      const { inputRequests = {}, requestState } = value;
      return { status: "input_required", requests: inputRequests, answers: {}, requestState };
    } catch (error) {
      if (error instanceof ProtocolError) {
        const { code, message } = error;
        return { status: "failed", error: { code, message } };
      }
      log.error({ error }, `an MCP task failed: ${reason(error)}`);
      const failure = { code: ProtocolErrorCode.InternalError, message: "Internal error" };
      return { status: "failed", error: failure };
    }
  }

  return {
    /** Undefined if this user has too many. The task owns the call from here on. */
    async begin(
      owner: TaskOwner,
      params: Task["params"],
      ttlMillis: number,
      call: () => RunningCall,
    ): Promise<Task | undefined> {
      const now = Date.now();
      const times = { createdAt: now, updatedAt: now, ttlMillis };
      const task: Task = { id: randomUUID(), owner, params, ...times, status: "working" };
      if (!(await rows.add(task))) return undefined;
      follow(task, call());
      return task;
    },

    find: rows.find,

    /** Waits until it has ended. */
    async settled(owner: TaskOwner, id: string, signal: AbortSignal): Promise<Task | undefined> {
      for (;;) {
        const task = await rows.find(owner, id);
        if (task === undefined || hasEnded(task) || signal.aborted) return task;
        const pause = sleep(LOOK_MS, undefined, { signal }).catch(() => {});
        await Promise.race([running.get(id)?.done ?? pause, pause]);
      }
    },

    /** Continues the call when every question has its answer. Answers to anything else are ignored. */
    async answer(
      task: Task,
      answers: Readonly<Record<string, unknown>>,
      resume: (task: Extract<Task, { status: "input_required" }>) => RunningCall,
    ): Promise<void> {
      if (task.status !== "input_required") return;
      const asked = Object.entries(answers).filter(([key]) => Object.hasOwn(task.requests, key));
      const answered = { ...task, answers: { ...task.answers, ...Object.fromEntries(asked) } };
      const isComplete = Object.keys(task.requests).every((key) => Object.hasOwn(answered.answers, key));
      if (!isComplete) await rows.change(task.id, task, answered);
      // If two answers come at once, only one continues the call.
      else if (await rows.change(task.id, task, WORKING)) follow(task, resume(answered));
    },

    /** Returns false if it had ended already. */
    async cancel(task: Task): Promise<boolean> {
      if (hasEnded(task) || !(await rows.change(task.id, task, { status: "cancelled" }))) return false;
      running.get(task.id)?.abort();
      await store.signals.send(TOPIC, task.id);
      return true;
    },

    /** Waits for the running calls. */
    async drain(): Promise<void> {
      await Promise.all([...running.values()].map(({ done }) => done));
    },

    async stop(): Promise<void> {
      stopSweeping();
      stopListening();
      clearInterval(renewing);
      const mine = [...running.values()];
      if (mine.length === 0) return;
      // Before the calls are aborted, so that their errors are not stored as results.
      await rows.abandon();
      for (const { abort } of mine) abort();
      await Promise.all(mine.map(({ done }) => done));
    },
  };
}

export function hasEnded({ status }: TaskState): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
