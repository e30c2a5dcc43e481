/** The threads of a tool's process, run by Piscina. The queue is ours: calls must move when a thread computes without end. */
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { MessagePort } from "node:worker_threads";
import { Piscina } from "piscina";
import type {
  ComponentCode,
  FromThread,
  PlacedTask,
  Reply,
  Task,
  ThreadHello,
  ToThread,
} from "../protocol.ts";
import { Progress } from "./progress.ts";

/** So many loops that never end may hold a thread each before the tool's other calls wait for a deadline. */
const MAX_THREADS = 16;
/** Calls that are posted to a thread before it has begun the one before: it need not wait for the next. */
const AHEAD = 4;
const IDLE_MS = 30_000;
/** More than memory has room for; the service admits calls by what they hold. */
const MAX_CALLS = 100_000;

/** A cancelled call that still computes after this long will not stop on its own: its thread is ended. */
const CANCEL_MS = 500;

export interface ThreadEvents {
  /** A message of a running call whose thread has no line of its own to the service. */
  message(message: Exclude<FromThread, { type: "waits" }>): void;
  lost(call: number, error: unknown): void;
}

/** Tells the balancer about a task; Piscina does not post it. */
interface Wish {
  readonly placed: Placed;
  readonly task: { number: number };
  readonly thread: Thread;
}

export class Threads {
  readonly #piscina: Piscina;
  readonly #cores: number;
  readonly #events: ThreadEvents;
  readonly #threads = new Map<number, Thread>();
  readonly #homes = new Map<number, Thread>();
  readonly #queue: Task[] = [];
  /** A thread was asked for and has not said hello. */
  #isStarting = true;
  #code: ComponentCode | undefined;
  readonly #schemas: string[] = [];
  /** Those that no thread writes to. */
  readonly #lines: number[];
  #timer: NodeJS.Timeout | undefined;

