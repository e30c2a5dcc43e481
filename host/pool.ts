/** Tool calls on worker threads: each alone, with a deadline, and always ending in an outcome. */
import { availableParallelism } from "node:os";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { Piscina } from "piscina";
import { Fault, reason } from "../kernel/fault.ts";
import { Admission, type Slot } from "./admission.ts";
import {
  type Ask,
  type ComponentCode,
  type Downward,
  DROPPED_LOGS,
  type FailureCode,
  type LogEntry,
  MEMORY_KIB,
  REPLIED,
  SHARED_FIELDS,
  type Task,
  type Upward,
  type WorkerOutcome,
} from "./bridge.ts";
import type { ToolReply, ToolRequest } from "./grant.ts";
import { siblingFile } from "./sibling-file.ts";
import type { Component } from "./transpile.ts";

export type { LogEntry, LogLevel } from "./bridge.ts";

export interface PoolCall {
  readonly component: Component;
  /** A JSON text for `execute`. */
  readonly params: string;
  /** Milliseconds until the call is given up, waiting for a worker included. */
  readonly timeoutMs: number;
  /** Answers `http-request`; its signal is aborted when the call is over. A rejection is told to the tool as an error. */
  http(request: ToolRequest, signal: AbortSignal): Promise<ToolReply>;
  /** Names of secrets that are set and that the tool may ask for. Never a value. */
  readonly secrets: readonly string[];
  readonly signal?: AbortSignal;
}

export type PoolCode = FailureCode | "timeout" | "cancelled" | "worker_lost" | "unavailable";

export interface PoolReport {
  readonly logs: readonly LogEntry[];
  readonly droppedLogs: number;
  /** 0 where the call ended before it could be seen. */
  readonly memoryPeakBytes: number;
  readonly millis: number;
}

export type PoolOutcome = PoolReport &
  (
    | { readonly ok: true; readonly output: string }
    | { readonly ok: false; readonly code: PoolCode; readonly message: string }
  );

export interface Pool {
  /** Never rejects: whatever a tool does is an outcome. */
  call(call: PoolCall): Promise<PoolOutcome>;
  /** Asks a component for its description and schema. Throws a `Fault` where it cannot say. */
  describe(component: Component): Promise<{ readonly description: string; readonly schema: string }>;
  /** Gives the code of a component back, when it was removed or replaced; calls in flight finish. */
  forget(component: Component): void;
  /** Ends every call as cancelled. */
  close(): Promise<void>;
}

/** Threads beyond the cores are for calls that sleep: in a request, or in a loop that will be ended. */
const MAX_THREADS = 64;
const IDLE_MILLIS = 30_000;
const MAX_LOADED = 8;
const DESCRIBE_MILLIS = 10_000;

type Finished = PoolReport & { readonly outcome: WorkerOutcome | Lost };

interface Lost {
  readonly ok: false;
  readonly code: PoolCode;
  readonly message: string;
}

