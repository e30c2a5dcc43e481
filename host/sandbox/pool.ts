/** Tool calls in processes of their own: each alone, with a deadline, and always ending in an outcome. */
import { availableParallelism, totalmem } from "node:os";
import { Fault, reason } from "../../kernel/plugin.ts";
import type { ToolReply, ToolRequest } from "../broker/grant.ts";
import type { Component } from "./processes.ts";
import { type InUse, Processes, type Seat } from "./processes.ts";
import type {
  Ask,
  Ended,
  FailureCode,
  FileReply,
  FileRequest,
  InnerReply,
  InnerRequest,
  LogEntry,
  Outcome,
  StateReply,
  StateRequest,
  Task,
} from "./protocol.ts";
import { CallLost, type ToolProcess } from "./tool-process.ts";

export type { LogEntry } from "./protocol.ts";

export interface PoolCall {
  readonly component: Component;
  readonly params: string;
  /** JSON of the schema that params must match before anything runs. */
  readonly schema?: string;
  /** Milliseconds until the call is given up, waiting for a process included. */
  readonly timeoutMs: number;
  /** Handles `http-request`; its signal is aborted when the call is over. The tool gets a rejection as an error. */
  http(request: ToolRequest, signal: AbortSignal): Promise<ToolReply>;
  /** Names of secrets that are set and that the tool may ask for. Never a value. */
  readonly secrets: readonly string[];
  readonly settings?: Task["settings"];
  /** Answers what the tool asks of its state; without it the tool has none. */
  state?(request: StateRequest): Promise<StateReply>;
  /** Makes a call of another tool; its signal is aborted when the call is over. Without it the tool can call none. */
  inner?(request: InnerRequest, signal: AbortSignal): Promise<InnerReply>;
  /** Answers what the tool asks of files; without it the tool has none. */
  files?(request: FileRequest): Promise<FileReply>;
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

export interface Description {
  readonly description: string;
  readonly schema: string;
  readonly problem?: string;
}

export interface Pool {
  /** Never rejects: whatever a tool does is an outcome. */
  call(call: PoolCall): Promise<PoolOutcome>;
  check(component: Component, schema: string, params: string): Promise<string | undefined>;
  /** The mistakes of a value, both as JSON, against a schema that is no tool's: `component` only names the process. */
  validate(
    component: Component,
    schema: string,
    value: string,
    signal: AbortSignal,
  ): Promise<
    | { readonly ok: true; readonly mistakes: readonly string[] }
    | { readonly ok: false; readonly code: PoolCode; readonly message: string }
  >;
  /** Asks a component for its description and schema. Throws a `Fault` where it cannot say. */
  describe(component: Component): Promise<Description>;
  forget(component: Component): void;
  inUse(): InUse;
  close(): Promise<void>;
}

export interface PoolOptions {
  readonly size?: number;
  readonly processes?: number;
  readonly memoryBytes?: number;
  readonly keepsSpare?: boolean;
  onDeath?(component: Component, why: string): void;
}

const DEFAULT_PROCESSES = 8;
/** In processor time if the system shows it, because a busy machine may take long to provide that much. */
const DESCRIBE_MS = 10_000;
/** In wall time, for a tool that waits instead of computing. */
const MAX_DESCRIBE_MS = 60_000;

type Finished = PoolReport & { readonly outcome: Outcome | Lost };

interface Lost {
  readonly ok: false;
  readonly code: PoolCode;
  readonly message: string;
}

interface Circumstances extends Omit<PoolCall, "params"> {
  /** The time counts that its process works, from when it is loaded: a busy machine may take longer than a tool may for its words. */
  readonly isAboutItself?: boolean;
}

export function createPool(options: PoolOptions = {}): Pool {
  const processes = new Processes({
    cores: options.size ?? availableParallelism(),
    most: options.processes ?? DEFAULT_PROCESSES,
    memoryBytes: options.memoryBytes ?? halfOfMemory(),
    keepsSpare: options.keepsSpare ?? false,
    onDeath: options.onDeath ?? (() => {}),
  });
  const running = new Set<() => void>();
  let isClosed = false;

  const run = async (ask: Ask, call: Circumstances): Promise<Finished> => {
    const started = performance.now();
    const logs: LogEntry[] = [];
    // One controller for each call: signals made by AbortSignal.any live as long as what they were made of.
    const stop = new AbortController();
    // Most calls ask for nothing: aborting a signal takes as long as everything else that is done here.
    const requests: { over?: AbortController } = {};
    const untilOver = () => {
      requests.over ??= new AbortController();
      return requests.over.signal;
    };
    let why: Lost | undefined;
    const end = (lost: Lost) => {
      why ??= lost;
      stop.abort(OVER);
    };
    const cancel = () => end(CANCELLED);
    const watchTime = () => setTimeout(() => end(timedOut(call.timeoutMs)), call.timeoutMs);
    const watchWork = (child: ToolProcess) => {
      const since = performance.now();
      const before = child.workedMs() ?? 0;
      const look = () => {
        const waitedMs = performance.now() - since;
        const workedMs = (child.workedMs() ?? Number.POSITIVE_INFINITY) - before;
        const leftMs = Math.min(call.timeoutMs - workedMs, MAX_DESCRIBE_MS - waitedMs);
        if (leftMs <= 0) end(timedOut(waitedMs));
        else timer = setTimeout(look, leftMs);
      };
      return setTimeout(look, call.timeoutMs);
    };
    // Whatever is waited for has a timer: a command has no other handle, and would end in the middle of it.
    let timer = call.isAboutItself ? setTimeout(() => {}, 2 ** 31 - 1) : watchTime();
    call.signal?.addEventListener("abort", cancel);
    running.add(cancel);
    if (isClosed || call.signal?.aborted) cancel();
    let seat: Seat | undefined;
    let seen: Seen = UNSEEN;
    let outcome: Outcome | Lost;
    try {
      seat = await processes.enter(call.component, stop.signal);
      if (call.isAboutItself) {
        clearTimeout(timer);
        timer = watchWork(seat.process);
      }
      const events = {
        http: (request: ToolRequest) => call.http(request, untilOver()),
        state: async (request: StateRequest) => (await call.state?.(request)) ?? NO_STATE,
        inner: async (request: InnerRequest) => (await call.inner?.(request, untilOver())) ?? NO_TOOLS,
        file: async (request: FileRequest) => (await call.files?.(request)) ?? NO_FILES,
        log: (entry: LogEntry) => void logs.push(entry),
      };
      const known = { secrets: call.secrets, settings: call.settings ?? {} };
      const ended = await seat.process.call(ask, known, events, stop.signal, call.schema);
      ({ outcome, ...seen } = ended);
    } catch (error) {
      outcome = why ?? explainLoss(error, call.component);
    } finally {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", cancel);
      running.delete(cancel);
      requests.over?.abort(OVER);
      seat?.leave(seen.memoryPeakBytes);
    }
    const { droppedLogs, memoryPeakBytes, secretsAsked } = seen;
    const millis = performance.now() - started;
    return { outcome, logs, droppedLogs, memoryPeakBytes, secretsAsked, millis };
  };

  return {
    async call({ params, ...call }) {
      const { outcome, ...report } = await run({ type: "execute", params }, call);
      if (!outcome.ok || "output" in outcome) return { ...report, ...outcome };
      return { ...report, ...ANOTHER_ANSWER };
    },
    async check(component, schema, params) {
      const call = { ...ABOUT_ITSELF, component, schema };
      const { outcome } = await run({ type: "check", params }, call);
      return outcome.ok ? undefined : outcome.message;
    },
    async validate(component, schema, value, signal) {
      const call = { ...ABOUT_ITSELF, component, schema, signal };
      const { outcome } = await run({ type: "validate", value }, call);
      if (!outcome.ok) return outcome;
      return "output" in outcome ? { ok: true, mistakes: readTexts(outcome.output) } : ANOTHER_ANSWER;
    },
    async describe(component) {
      const call = { ...ABOUT_ITSELF, component };
      const { outcome } = await run({ type: "describe" }, call);
      if (outcome.ok && "schema" in outcome) return outcome;
      const why = outcome.ok ? ANOTHER_ANSWER.message : outcome.message;
      throw new Fault("invalid", "cannot_describe_itself", `The component does not describe itself. ${why}`);
    },
    forget: ({ key }) => processes.forget(key),
    inUse: () => processes.inUse(),
    async close() {
      isClosed = true;
      for (const cancel of running) cancel();
      await processes.close();
    },
  };
}

/** A stranger's code may have written it. */
function readTexts(json: string): readonly string[] {
  const texts: unknown = JSON.parse(json);
  return Array.isArray(texts) ? texts.filter((text) => typeof text === "string") : [];
}

function halfOfMemory(): number {
  const constrained = process.constrainedMemory();
  const whole = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return whole / 2;
}

const refuse = async (): Promise<ToolReply> => ({ ok: false, error: "no requests while describing itself" });
const ABOUT_ITSELF = {
  timeoutMs: DESCRIBE_MS,
  isAboutItself: true,
  http: refuse,
  secrets: [],
} as const;

const NO_STATE: StateReply = { ok: false, error: "this tool has no state here" };
const NO_TOOLS: InnerReply = { ok: false, error: "Other tools can only be called in a conversation." };

const NO_FILES: FileReply = { ok: false, code: "access", error: "this tool has no files here" };

type Seen = Omit<Ended, "outcome">;
const UNSEEN: Seen = { droppedLogs: 0, memoryPeakBytes: 0, secretsAsked: [] };

/** Made once: without a reason each abort would make an error with its stack. */
const OVER = new Error("the call is over");

const CANCELLED: Lost = { ok: false, code: "cancelled", message: "The call was cancelled." };
const ANOTHER_ANSWER: Lost = {
  ok: false,
  code: "worker_lost",
  message: "The tool's process answered another question.",
};

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
  if (error instanceof CallLost && error.isFull) {
    const mib = component.memoryBytes / 2 ** 20;
    return { ok: false, code: "out_of_memory", message: `The tool ran out of its ${mib} MiB of memory.` };
  }
  return { ok: false, code: "worker_lost", message: `The call was lost: ${reason(error)}.` };
}
