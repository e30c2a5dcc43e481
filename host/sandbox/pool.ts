/** Tool calls on worker threads: each alone, with a deadline, and always ending in an outcome. */
import { availableParallelism } from "node:os";
import { LRUCache } from "lru-cache";
import { Fault, reason } from "../../kernel/fault.ts";
import type { ToolReply, ToolRequest } from "../broker/grant.ts";
import type { Component } from "../compile/transpile.ts";
import { Admission, type Slot } from "./admission.ts";
import type { Ask, ComponentCode, FailureCode, LogEntry, WorkerOutcome } from "./bridge.ts";
import { Threads } from "./threads.ts";
import type { ChannelCall, Seen } from "./worker-channel.ts";

export type { LogEntry } from "./bridge.ts";

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
  /** Names that `secret-exists` was asked for, also those it may not; none where the call was ended from outside. */
  readonly secretsAsked: readonly string[];
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
const MAX_LOADED = 8;
const DESCRIBE_MILLIS = 10_000;

type Finished = PoolReport & { readonly outcome: WorkerOutcome | Lost };

interface Lost {
  readonly ok: false;
  readonly code: PoolCode;
  readonly message: string;
}

export function createPool({ size = availableParallelism() }: { readonly size?: number } = {}): Pool {
  const most = Math.max(size, MAX_THREADS);
  const threads = new Threads(size, most);
  const admission = new Admission(size, most);
  const running = new Set<() => void>();
  let isClosed = false;
  const loaded = new LRUCache<string, Promise<ComponentCode>>({ max: MAX_LOADED });

  const load = (component: Component): Promise<ComponentCode> => {
    const known = loaded.get(component.key);
    if (known !== undefined) return known;
    const loading = component.load();
    loaded.set(component.key, loading);
    loading.catch(() => loaded.delete(component.key));
    return loading;
  };

  const run = async (ask: Ask, call: Omit<PoolCall, "params">): Promise<Finished> => {
    const started = performance.now();
    const logs: LogEntry[] = [];
    // One controller for each call: signals made by AbortSignal.any live as long as what they were made of.
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

    let slot: Slot | undefined;
    const leave = () => {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", cancel);
      running.delete(cancel);
      slot?.leave();
    };
    const report = (
      outcome: WorkerOutcome | Lost,
      seen: Seen = UNSEEN,
      secretsAsked: readonly string[] = [],
    ): Finished => ({
      outcome,
      logs,
      ...seen,
      secretsAsked,
      millis: performance.now() - started,
    });
    let requests: AbortController | undefined;
    let run: ReturnType<Threads["run"]> | undefined;
    // A worker will ask for the code once it is there; reading and compiling need not wait for that.
    if (!threads.knows(call.component.key)) load(call.component).catch(() => {});
    try {
      slot = await admission.enter(stop.signal);
      const { promise, resolve, reject } = Promise.withResolvers<Finished>();
      const { key, memoryBytes } = call.component;
      const task = { component: key, memoryBytes, ask, secrets: call.secrets };
      const served: ChannelCall = {
        slot,
        load: () => load(call.component),
        http: (request) => {
          requests ??= new AbortController();
          return call.http(request, requests.signal);
        },
        log: (entry) => logs.push(entry),
        resolve: (outcome, seen, secretsAsked) => resolve(report(outcome, seen, secretsAsked)),
        reject,
      };
      run = threads.run(task, served, stop.signal);
      // The worker still cleans up after its answer: the slot and the deadline stay until it is through.
      run.done.then(leave, leave);
      run.done.then(() => reject(new Error("it ended without an answer")), reject);
      return await promise;
    } catch (error) {
      if (run === undefined) leave();
      return report(why ?? explainLoss(error, call.component), run?.line()?.seen());
    } finally {
      requests?.abort();
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
      await threads.close();
    },
  };
}

const UNSEEN: Seen = { droppedLogs: 0, memoryPeakBytes: 0 };

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
