/** A process in which strangers' code runs, seen from the service. What it says is bounded, and a word out of place ends it. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { dirname, join } from "node:path";
import { moduleFile, ROOT } from "../../kernel/kit/files.ts";
import { assertSimple } from "../../kernel/kit/http.ts";
import { reason } from "../../kernel/plugin.ts";
import type { ReaderJob } from "../wasm/component-reader.ts";
import { PRLIMIT, packagesAbove } from "./confinement.ts";
import { type FrameLimits, FrameReader, writeFrame } from "./frames.ts";
import { prepared } from "./prepared.ts";
import {
  type Ask,
  type CallEvents,
  type CodeBytes,
  type Ended,
  type FailureCode,
  type FileOp,
  type FromProcess,
  MAX_FILE_REQUESTS,
  type Outcome,
  type Preopen,
  type Reply,
  splitBody,
  type Task,
  type ToProcess,
} from "./protocol.ts";
import { runtime } from "./runtime.ts";

/** The call's thread or process is gone; `isFull` where memory was the reason. */
export class CallLost extends Error {
  readonly isFull: boolean;

  constructor(message: string, isFull: boolean) {
    super(message);
    this.isFull = isFull;
  }
}

export type ReadingReply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly unfit: boolean; readonly message: string };

/** Messages of one call, or of none that is open. */
interface Spoken {
  messages: number;
  fileMessages: number;
  bytes: number;
  fileBytes: number;
}

const SILENT: Readonly<Spoken> = { messages: 0, fileMessages: 0, bytes: 0, fileBytes: 0 };

/** What is answered by a reply. */
type RequestMessage = Extract<FromProcess, { readonly head: unknown }>;

interface Open extends Spoken {
  readonly events: CallEvents;
  readonly resolve: (ended: Ended) => void;
  readonly reject: (error: Error) => void;
}

/** An outcome of 1 MiB as JSON may be six times as long; a request's body is at most 1 MiB. */
const LIMITS = { header: 16 << 20, body: 2 << 20 };
/** The code of the largest engine is a tenth of this. */
const READER_LIMITS = { header: 16 << 20, body: 256 << 20 };
/**
 * A call has 1000 log entries, 100 requests of 1 MiB, 5000 questions about its state, which write 16 MiB at most, and 100 calls of other
 * tools, with 8 MiB of params in all; questions about files count apart. It is refused further ones in there.
 */
const MAX_MESSAGES = 10_000;
const MAX_BYTES = 128 << 20;
/** Bytes that it was sent and has not read: replies of 10 MiB at most, for a call as many as it may ask for at once. */
const MAX_UNREAD_BYTES = 256 << 20;
const LAST_WORDS = 4096;
/** Threads that speak for themselves; what those beyond have to say goes through the process's main thread. */
const MAX_LINES = 16;
/** Ending a thread takes a fraction of this on a busy machine. */
const LET_GO_MS = 10_000;

/** No core dumps, no files, few descriptors. */
const BOUNDS = ["--core=0", "--fsize=0", "--nofile=256"];

export interface Exit {
  readonly why: string;
  readonly wasBusy: boolean;
}

export interface ProcessOptions {
  readonly role: "run" | "read";
  readonly cores: number;
  readonly ready?: number;
  /** Runs in place of our own code; tests put hostile programs there. */
  readonly program?: string;
}

export class ToolProcess {
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  /** The first, and those on which threads speak for themselves. */
  readonly #sockets: readonly Socket[];
  readonly #limits: FrameLimits;
  readonly #calls = new Map<number, Open>();
  /** A call that is over may still have been heard of on another line. */
  readonly #strays: Spoken = { ...SILENT };
  readonly #reading = Promise.withResolvers<ReadingReply>();
  readonly #loaded = Promise.withResolvers<void>();
  readonly #exited = Promise.withResolvers<Exit>();
  #lastCall = 0;
  #isReading = false;
  #why: { readonly message: string; readonly isFull: boolean } | undefined;
  #lastWords = "";
  readonly #schemas: string[] = [];
  /** The process reports it itself, only where it cannot be seen from outside. */
  reportedBytes = 0;

  static start(options: ProcessOptions): ToolProcess {
    return new ToolProcess(options);
  }

