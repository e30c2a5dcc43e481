/**
 * What crosses between the pool and a worker, and the worker's side of it: the imports a tool sees. A worker
 * asks over its line and sleeps until the flag moves; the line is all it has, and stands for the grant of the call
 * that it was lent to.
 */
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { ToolReply, ToolRequest } from "../broker/grant.ts";
import { type Instance, openInstance } from "./instance.ts";
import { createWasi, ToolExit } from "./wasi.ts";

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error";

export interface LogEntry {
  readonly level: LogLevel;
  readonly message: string;
}

/** One call, as it reaches a worker. Of secrets only names: those that are set and that this tool may ask for. */
export interface Task {
  readonly component: string;
  readonly memoryBytes: number;
  readonly ask: Ask;
  readonly secrets: readonly string[];
  /** Comes with the worker's first task, and is its line from then on. */
  readonly line?: LineEnd;
}

export interface LineEnd {
  readonly port: MessagePort;
  /** Fields by number, see below; they survive the worker. */
  readonly shared: Int32Array<SharedArrayBuffer>;
}

export type Ask = { readonly type: "execute"; readonly params: string } | { readonly type: "describe" };

export const REPLIED = 0;
export const DROPPED_LOGS = 1;
export const MEMORY_KIB = 2;
export const SHARED_FIELDS = 3;

/** What a worker needs to open instances of a component. */
export interface ComponentCode {
  readonly modules: ReadonlyMap<string, WebAssembly.Module>;
  readonly glue: string;
  readonly restorable: boolean;
  readonly plain: boolean;
}

export type Upward =
  | { readonly type: "load" }
  | { readonly type: "http"; readonly request: ToolRequest }
  | { readonly type: "log"; readonly entry: LogEntry }
  | { readonly type: "outcome"; readonly outcome: WorkerOutcome; readonly secretsAsked: readonly string[] };

export type Downward =
  | { readonly type: "code"; readonly code: ComponentCode }
  | { readonly type: "no_code" }
  | { readonly type: "reply"; readonly reply: ToolReply };

export type FailureCode = "tool_error" | "bad_response" | "trap" | "threw" | "out_of_memory";

export type WorkerOutcome =
  | { readonly ok: true; readonly output: string }
  | { readonly ok: true; readonly description: string; readonly schema: string }
  | { readonly ok: false; readonly code: FailureCode; readonly message: string };

const MAX_LOGS = 1000;
const MAX_LOG_BYTES = 4096;
const MAX_BODY_BYTES = 1 << 20;
const MAX_TEXT = 1 << 16;
const MAX_SECRETS_ASKED = 100;
const MAX_SECRET_NAME = 256;

export { type Instance, openInstance, ToolExit };

export interface Bridge {
  /** Imports by name, for every instance of this worker. */
  readonly imports: Readonly<Record<string, object>>;
  /** How many resources the imports have handed out. */
  readonly resources: () => number;
  begin(task: Task): void;
  /** Fetches the code of the call's component. */
  load(): ComponentCode;
  /** Runs `work` with `http-request` and `secret-exists` shut: what a starting component learns, all its calls would see. */
  whileShut<Result>(work: () => Result): Result;
  /** What the call wrote to stderr or logged as an error last, for the words of its failure. */
  lastWords(): string;
  noteMemory(bytes: number): void;
  end(outcome: WorkerOutcome): void;
}

interface Current {
  readonly line: LineEnd;
  readonly secrets: ReadonlySet<string>;
  readonly secretsAsked: Set<string>;
  readonly partial: { stdout: string; stderr: string };
  logs: number;
  lastWords: string;
}