  /** `ready`: threads that start with the process. `lines`: descriptors on which a thread can write to the service. */
  constructor(cores: number, ready: number, lines: readonly number[], events: ThreadEvents) {
    this.#cores = cores;
    this.#lines = [...lines];
    this.#events = events;
    this.#piscina = new Piscina({
      filename: fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url)),
      minThreads: ready,
      maxThreads: MAX_THREADS,
      concurrentTasksPerWorker: MAX_CALLS,
      idleTimeout: IDLE_MS,
      // Calls wait for messages, so the thread's loop must go on between them.
      atomics: "disabled",
      // Nobody asks how long they took.
      recordTiming: false,
      env: {},
      // A guest's memory is bounded by its modules; this bounds what its strings and handles cost outside of it.
      resourceLimits: { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 },
      loadBalancer: (task, workers) => this.#choose(task, workers),
    });
    this.#piscina.on("message", (hello: ThreadHello) => this.#welcome(hello));
    this.#piscina.on("workerCreate", ({ id }: PiscinaWorker) => {
      this.#thread(id).isReady = true;
      // Piscina gives it tasks only when all have heard of it.
      queueMicrotask(() => this.#pump());
    });
    // A thread that dies between calls is replaced; a call that it was busy with hears of it by its own promise.
    this.#piscina.on("error", () => {
      // Piscina starts none after one that failed before it was ready: the service starts another process.
      if (this.#threads.size === 0) process.exit(1);
    });
    this.#piscina.on("workerDestroy", () => {
      this.#isStarting = false;
    });
  }

  setComponent(code: ComponentCode): void {
    this.#code = code;
    for (const thread of this.#threads.values()) this.#equip(thread);
    this.#pump();
  }

  setSchema(number: number, schema: string): void {
    this.#schemas[number] = schema;
    for (const thread of this.#threads.values()) post(thread, { type: "schema", number, schema });
  }

  run(task: Task): void {
    this.#queue.push(task);
    this.#pump();
  }

  reply(call: number, request: number, reply: Reply): void {
    const thread = this.#homes.get(call);
    const placed = thread?.calls.get(call);
    if (thread === undefined || placed === undefined) return;
    wake(thread);
    thread.replies++;
    post(thread, { type: "reply", call, request, reply });
  }

  cancel(call: number): void {
    const at = this.#queue.findIndex((task) => task.call === call);
    if (at !== -1) {
      this.#queue.splice(at, 1);
      this.#events.lost(call, undefined);
      return;
    }
    const thread = this.#homes.get(call);
    const placed = thread?.calls.get(call);
    if (thread === undefined || placed === undefined) return;
    placed.isCancelled = true;
    post(thread, { type: "cancel", call });
    const check = () => {
      const isHeld = thread.calls.get(call) === placed && isBegun(thread, placed);
      if (isHeld && thread.progress.get("inside") === placed.number) this.#terminate(thread);
    };
    setTimeout(check, CANCEL_MS).unref();
  }

  #welcome({ threadId, port }: ThreadHello): void {
    const thread = this.#thread(threadId);
    thread.port = port;
    thread.line = this.#lines.pop();
    port.on("message", (message: FromThread) => this.#hear(thread, message));
    port.on("close", () => {
      // A thread that has ended no longer has its number.
      this.#threads.delete(threadId);
      if (thread.line !== undefined) this.#lines.push(thread.line);
    });
    this.#isStarting = false;
    this.#equip(thread);
    this.#pump();
  }

  #equip(thread: Thread): void {
    const { line, progress } = thread;
    if (this.#code !== undefined)
      post(thread, { type: "component", code: this.#code, progress: progress.shared, line });
    for (const [number, schema] of this.#schemas.entries()) post(thread, { type: "schema", number, schema });
  }

  #thread(id: number): Thread {
    let thread = this.#threads.get(id);
    if (thread === undefined) {
      thread = createThread(id);
      this.#threads.set(id, thread);
    }
    return thread;
  }

  #hear(thread: Thread, message: FromThread): void {
    if (message.type === "waits") this.#pump();
    // Also of a call that has left: Piscina's word and the thread's come by different ports.
    else if (thread.calls.get(message.call)?.isCancelled !== true) this.#events.message(message);
  }

  #pump(): void {
    for (const thread of this.#threads.values()) if (isSilent(thread)) this.#takeBack(thread);
    // Before it looks: a call that begins to wait meanwhile is seen, or says so.
    this.#tellWhetherWanted();
    while (this.#queue.length > 0 && this.#code !== undefined) {
      const thread = this.#freest();
      if (!this.#isStarting && this.#mayGrow(thread)) this.#grow();
      const task = thread && this.#queue.shift();
      if (task === undefined) break;
      this.#place(task, thread as Thread);
    }
    this.#tellWhetherWanted();
    const isWaiting = this.#queue.length > 0 || [...this.#threads.values()].some(hasUnbegun);
    if (!isWaiting || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#pump();
    }, SILENT_MS);
  }

  #tellWhetherWanted(): void {
    for (const { progress } of this.#threads.values()) progress.isWanted = this.#queue.length > 0;
  }

  /** Calls that a thread has not begun, because it computes another, can be begun elsewhere. */
  #takeBack(thread: Thread): void {
    const begun = thread.progress.takeBack(thread.posted);
    for (const [call, placed] of [...thread.calls].toReversed()) {
      if (placed.number <= begun) continue;
      placed.isTakenBack = true;
      thread.calls.delete(call);
      thread.takenBack++;
      this.#homes.delete(call);
      this.#queue.unshift(placed.task);
    }
  }

  #freest(): Thread | undefined {
    const able = [...this.#threads.values()].filter(
      (thread) =>
        thread.isReady && thread.port !== undefined && computing(thread) < AHEAD && !isSilent(thread),
    );
    return able.toSorted((one, other) => computing(one) - computing(other))[0];
  }

  /** Up to the cores while all of them compute; beyond, only where all of them have long been silent. */
  #mayGrow(freest: Thread | undefined): boolean {
    if (this.#threads.size < this.#cores) return freest === undefined || computing(freest) > 0;
    const areSilent = [...this.#threads.values()].every(isSilent);
    return areSilent && this.#threads.size < MAX_THREADS;
  }

  /** Piscina starts a thread for a task that no other takes. Calls are not left to it: where one waits, all others do. */
  #grow(): void {
    this.#isStarting = true;
    const stop = new AbortController();
    (this.#piscina.run({}, { signal: stop.signal }) as Promise<void>).catch(() => {});
    stop.abort();
  }

  #place(task: Task, thread: Thread): void {
    const placed: Placed = { task, number: 0, isCancelled: false, isTakenBack: false };
    const numbered: Task & { number: number } = { ...task, number: 0 };
    const wish: Wish = { placed, task: numbered, thread };
    const posted: PlacedTask = Object.assign(numbered, { [Piscina.queueOptionsSymbol]: wish });
    (this.#piscina.run(posted) as Promise<void>).then(
      () => this.#leave(placed, undefined),
      (error: unknown) => this.#leave(placed, error ?? new Error("its thread ended")),
    );
  }

  /** The wished thread, or where it is gone the one that has least to do. */
  #choose(task: object, workers: readonly PiscinaWorker[]): PiscinaWorker | null {
    const wish = (task as Record<symbol, Wish | null>)[Piscina.queueOptionsSymbol];
    if (!wish) return null;
    const wished = workers.find(({ id }) => id === wish.thread.id);
    const chosen =
      wished ??
      workers.toSorted(
        (one, other) => this.#thread(one.id).calls.size - this.#thread(other.id).calls.size,
      )[0];
    if (chosen === undefined) return null;
    const thread = this.#thread(chosen.id);
    wake(thread);
    wish.placed.number = ++thread.posted;
    wish.task.number = thread.posted;
    thread.calls.set(wish.placed.task.call, wish.placed);
    this.#homes.set(wish.placed.task.call, thread);
    return chosen;
  }

  #leave(placed: Placed, error: unknown): void {
    if (placed.isTakenBack) return;
    const { call } = placed.task;
    const thread = this.#homes.get(call);
    this.#homes.delete(call);
    thread?.calls.delete(call);
    const isUntouched = error !== undefined && thread !== undefined && !isBegun(thread, placed);
    if (isUntouched && !placed.isCancelled) this.#queue.unshift(placed.task);
    else if (placed.isCancelled || error !== undefined) this.#events.lost(call, error);
    this.#pump();
  }

  #terminate({ id }: Thread): void {
    for (const worker of this.#piscina.threads) if (worker.threadId === id) void worker.terminate();
  }
}