export function createPool({ size = availableParallelism() }: { readonly size?: number } = {}): Pool {
  const threads = new Piscina({
    filename: siblingFile("worker"),
    minThreads: size,
    maxThreads: Math.max(size, MAX_THREADS),
    idleTimeout: IDLE_MILLIS,
    env: {},
    execArgv: [],
    // The guest's memory is bounded by its module; this bounds what its strings cost outside of it.
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 },
  });
  // A worker that dies between calls is replaced; the call that it was busy with hears of it by its own promise.
  threads.on("error", () => {});
  const admission = new Admission(size, Math.max(size, MAX_THREADS));
  const running = new Set<() => void>();
  let isClosed = false;
  const loaded = new Map<string, Promise<ComponentCode>>();

  const load = (component: Component): Promise<ComponentCode> => {
    const known = loaded.get(component.key);
    const loading = known ?? component.load();
    loaded.delete(component.key);
    loaded.set(component.key, loading);
    if (known === undefined) loading.catch(() => loaded.delete(component.key));
    for (const oldest of loaded.keys()) {
      if (loaded.size <= MAX_LOADED) break;
      loaded.delete(oldest);
    }
    return loading;
  };

  const run = async (ask: Ask, call: Omit<PoolCall, "params">): Promise<Finished> => {
    const started = performance.now();
    const logs: LogEntry[] = [];
    const shared = new Int32Array(new SharedArrayBuffer(4 * SHARED_FIELDS));
    let over: AbortController | undefined;
    // One controller of its own for each call: signals made by AbortSignal.any outlive it for as long as the pool.
    const stop = new AbortController();
    let why: Lost | undefined;
    const end = (lost: Lost) => {
      why ??= lost;
      stop.abort();
    };
    const cancel = () => end(CANCELLED);
    const timer = setTimeout(() => end(timedOut(call.timeoutMs)), call.timeoutMs);
    call.signal?.addEventListener("abort", cancel);
    running.add(cancel);
    if (isClosed || call.signal?.aborted) cancel();
    const report = (outcome: WorkerOutcome | Lost): Finished => ({
      outcome,
      logs,
      droppedLogs: Atomics.load(shared, DROPPED_LOGS),
      memoryPeakBytes: Atomics.load(shared, MEMORY_KIB) * 1024,
      millis: performance.now() - started,
    });
    const { port1, port2 } = new MessageChannel();
    let slot: Slot | undefined;
    let done: Promise<void> | undefined;
    // The worker still cleans up after its answer: the slot and the deadline stay until it is through.
    const leave = () => {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", cancel);
      running.delete(cancel);
      slot?.leave();
    };
    try {
      slot = await admission.enter(stop.signal);
      const answered = answer(port1, shared, slot, {
        load: () => load(call.component),
        http: (request) => {
          over ??= new AbortController();
          return call.http(request, over.signal);
        },
        log: (entry) => logs.push(entry),
      });
      const { key, memoryBytes } = call.component;
      const task: Task = { component: key, memoryBytes, ask, secrets: call.secrets, port: port2, shared };
      done = threads.run(task, { transferList: [port2], signal: stop.signal }) as Promise<void>;
      done.then(leave, leave);
      return report(await Promise.race([answered, done.then(() => answered)]));
    } catch (error) {
      if (done === undefined) leave();
      port1.close();
      // The port only knows that the worker is gone; its task knows why.
      const cause = await done?.then(
        () => error,
        (own: unknown) => own,
      );
      return report(why ?? explainLoss(cause ?? error, call.component));
    } finally {
      over?.abort();
    }
  };

  return {
    async call({ params, ...call }) {
      const { outcome, ...report } = await run({ type: "execute", params }, call);
      if (!outcome.ok) return { ...report, ...outcome };
      if ("output" in outcome) return { ...report, ...outcome };
      return { ...report, ok: false, code: "worker_lost", message: "The worker answered another question." };
    },
    async describe(component) {
      const refuse = async (): Promise<ToolReply> => ({
        ok: false,
        error: "no requests while describing itself",
      });
      const call = { component, timeoutMs: DESCRIBE_MILLIS, http: refuse, secrets: [] };
      const { outcome } = await run({ type: "describe" }, call);
      if (outcome.ok && "schema" in outcome) {
        return { description: outcome.description, schema: outcome.schema };
      }
      const why = outcome.ok ? "The worker answered another question." : outcome.message;
      throw new Fault("invalid", "cannot_describe_itself", `The component does not describe itself. ${why}`);
    },
    forget: (component) => void loaded.delete(component.key),
    async close() {
      isClosed = true;
      for (const cancel of running) cancel();
      await threads.destroy();
    },
  };
}

interface Answers {
  load(): Promise<ComponentCode>;
  http(request: ToolRequest): Promise<ToolReply>;
  log(entry: LogEntry): void;
}

/** Serves one call's port until the outcome comes. Rejects where the code cannot be had, or the worker is gone. */
function answer(
  port: MessagePort,
  shared: Int32Array<SharedArrayBuffer>,
  slot: Slot,
  { load, http, log }: Answers,
): Promise<WorkerOutcome> {
  return new Promise((resolve, reject) => {
    const reply = (down: Downward) => {
      slot.wake();
      // Reply before waking: the worker reads the port the moment the flag moves.
      port.postMessage(down);
      Atomics.store(shared, REPLIED, 1);
      Atomics.notify(shared, REPLIED);
    };
    // The worker closes its end when it is done, or when it dies; what it had sent comes first.
    port.on("close", () => reject(new Error("it went away without an answer")));
    port.on("message", (up: Upward) => {
      if (up.type === "log") log(up.entry);
      else if (up.type === "outcome") resolve(up.outcome);
      else if (up.type === "load") {
        slot.sleep();
        load().then(
          (code) => reply({ type: "code", code }),
          (error) => {
            reject(error);
            reply({ type: "no_code" });
          },
        );
      } else {
        slot.sleep();
        http(up.request).then(
          (answer) => reply({ type: "reply", reply: answer }),
          (error) => reply({ type: "reply", reply: { ok: false, error: reason(error) } }),
        );
      }
    });
  });
}

const CANCELLED: Lost = { ok: false, code: "cancelled", message: "The call was cancelled." };

function timedOut(millis: number): Lost {
  const secs = Math.round(millis / 100) / 10;
  return {
    ok: false,
    code: "timeout",
    message: `The tool did not answer within ${secs} seconds and was ended.`,
  };
}

function explainLoss(error: unknown, component: Component): Lost {
  if (error instanceof Fault) return { ok: false, code: "unavailable", message: error.message };
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ERR_WORKER_OUT_OF_MEMORY") {
    const mib = component.memoryBytes / 2 ** 20;
    return { ok: false, code: "out_of_memory", message: `The tool ran out of its ${mib} MiB of memory.` };
  }
  return { ok: false, code: "worker_lost", message: `The worker of this call was lost: ${reason(error)}.` };
}
