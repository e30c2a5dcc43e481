/** The processes of the tools in use, one for each component. Calls are admitted by the memory that is held. */
import { MemoryWatch } from "./memory.ts";
import type { CodeBytes, Preopen } from "./protocol.ts";
import { CallLost, ToolProcess } from "./tool-process.ts";

/** A component that can be handed to the pool as often as one likes. Small: code is read only when it is used. */
export interface Component {
  /** Names the component together with its memory limit and its folders. */
  readonly key: string;
  readonly sha256: string;
  readonly memoryBytes: number;
  /** Folders that its guest finds open. */
  readonly preopens?: readonly Preopen[];
  /** Returns the code from the cache; if that has no sound entry, the component's file is read, checked and transpiled. */
  load(): Promise<CodeBytes>;
  /** Throws a `Fault` where the component's file is not the one that was installed: then its code may not run. */
  verify(): Promise<void>;
}

export interface ProcessesOptions {
  readonly cores: number;
  readonly most: number;
  readonly memoryBytes: number;
  /** True where one process more stands ready, so that a first call does not pay for its start. */
  readonly keepsSpare: boolean;
  /** A process ended while it had calls, and not because it was told to. */
  onDeath(component: Component, why: string): void;
}

export interface Seat {
  readonly process: ToolProcess;
  /** `peakBytes`: the memory of the call's instance, for the next ones to be counted with. */
  leave(peakBytes: number): void;
}

interface Held {
  readonly component: Component;
  /** Another one where the first ended before it had loaded the component. */
  process: ToolProcess;
  watch: MemoryWatch;
  ready: Promise<void>;
  calls: number;
  /** The most calls at once, of late and in the time before: instances are kept for so long. */
  peaks: [number, number];
  callBytes: number;
  usedAt: number;
  isEnding: boolean;
}

const MIB = 2 ** 20;
/**
 * What a process needs beside its instances: the engine, compiled code, strings on their way. One call of a 64 MiB tool
 * may cost the machine 256; what is left of that is what a guest can take between two looks.
 */
const ALLOWANCE_BYTES = 160 * MIB;
/** The glue of an instance, and the copy that it is put back from, beside its memory. */
const GLUE_BYTES = 4 * MIB;
/** A call of a tool that was never seen. */
const USUAL_CALL_BYTES = 16 * MIB;
const READY_THREADS = 2;
const ROUND_MS = 30_000;
const IDLE_MS = 120_000;
/** A service that has just started has other things to do. */
const FIRST_SPARE_MS = 1500;
/** The call that took the last spare process needs the cores now. */
const SPARE_AFTER_MS = 300;

export interface InUse {
  readonly processes: number;
  readonly bytes: number;
}