type PiscinaWorker = Parameters<
  NonNullable<NonNullable<ConstructorParameters<typeof Piscina>[0]>["loadBalancer"]>
>[1][number];

/** A thread that has not come on for so long is computing something that takes long, or for ever. */
const SILENT_MS = 250;

interface Thread {
  readonly id: number;
  readonly calls: Map<number, Placed>;
  readonly progress: Progress;
  isReady: boolean;
  port: MessagePort | undefined;
  /** The descriptor for messages to the service; undefined if it tells the main thread. */
  line: number | undefined;
  posted: number;
  takenBack: number;
  replies: number;
  /** When it was last seen to have come on, and how far. */
  seen: { at: number; steps: number };
}

interface Placed {
  readonly task: Task;
  number: number;
  isCancelled: boolean;
  /** Given to another thread, because its own did not come to it. */
  isTakenBack: boolean;
}

const now = () => performance.now();

function createThread(id: number): Thread {
  return {
    id,
    calls: new Map(),
    progress: new Progress(),
    isReady: false,
    port: undefined,
    line: undefined,
    posted: 0,
    takenBack: 0,
    replies: 0,
    seen: { at: now(), steps: 0 },
  };
}

function post(thread: Thread, message: ToThread): void {
  thread.port?.postMessage(message);
}

/** Calls that it holds and that do not wait for a reply, also those whose reply it has yet to come to: new ones would hold them up. */
function computing({ posted, takenBack, replies, progress }: Thread): number {
  return (
    posted - takenBack - progress.get("left") - progress.get("waiting") + replies - progress.get("heard")
  );
}

function wake(thread: Thread): void {
  if (computing(thread) === 0) thread.seen = { at: now(), steps: thread.progress.get("steps") };
}

function isSilent(thread: Thread): boolean {
  const steps = thread.progress.get("steps");
  if (steps !== thread.seen.steps) thread.seen = { at: now(), steps };
  return computing(thread) > 0 && now() - thread.seen.at > SILENT_MS;
}

function hasUnbegun({ posted, progress }: Thread): boolean {
  return progress.get("begun") < posted;
}

function isBegun({ progress }: Thread, { number }: Placed): boolean {
  return number <= progress.get("begun");
}