export function createBridge(): Bridge {
  let line: LineEnd | undefined;
  let current: Current | undefined;
  let isShut = false;
  const wasi = createWasi((stream, bytes) => {
    if (current !== undefined && !isShut) writeLines(current, stream, bytes);
  });

  const host = {
    log: (level: LogLevel, message: string) => {
      if (current === undefined || isShut) return;
      if (level === "error") rememberWords(current, message);
      keepLog(current, { level, message });
    },
    httpRequest: (
      method: string,
      url: string,
      headersJson: string,
      body: Uint8Array | undefined,
      timeoutMs: number | undefined,
    ) => {
      if (current === undefined || isShut) throw refusal("a component cannot send requests while it starts");
      if (Math.max(method.length, url.length, headersJson.length) > MAX_TEXT)
        throw refusal("the request is too long");
      if (body !== undefined && body.byteLength > MAX_BODY_BYTES)
        throw refusal("the request body is over 1 MiB");
      const request = { method, url, headersJson, body, timeoutMs };
      const down = ask(current.line, { type: "http", request });
      if (down.type !== "reply") throw new Error("the pool answered something else");
      if (!down.reply.ok) throw refusal(down.reply.error);
      return { status: down.reply.status, body: down.reply.body };
    },
    secretExists: (name: string) => {
      if (current === undefined || isShut) return false;
      const { secrets, secretsAsked } = current;
      if (secretsAsked.size < MAX_SECRETS_ASKED && name.length <= MAX_SECRET_NAME) secretsAsked.add(name);
      return secrets.has(name);
    },
  };

  return {
    imports: { ...wasi.interfaces, "postern:tool/host": host },
    resources: wasi.resources,
    begin: (task) => {
      line ??= task.line;
      if (line === undefined) throw new Error("the first task of a worker brings its line");
      wasi.begin();
      const partial = { stdout: "", stderr: "" };
      const secrets = new Set(task.secrets);
      current = { line, secrets, secretsAsked: new Set(), partial, logs: 0, lastWords: "" };
    },
    load: () => {
      const down = current && ask(current.line, { type: "load" });
      if (down?.type !== "code") throw new Error("the pool answered something else");
      return down.code;
    },
    whileShut: (work) => {
      isShut = true;
      try {
        return work();
      } finally {
        isShut = false;
      }
    },
    lastWords: () => current?.lastWords ?? "",
    noteMemory: (bytes) => {
      if (current !== undefined) Atomics.store(current.line.shared, MEMORY_KIB, bytes / 1024);
    },
    end: (outcome) => {
      if (current === undefined) return;
      for (const stream of ["stdout", "stderr"] as const) flush(current, stream, current.partial[stream]);
      send(current.line.port, { type: "outcome", outcome, secretsAsked: [...current.secretsAsked] });
      current = undefined;
    },
  };
}

/** An expected failure, in the form in which the glue hands it to the guest as the error of a `result`. */
function refusal(message: string): Error {
  return Object.assign(new Error(message), { payload: message });
}

function send(port: MessagePort, message: Upward): void {
  port.postMessage(message);
}

function ask({ port, shared }: LineEnd, message: Upward): Downward {
  Atomics.store(shared, REPLIED, 0);
  send(port, message);
  Atomics.wait(shared, REPLIED, 0);
  const received = receiveMessageOnPort(port) as { readonly message: Downward } | undefined;
  if (received === undefined) throw new Error("the pool woke this worker without an answer");
  return received.message;
}

function keepLog(call: Current, { level, message }: LogEntry): void {
  if (call.logs++ >= MAX_LOGS) {
    Atomics.add(call.line.shared, DROPPED_LOGS, 1);
    return;
  }
  const isLong = message.length * 3 > MAX_LOG_BYTES && Buffer.byteLength(message) > MAX_LOG_BYTES;
  const kept = isLong
    ? Buffer.from(message)
        .subarray(0, MAX_LOG_BYTES)
        .toString()
        .replace(/\ufffd+$/, "")
    : message;
  // At once, not with the outcome: a call that is ended from outside keeps what it had said.
  send(call.line.port, { type: "log", entry: { level, message: kept } });
}

function writeLines(call: Current, stream: "stdout" | "stderr", bytes: Uint8Array): void {
  const lines = (call.partial[stream] + Buffer.from(bytes).toString()).split("\n");
  const last = lines.pop() ?? "";
  for (const line of lines) flush(call, stream, line);
  const isLong = last.length > MAX_LOG_BYTES;
  if (isLong) flush(call, stream, last);
  call.partial[stream] = isLong ? "" : last;
}

function rememberWords(call: Current, words: string): void {
  call.lastWords = `${call.lastWords}\n${words.slice(-MAX_LOG_BYTES)}`.slice(-MAX_LOG_BYTES);
}

function flush(call: Current, stream: "stdout" | "stderr", line: string): void {
  if (line === "") return;
  if (stream === "stderr") rememberWords(call, line);
  keepLog(call, { level: stream === "stderr" ? "warn" : "info", message: line });
}
