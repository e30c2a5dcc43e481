/**
 * One process in which strangers' code runs, seen from the service. It has an empty environment and may read our own
 * code and start threads, nothing else. It is not believed: what it says is bounded, belongs to a call that it
 * was given, and a word out of place ends it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { ROOT, reason } from "../../kernel/kit.ts";
import type { ToolReply, ToolRequest } from "../broker/grant.ts";
import type { ReaderJob } from "../wasm/component-reader.ts";
import { type FrameLimits, FrameReader, writeFrame } from "./frames.ts";
import { assertWellFormed } from "./message-check.ts";
import { ourCode } from "./our-code.ts";
import {
  type Ask,
  type CodeBytes,
  type Ended,
  type FromProcess,
  type LogEntry,
  splitBody,
  type ToProcess,
} from "./protocol.ts";

/** What the service does for one call while it runs. */
export interface CallEvents {
  http(request: ToolRequest): Promise<ToolReply>;
  log(entry: LogEntry): void;
}

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

interface Open {
  readonly events: CallEvents;
  readonly resolve: (ended: Ended) => void;
  readonly reject: (error: Error) => void;
  messages: number;
}

/** An outcome of 1 MiB as JSON may be six times as long; a request's body is at most 1 MiB. */
const LIMITS = { header: 16 << 20, body: 2 << 20 };
/** The code of the largest engine is a tenth of this. */
const READER_LIMITS = { header: 16 << 20, body: 256 << 20 };
/** A call has 1000 log entries and 50 requests, and is refused further ones in words. */
const MAX_MESSAGES = 10_000;
const LAST_WORDS = 4096;
/** Threads that speak for themselves; what those beyond have to say goes through the process's main thread. */
const MAX_LINES = 16;
/** Ending a thread takes a fraction of this on a busy machine. */
const LET_GO_MILLIS = 10_000;

const PRLIMIT = ["/usr/bin/prlimit", "/bin/prlimit"].find((file) => existsSync(file));
/** No core dumps, no files, few descriptors. */
const BOUNDS = ["--core=0", "--fsize=0", "--nofile=256"];

export interface Exit {
  readonly why: string;
  readonly wasBusy: boolean;
}

export interface ProcessOptions {
  readonly role: "run" | "read";
  readonly cores: number;
  /** How many of them start with the process; default: one. */
  readonly ready?: number;
}

export class ToolProcess {
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  /** The first, and those on which threads speak for themselves. */
  readonly #sockets: readonly Socket[];
  readonly #calls = new Map<number, Open>();
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

  private constructor({ role, cores, ready = 1 }: ProcessOptions) {
    const lines = role === "read" ? 0 : Math.min(cores, MAX_LINES);
    const { child, readable } = ourCode();
    const command = [
      ...(PRLIMIT === undefined ? [] : [PRLIMIT, ...BOUNDS, "--"]),
      process.execPath,
      "--permission",
      ...readable.map((path) => `--allow-fs-read=${path}`),
      "--allow-worker",
      // The permission model does not know of these two, which open files.
      "--no-experimental-sqlite",
      "--no-experimental-webstorage",
      "--disable-warning=SecurityWarning",
      // A reader runs the transpiler once: optimizing that takes as long as running it.
      ...(role === "read" ? ["--liftoff-only"] : []),
      child,
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
    for (const socket of this.#sockets) this.#listen(socket, role === "read" ? READER_LIMITS : LIMITS);
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString()).slice(-LAST_WORDS);
    });
    this.#child.once("error", (error) => this.#close(reason(error)));
    this.#child.once("close", (code, signal) => this.#close(signal ?? `exit code ${code}`));
  }

  #listen(socket: Socket, limits: FrameLimits): void {
    const reader = new FrameReader(limits, (header, body) => this.#receive(header as FromProcess, body));
    socket.on("data", (chunk: Buffer) => {
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
  load({ modules, ...code }: CodeBytes, memoryBytes: number): Promise<void> {
    const places = modules.map(([name, bytes]) => ({ name, bytes: bytes.byteLength }));
    const body = Buffer.concat(modules.map(([, bytes]) => bytes));
    this.#send({ type: "load", ...code, memoryBytes, modules: places }, body);
    return this.#loaded.promise;
  }

  /** Resolves to how the call ended; rejects with `CallLost`. A cancelled call is lost at once for its caller. */
  call(
    ask: Ask,
    secrets: readonly string[],
    events: CallEvents,
    signal: AbortSignal,
    schema?: string,
  ): Promise<Ended> {
    const number = schema === undefined ? undefined : this.#schemaNumber(schema);
    const call = ++this.#lastCall;
    const { promise, resolve, reject } = Promise.withResolvers<Ended>();
    this.#calls.set(call, { events, resolve, reject, messages: 0 });
    if (this.#calls.size === 1) this.ref(true);
    this.#send({ type: "call", call, ask, secrets, schema: number });
    const cancel = () => {
      reject(new CallLost("it was cancelled", false));
      this.#send({ type: "cancel", call });
      const letGo = () => this.#calls.has(call) && this.end("it held on to a cancelled call");
      setTimeout(letGo, LET_GO_MILLIS).unref();
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
    this.#send({ type: "read", ...job }, bytes);
    return this.#reading.promise;
  }

  /** Ends the process at once, whatever it does. */
  end(message: string, isFull = false): void {
    this.#why ??= { message, isFull };
    this.#child.kill("SIGKILL");
  }

  #send(message: ToProcess, body?: Uint8Array): void {
    if (!this.#socket.destroyed) writeFrame(this.#socket, message, body);
  }

  #receive(message: FromProcess, body: Uint8Array<ArrayBuffer>): void {
    if (message.type === "memory") this.reportedBytes = message.bytes;
    else if (message.type === "loaded") this.#loaded.resolve();
    else if (message.type === "reading") {
      const { value, modules } = message;
      const code = modules && { modules: Object.fromEntries(splitBody(body, modules)) };
      this.#reading.resolve({ ok: true, value: code ? { ...(value as object), ...code } : value });
    } else if (message.type === "unreadable") {
      this.#reading.resolve({ ok: false, unfit: message.unfit, message: message.message });
    } else {
      const open = this.#calls.get(message.call);
      if (open === undefined) return;
      assertWellFormed(message);
      if (++open.messages > MAX_MESSAGES) this.end("it did not stop talking");
      else if (message.type === "log") open.events.log(message.entry);
      else if (message.type === "http") this.#request(open, message, body);
      else this.#finish(open, message);
    }
  }

  #request(open: Open, message: Extract<FromProcess, { type: "http" }>, body: Uint8Array): void {
    const { call, request, head } = message;
    const { hasBody, ...asked } = head;
    const answer = (reply: ToolReply) => {
      if (!this.#calls.has(call)) return;
      if (!reply.ok) return this.#send({ type: "reply", call, request, reply });
      const { body: content, ...rest } = reply;
      this.#send({ type: "reply", call, request, reply: rest }, content);
    };
    open.events
      .http({ ...asked, timeoutMs: asked.timeoutMs, body: hasBody ? body : undefined })
      .then(answer, (error: unknown) => answer({ ok: false, error: reason(error) }));
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