  private constructor({ role, cores, ready = 1, program }: ProcessOptions) {
    const lines = role === "read" ? 0 : Math.min(cores, MAX_LINES);
    const { child, readable } = ourCode();
    this.#limits = role === "read" ? READER_LIMITS : LIMITS;
    const command = [
      ...(PRLIMIT === undefined ? [] : [PRLIMIT, ...BOUNDS, "--"]),
      runtime(),
      "--permission",
      ...readable.map((path) => `--allow-fs-read=${path}`),
      "--allow-worker",
      // The permission model does not know of these two, which open files.
      "--no-experimental-sqlite",
      "--no-experimental-webstorage",
      "--disable-warning=SecurityWarning",
      // A thread frees the memory of large instances before it counts against the next call.
      "--expose-gc",
      // Each instance's memory makes V8 collect soon: its helpers would mark the heap at the expense of the calls.
      "--no-concurrent-marking",
      // A reader runs the transpiler once: optimizing that takes as long as running it. What a tool runs was validated
      // whole when it was read, so the engine does so again only for the functions that it comes to.
      role === "read" ? "--liftoff-only" : "--wasm-lazy-validation",
      program ?? child,
      `${cores}`,
      `${ready}`,
      `${lines}`,
      role,
      process.platform === "linux" ? "" : "memory",
    ];
    this.#child = spawn(command[0] as string, command.slice(1), {
      env: {},
      cwd: ROOT,
      stdio: ["ignore", "ignore", "pipe", "pipe", ...Array.from({ length: lines }, () => "pipe" as const)],
    });
    this.#sockets = this.#child.stdio.slice(3) as unknown as readonly Socket[];
    this.#socket = this.#sockets[0] as Socket;
    for (const socket of this.#sockets) this.#listen(socket);
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString()).slice(-LAST_WORDS);
    });
    this.#child.once("error", (error) => this.#close(reason(error)));
    this.#child.once("close", (code, signal) => this.#close(signal ?? `exit code ${code}`));
  }

  #listen(socket: Socket): void {
    const reader = new FrameReader(
      this.#limits,
      (header, body, bytes) => this.#receive(header as FromProcess, body, bytes),
      parseHeader,
    );
    socket.on("data", (chunk: Buffer) => {
      // Nothing more is heard of one that was ended.
      if (this.#why !== undefined) return;
      try {
        reader.push(chunk);
      } catch (error) {
        this.end(`it broke the protocol: ${reason(error)}`);
      }
    });
    // Writing to a process that is gone; its exit says the rest.
    socket.on("error", () => {});
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Returns the processor time of all its threads so far, or undefined if it cannot be seen. */
  workedMs(): number | undefined {
    try {
      const stat = readFileSync(`/proc/${this.pid}/stat`, "latin1");
      const fields = stat.slice(stat.lastIndexOf(")")).split(" ");
      // In hundredths of a second: its own, and the kernel's for it.
      return (Number(fields[12]) + Number(fields[13])) * 10;
    } catch {
      return undefined;
    }
  }

  /** Calls that were cancelled count until it has let go of them. */
  get isBusy(): boolean {
    return this.#calls.size > 0 || this.#isReading;
  }

  get exited(): Promise<Exit> {
    return this.#exited.promise;
  }

  /** An idle process does not keep the service from ending. */
  ref(isBusy: boolean): void {
    const { stderr } = this.#child as { stderr: Socket | null };
    for (const handle of [this.#child, ...this.#sockets, stderr]) {
      if (isBusy) handle?.ref();
      else handle?.unref();
    }
  }

  /** Rejects where the process ends before its component is compiled: then no call has begun. */
  load(
    { modules, ...code }: CodeBytes,
    memoryBytes: number,
    preopens: readonly Preopen[] = [],
  ): Promise<void> {
    const places = modules.map(([name, bytes]) => ({ name, bytes: bytes.byteLength }));
    const bodies = modules.map(([, bytes]) => bytes);
    this.#send({ type: "load", ...code, memoryBytes, preopens, modules: places }, bodies);
    return this.#loaded.promise;
  }

  /** Resolves to how the call ended; rejects with `CallLost`. A cancelled call is lost at once for its caller. */
  call(
    ask: Ask,
    known: Pick<Task, "secrets" | "settings">,
    events: CallEvents,
    signal: AbortSignal,
    schema?: string,
  ): Promise<Ended> {
    const number = schema === undefined ? undefined : this.#schemaNumber(schema);
    const call = ++this.#lastCall;
    const { promise, resolve, reject } = Promise.withResolvers<Ended>();
    this.#calls.set(call, { events, resolve, reject, ...SILENT });
    if (this.#calls.size === 1) this.ref(true);
    this.#send({ type: "call", call, ask, ...known, schema: number });
    const cancel = () => {
      reject(new CallLost("it was cancelled", false));
      this.#send({ type: "cancel", call });
      const letGo = () => this.#calls.has(call) && this.end("it held on to a cancelled call");
      setTimeout(letGo, LET_GO_MS).unref();
    };
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    const settle = () => signal.removeEventListener("abort", cancel);
    promise.then(settle, settle);
    return promise;
  }

  #schemaNumber(schema: string): number {
    const known = this.#schemas.indexOf(schema);
    if (known !== -1) return known;
    const number = this.#schemas.push(schema) - 1;
    this.#send({ type: "schema", number, schema });
    return number;
  }

  read(job: ReaderJob, bytes: Uint8Array): Promise<ReadingReply> {
    this.#isReading = true;
    this.#send({ type: "read", ...job }, [bytes]);
    return this.#reading.promise;
  }

  /** Ends the process at once, whatever it does. */
  end(message: string, isFull = false): void {
    this.#why ??= { message, isFull };
    this.#child.kill("SIGKILL");
  }

  #send(message: ToProcess, body?: readonly Uint8Array[]): void {
    if (this.#socket.writableLength > MAX_UNREAD_BYTES) this.end("it did not read what it was sent");
    else if (!this.#socket.destroyed) writeFrame(this.#socket, message, body);
  }

  #receive(message: FromProcess, body: Uint8Array<ArrayBuffer>, bytes: number): void {
    if (this.#why !== undefined) return;
    const open = "call" in message ? this.#calls.get(message.call) : undefined;
    const spoken = open ?? this.#strays;
    if (message.type === "file") {
      spoken.fileMessages++;
      spoken.fileBytes += bytes;
    } else {
      // If its memory cannot be seen from outside, it reports it again and again.
      if (message.type !== "memory" || process.platform === "linux") spoken.messages++;
      spoken.bytes += bytes;
    }
    if (isTooMuch(spoken, this.#limits.body)) this.end("it did not stop talking");
    else if (message.type === "memory") this.reportedBytes = message.bytes;
    else if (message.type === "loaded") this.#loaded.resolve();
    else if (message.type === "reading") {
      const { value, modules } = message;
      const code = modules && { modules: Object.fromEntries(splitBody(body, modules)) };
      this.#reading.resolve({ ok: true, value: code ? { ...(value as object), ...code } : value });
    } else if (message.type === "unreadable") {
      this.#reading.resolve({ ok: false, unfit: message.unfit, message: message.message });
    } else if (open !== undefined) {
      assertWellFormed(message);
      if (message.type === "log") open.events.log(message.entry);
      else if ("head" in message) this.#request(open, message, body);
      else this.#finish(open, message);
    }
  }

  #request(open: Open, message: RequestMessage, body: Uint8Array): void {
    const { call, request } = message;
    const answer = (reply: Reply) => {
      if (!this.#calls.has(call)) return;
      if (!reply.ok) return this.#send({ type: "reply", call, request, reply });
      const { body: content, ...rest } = reply;
      this.#send({ type: "reply", call, request, reply: rest }, [content]);
    };
    this.#ask(open, message, message.head.hasBody ? body : undefined).then(answer, (error: unknown) =>
      answer({ ok: false, code: "io", error: reason(error) }),
    );
  }

  #ask({ events }: Open, message: RequestMessage, body: Uint8Array | undefined): Promise<Reply> {
    if (message.type === "inner")
      return events.inner({ name: message.head.name, body: body ?? new Uint8Array() });
    if (message.type === "state") {
      const { op, key } = message.head;
      return events.state({ op, key, body });
    }
    if (message.type === "file") {
      const { op, path, to, offset, length } = message.head;
      return events.file({ op, path, to, offset, length, body });
    }
    const { hasBody: _, ...asked } = message.head;
    return events.http({ ...asked, timeoutMs: asked.timeoutMs, body });
  }

  #finish(open: Open, message: Extract<FromProcess, { type: "ended" | "lost" }>): void {
    this.#calls.delete(message.call);
    if (this.#calls.size === 0) this.ref(false);
    if (message.type === "ended") open.resolve(message);
    else open.reject(new CallLost(message.message, false));
  }

  #close(how: string): void {
    const ranOut = /heap out of memory|Array buffer allocation failed|Fatal process out of memory/i;
    const isFull = this.#why?.isFull ?? ranOut.test(this.#lastWords);
    const message = this.#why?.message ?? `its process ended (${how})`;
    const exit = { why: message, wasBusy: this.#calls.size > 0 };
    for (const { reject } of this.#calls.values()) reject(new CallLost(message, isFull));
    this.#calls.clear();
    for (const { promise, reject } of [this.#reading, this.#loaded]) {
      promise.catch(() => {});
      reject(new CallLost(message, isFull));
    }
    for (const socket of this.#sockets) socket.destroy();
    this.#exited.resolve(exit);
  }
}

/** The packages that the modules in there import; where packages are linked, their files lie elsewhere. */
const PACKAGES = [
  "piscina",
  "ajv",
  "ajv-formats",
  "@bytecodealliance/jco-transpile",
  "@bytecodealliance/preview2-shim",
];
interface OurCode {
  readonly child: string;
  readonly readable: readonly string[];
}

let found: OurCode | undefined;

function ourCode(): OurCode {
  found ??= find();
  return found;
}

function find(): OurCode {
  const child = moduleFile("host/sandbox/inside/child");
  const worker = moduleFile("host/sandbox/inside/worker");
  const own = dirname(dirname(dirname(dirname(child))));
  return {
    child: child.endsWith(".ts") ? prepared([child, worker]) : child,
    readable: [join(own, "host"), join(own, "kernel"), ...packagesAbove(own, PACKAGES)],
  };
}

/** A few megabytes of brackets would keep the parser busy for seconds. */
function parseHeader(text: string): unknown {
  assertSimple(text);
  return JSON.parse(text);
}

function isTooMuch({ messages, fileMessages, bytes, fileBytes }: Spoken, ofOne: number): boolean {
  return (
    messages > MAX_MESSAGES ||
    fileMessages > MAX_FILE_REQUESTS ||
    Math.max(bytes, fileBytes) > MAX_BYTES + ofOne
  );
}

type OfCall = Extract<FromProcess, { readonly call: number }>;

const LEVELS = new Set(["trace", "debug", "info", "warn", "error"]);
const STATE_OPS = new Set(["get", "set", "delete", "list"]);
const FILE_OPS = new Set<FileOp>([
  ...(["list", "stat", "read", "write", "patch", "append", "resize", "folder", "move", "remove"] as const),
]);
const MAX_LOG = 4096;
const MAX_TEXT = 1 << 20;
const MAX_NAMES = 100;

export function assertWellFormed(message: OfCall): void {
  if (!isWellFormed(message))
    throw new TypeError(`a message of type ${JSON.stringify(message.type)} is malformed`);
}

function isWellFormed(message: OfCall): boolean {
  switch (message.type) {
    case "log":
      return LEVELS.has(message.entry.level) && isText(message.entry.message, MAX_LOG);
    case "http": {
      const { method, url, headersJson, timeoutMs } = message.head;
      const isTimed = timeoutMs === undefined || timeoutMs === null || typeof timeoutMs === "number";
      return isTimed && [method, url, headersJson].every((text) => isText(text, MAX_TEXT));
    }
    case "state":
      return STATE_OPS.has(message.head.op) && isText(message.head.key, MAX_LOG);
    case "inner":
      return isText(message.head.name, MAX_LOG);
    case "file": {
      const { op, path, to = "", offset = 0, length = 0 } = message.head;
      return (
        FILE_OPS.has(op) &&
        [path, to].every((text) => isText(text, MAX_LOG)) &&
        [offset, length].every(isCount)
      );
    }
    case "ended":
      return (
        isCount(message.droppedLogs) &&
        isCount(message.memoryPeakBytes) &&
        message.secretsAsked.length <= MAX_NAMES &&
        message.secretsAsked.every((name) => isText(name, MAX_LOG)) &&
        isOutcome(message.outcome)
      );
    case "lost":
      return isText(message.message, MAX_TEXT);
    default:
      return false;
  }
}

/** Other codes say that something is in our words. */
const CODES: ReadonlySet<string> = new Set<FailureCode>([
  ...([
    "invalid_params",
    "bad_schema",
    "tool_error",
    "bad_response",
    "trap",
    "threw",
    "out_of_memory",
  ] as const),
]);

function isOutcome(outcome: Outcome): boolean {
  const { ok, ...texts } = outcome;
  return (
    typeof ok === "boolean" &&
    (outcome.ok || CODES.has(outcome.code)) &&
    Object.values(texts).every((text) => isText(text, MAX_TEXT))
  );
}

function isText(value: unknown, longest: number): boolean {
  return typeof value === "string" && value.length <= longest;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