export class Processes {
  readonly #options: ProcessesOptions;
  readonly #held = new Map<string, Held>();
  readonly #waiting = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #spare: ToolProcess | undefined;
  #spareTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ProcessesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#round(), ROUND_MS).unref();
    if (options.keepsSpare) this.#makeSpareAfter(FIRST_SPARE_MS);
  }

  /** Waits for a place in the component's process. Rejects where `signal` is aborted first, or the code cannot be had. */
  async enter(component: Component, signal: AbortSignal): Promise<Seat> {
    for (;;) {
      if (signal.aborted || this.#isClosed) throw new Error("the call was ended before it began");
      const held = this.#find(component);
      if (held !== undefined && this.#hasMemory(held)) return this.#seat(held);
      await this.#change(signal);
    }
  }

  /** Its idle process is ended now, a busy one with its last call. */
  forget(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    held.usedAt = Number.NEGATIVE_INFINITY;
    if (held.calls === 0) this.#end(held);
  }

  inUse(): InUse {
    const held = [...this.#held.values()];
    return { processes: held.length, bytes: held.reduce((sum, { watch }) => sum + watch.bytes, 0) };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#spareTimer);
    const children = [...this.#held.values()].map(({ process }) => process);
    if (this.#spare !== undefined) children.push(this.#spare);
    for (const held of this.#held.values()) held.isEnding = true;
    for (const child of children) {
      child.ref(true);
      child.end("the service is stopping");
    }
    this.#changed();
    await Promise.all(children.map(({ exited }) => exited));
  }

  #find(component: Component): Held | undefined {
    const known = this.#held.get(component.key);
    if (known !== undefined) return known;
    if (this.#held.size >= this.#options.most && !this.#endIdle()) return undefined;
    return this.#start(component);
  }

  #start(component: Component): Held {
    const process = this.#spare ?? this.#fork();
    this.#spare = undefined;
    if (this.#options.keepsSpare) this.#makeSpareAfter(SPARE_AFTER_MS);
    const held: Held = {
      component,
      process,
      watch: new MemoryWatch(process, () => limitOf(held)),
      ready: Promise.resolve(),
      calls: 0,
      peaks: [0, 0],
      callBytes: Math.min(USUAL_CALL_BYTES, component.memoryBytes),
      usedAt: performance.now(),
      isEnding: false,
    };
    this.#held.set(component.key, held);
    held.ready = this.#load(held);
    held.ready.catch(() => this.#end(held));
    return held;
  }

  async #load(held: Held): Promise<void> {
    const { component } = held;
    // While its code is on the way and compiled, which runs nothing of it yet.
    const verified = component.verify();
    verified.catch(() => {});
    const code = await component.load();
    try {
      await held.process.load(code, component.memoryBytes, component.preopens);
    } catch (error) {
      if (!(error instanceof CallLost) || held.isEnding) throw error;
      // A process that stood ready may have been killed without anybody having noticed.
      held.process = this.#fork();
      held.watch = new MemoryWatch(held.process, () => limitOf(held));
      await held.process.load(code, component.memoryBytes, component.preopens);
    }
    await verified;
    const { process, watch } = held;
    void process.exited.then(({ why, wasBusy }) => {
      watch.stop();
      this.#drop(held);
      if (wasBusy && !held.isEnding) this.#options.onDeath(component, why);
    });
  }

  async #seat(held: Held): Promise<Seat> {
    held.calls++;
    held.peaks[0] = Math.max(held.peaks[0], held.calls);
    let isInside = true;
    const leave = (peakBytes: number) => {
      if (!isInside) return;
      isInside = false;
      held.calls--;
      // The process says so itself: what it could not have held would keep other tools waiting.
      held.callBytes = Math.max(held.callBytes, Math.min(peakBytes, held.component.memoryBytes));
      const isForgotten = held.usedAt === Number.NEGATIVE_INFINITY;
      if (isForgotten && held.calls === 0) this.#end(held);
      else if (!isForgotten) held.usedAt = performance.now();
      this.#changed();
    };
    try {
      await held.ready;
      held.watch.start();
      return { process: held.process, leave };
    } catch (error) {
      leave(0);
      throw error;
    }
  }

  #hasMemory(held: Held): boolean {
    for (;;) {
      const total = [...this.#held.values()].reduce((sum, each) => sum + countedBytes(each), 0);
      if (total + held.callBytes <= this.#options.memoryBytes) return true;
      if (this.#endIdle(held)) continue;
      // Alone it always has room: a limit that is too low for one call would otherwise refuse them all.
      return [...this.#held.values()].every(({ calls }) => calls === 0);
    }
  }

  /** Ends the process that has been idle for longest, to make room. */
  #endIdle(except?: Held): boolean {
    const idle = [...this.#held.values()].filter((held) => held.calls === 0 && held !== except);
    const [oldest] = idle.toSorted((one, other) => one.usedAt - other.usedAt);
    if (oldest === undefined) return false;
    this.#end(oldest);
    return true;
  }

  #end(held: Held): void {
    held.isEnding = true;
    held.process.end("it was idle");
    this.#drop(held);
  }

  #drop(held: Held): void {
    if (this.#held.get(held.component.key) === held) this.#held.delete(held.component.key);
    this.#changed();
  }

  #fork(): ToolProcess {
    const { cores, keepsSpare } = this.#options;
    // A burst of calls would wait for the second thread; a command makes one call and is gone.
    const ready = keepsSpare ? Math.min(cores, READY_THREADS) : 1;
    const child = ToolProcess.start({ role: "run", cores, ready });
    child.ref(false);
    return child;
  }

  #makeSpareAfter(millis: number): void {
    clearTimeout(this.#spareTimer);
    this.#spareTimer = setTimeout(() => this.#makeSpare(), millis).unref();
  }

  #makeSpare(): void {
    if (this.#isClosed || this.#spare !== undefined) return;
    const spare = this.#fork();
    this.#spare = spare;
    void spare.exited.then(() => {
      if (this.#spare !== spare) return;
      this.#spare = undefined;
      this.#makeSpareAfter(ROUND_MS);
    });
  }

  #round(): void {
    for (const held of this.#held.values()) {
      held.peaks = [held.calls, held.peaks[0]];
      if (held.calls === 0 && performance.now() - held.usedAt > IDLE_MS) this.#end(held);
    }
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        this.#waiting.delete(go);
        signal.removeEventListener("abort", go);
        resolve();
      };
      this.#waiting.add(go);
      signal.addEventListener("abort", go, { once: true });
    });
  }

  #changed(): void {
    for (const go of [...this.#waiting]) go();
  }
}

function peakOf({ calls, peaks }: Held): number {
  return Math.max(1, calls, ...peaks);
}

function limitOf(held: Held): number {
  const { memoryBytes } = held.component;
  return ALLOWANCE_BYTES + memoryBytes + (peakOf(held) - 1) * (2 * memoryBytes + GLUE_BYTES);
}

/** Returns its memory, or that of its calls once they have all begun. */
function countedBytes({ watch, calls, callBytes }: Held): number {
  return Math.max(watch.bytes, calls * callBytes);
}
