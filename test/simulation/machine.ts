/**
 * The machine that all nodes of a world run on: one clock, and one list of everything that waits. Code that runs for a node gets its
 * timers, its time, its `setImmediate` and its random numbers from here; whatever else runs in this process keeps the real ones.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire, syncBuiltinESMExports } from "node:module";

const require = createRequire(import.meta.url);
const timers = require("node:timers") as Record<string, unknown>;
const promises = require("node:timers/promises") as Record<string, unknown>;
const crypto = require("node:crypto") as Record<string, unknown>;

const real = {
  Date: globalThis.Date,
  now: performance.now.bind(performance),
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  clearImmediate: globalThis.clearImmediate,
  timeout: AbortSignal.timeout,
  wait: promises["setTimeout"] as typeof import("node:timers/promises").setTimeout,
  immediate: promises["setImmediate"] as typeof import("node:timers/promises").setImmediate,
  random: Math.random,
  randomUUID: crypto["randomUUID"] as () => string,
  randomUUIDv7: crypto["randomUUIDv7"] as () => string,
  randomInt: crypto["randomInt"] as (...given: number[]) => number,
};

/** A process of the world. */
export interface Process {
  readonly name: string;
  readonly machine: Machine;
  isDead: boolean;
  /** It does nothing before then. */
  stoppedUntil: number;
  /** How far its wall clock is ahead. */
  skew: number;
}

const current = new AsyncLocalStorage<Process | undefined>();

/** Runs it as that process does, and all that follows from it. */
export const inside = <Result>(process: Process, work: () => Result): Result => current.run(process, work);
/** Runs it with the real clock and the real timers. */
export const outside = <Result>(work: () => Result): Result => current.run(undefined, work);

interface PendingAct {
  readonly process: Process | undefined;
  readonly label: string;
  /** What a process asks for in one moment is done in its order. */
  readonly moment: number;
  act(): void | Promise<void>;
}

interface Timer {
  readonly id: number;
  due: number;
  readonly process: Process | undefined;
  fire(): void;
}

/** Midnight UTC of a Monday. */
const BEGINNING = Date.UTC(2026, 0, 5);
/** How often the clock moves on although something could be done. */
const HASTE = 0.02;

export type Machine = ReturnType<typeof createMachine>;

/**
 * `choose` returns which of so many goes next; `chance` is for all else. `isConcurrent`: one thing of each process goes at once.
 * `minInterval`: what processes do at shorter intervals, they do that rarely.
 */
export function createMachine(
  choose: (count: number) => number,
  chance: () => number,
  isConcurrent: () => boolean,
  onStep: (process: Process | undefined, label: string) => void,
  minInterval = 0,
) {
  let now = 0;
  let steps = 0;
  let counter = 0;
  let waiting: PendingAct[] = [];
  const pending = new Set<Timer>();

  function startTimer(process: Process | undefined, millis: number, fire: () => void): Timer {
    const timer = { id: ++counter, due: now + millis, process, fire };
    pending.add(timer);
    return timer;
  }

  function ready(): PendingAct[] {
    const moments = new Map<Process, number>();
    return waiting.filter(({ process, moment }) => {
      if (process === undefined) return true;
      if (process.stoppedUntil > now || (moments.get(process) ?? -1) === moment) return false;
      moments.set(process, moment);
      return true;
    });
  }

  function nextTimer(): Timer | undefined {
    let next: Timer | undefined;
    let at = Number.POSITIVE_INFINITY;
    for (const timer of pending) {
      const due = Math.max(timer.due, timer.process?.stoppedUntil ?? 0);
      if (due < at || (due === at && timer.id < (next as Timer).id)) [next, at] = [timer, due];
    }
    if (next !== undefined) now = Math.max(now, at);
    return next;
  }

  return {
    chance,
    minInterval,
    now: () => now,
    wall: (process?: Process) => BEGINNING + now + (process?.skew ?? 0),
    steps: () => steps,
    isIdle: () => waiting.length === 0,
    /** Puts something in line, for a process or for the world. */
    wait(process: Process | undefined, label: string, act: PendingAct["act"]): void {
      if (!process?.isDead) waiting.push({ process, label, moment: steps, act });
    },
    startTimer,
    stopTimer: (timer: Timer): void => void pending.delete(timer),
    after: (millis: number, fire: () => void) => startTimer(undefined, millis, fire),
    /** Nothing that it waits for will come. */
    kill(process: Process): void {
      process.isDead = true;
      waiting = waiting.filter((one) => one.process !== process);
      for (const timer of pending) if (timer.process === process) pending.delete(timer);
    },
    /** Does the next thing. False where nothing is left. */
    async step(): Promise<boolean> {
      await settle();
      steps++;
      const can = ready();
      const isHasty = can.length > 0 && pending.size > 0 && chance() < HASTE;
      if (can.length > 0 && !isHasty) {
        const next = can[choose(can.length)] as PendingAct;
        const others = isConcurrent() ? can.filter(({ process }) => process !== next.process) : [];
        const group = [next, ...new Map(others.map((one) => [one.process, one])).values()];
        waiting = waiting.filter((one) => !group.includes(one));
        for (const { process, label } of group) onStep(process, label);
        await Promise.all(group.map((one) => one.act()));
        return true;
      }
      const timer = nextTimer();
      if (timer === undefined) return false;
      pending.delete(timer);
      timer.fire();
      return true;
    },
  };
}

/** Lets everything go on that waits for nothing of the world. */
const settle = () => new Promise((resolve) => real.setImmediate(resolve));

/** What `setTimeout` returns: as in Node, an object that counts as its number. */
class SimulatedTimer {
  readonly #process: Process;
  readonly #work: () => void;
  readonly #millis: number;
  readonly #repeats: boolean;
  #timer: Timer | undefined;

  constructor(process: Process, work: () => void, millis: unknown, repeats: boolean) {
    const given = Number(millis);
    this.#process = process;
    this.#work = work;
    const asked = given >= 1 && given <= 2 ** 31 - 1 ? Math.trunc(given) : 1;
    this.#millis = repeats ? Math.max(asked, process.machine.minInterval) : asked;
    this.#repeats = repeats;
    this.refresh();
  }

  refresh(): this {
    this.close();
    if (this.#process.isDead) return this;
    this.#timer = this.#process.machine.startTimer(this.#process, this.#millis, () => {
      if (this.#repeats) this.refresh();
      inside(this.#process, this.#work);
    });
    return this;
  }

  close(): this {
    if (this.#timer) this.#process.machine.stopTimer(this.#timer);
    return this;
  }

  ref = (): this => this;
  unref = (): this => this;
  hasRef = (): boolean => true;
  [Symbol.toPrimitive] = (): number => this.#timer?.id ?? 0;
  [Symbol.dispose](): void {
    this.close();
  }
}

type Work = (...given: unknown[]) => void;

const open = (repeats: boolean, otherwise: typeof setTimeout | typeof setInterval) =>
  ((work: Work, millis?: number, ...given: unknown[]) => {
    const process = current.getStore();
    return process === undefined
      ? otherwise(work, millis, ...given)
      : new SimulatedTimer(process, () => work(...given), millis, repeats);
  }) as unknown as typeof setTimeout;

const close = (timer: unknown): void => {
  if (timer instanceof SimulatedTimer) timer.close();
  else real.clearTimeout(timer as NodeJS.Timeout);
};

interface WaitOptions {
  readonly signal?: AbortSignal;
}

function wait<Value>(millis?: number, value?: Value, options: WaitOptions = {}): Promise<Value> {
  const process = current.getStore();
  if (process === undefined) return real.wait(millis, value as Value, options);
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const { signal } = options;
  const give = () => {
    timer.close();
    reject(new DOMException("The operation was aborted", "AbortError"));
  };
  const timer = new SimulatedTimer(
    process,
    () => {
      signal?.removeEventListener("abort", give);
      resolve(value as Value);
    },
    millis,
    false,
  );
  if (signal?.aborted) give();
  else signal?.addEventListener("abort", give, { once: true });
  return promise;
}

function immediately(work: Work, ...given: unknown[]): unknown {
  const process = current.getStore();
  if (process === undefined) return real.setImmediate(work, ...given);
  const handle = { isCleared: false, unref: () => handle, ref: () => handle };
  process.machine.wait(process, "immediate", () => {
    if (!handle.isCleared) inside(process, () => work(...given));
  });
  return handle;
}

class SimulatedDate extends real.Date {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(SimulatedDate.now());
    else super(...(given as [number]));
  }

  static override now(): number {
    const process = current.getStore();
    return process === undefined ? real.Date.now() : process.machine.wall(process);
  }
}

function timeoutSignal(millis: number): AbortSignal {
  const process = current.getStore();
  if (process === undefined) return real.timeout(millis);
  const controller = new AbortController();
  const error = new DOMException("The operation was aborted due to timeout", "TimeoutError");
  new SimulatedTimer(process, () => controller.abort(error), millis, false);
  return controller.signal;
}

const hex = (digits: number): string => {
  const { machine } = current.getStore() as Process;
  return Array.from({ length: digits }, () => Math.floor(machine.chance() * 16).toString(16)).join("");
};

const uuid = (): string =>
  current.getStore() ? `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}` : real.randomUUID();

function uuidv7(): string {
  if (!current.getStore()) return real.randomUUIDv7();
  const time = Date.now().toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-8${hex(3)}-${hex(12)}`;
}

/** Puts the machine under everything that runs in this process. */
export function install(): void {
  const setTimeout = open(false, real.setTimeout);
  const all = {
    setTimeout: Object.assign(setTimeout, { [Symbol.for("nodejs.util.promisify.custom")]: wait }),
    setInterval: open(true, real.setInterval),
    clearTimeout: close,
    clearInterval: close,
    setImmediate: immediately,
    clearImmediate(handle: unknown) {
      if (handle && typeof handle === "object" && "isCleared" in handle) handle.isCleared = true;
      else real.clearImmediate(handle as NodeJS.Immediate);
    },
  };
  Object.assign(globalThis, all, { Date: SimulatedDate });
  Object.assign(timers, all);
  Object.assign(promises, {
    setTimeout: wait,
    setImmediate: (value: unknown) =>
      current.getStore()
        ? new Promise((resolve) => immediately(() => resolve(value)))
        : real.immediate(value),
  });
  Object.assign(crypto, {
    randomUUID: uuid,
    randomUUIDv7: uuidv7,
    randomInt: (...given: number[]) => {
      const process = current.getStore();
      const [from, to] = given.length === 1 ? [0, given[0] as number] : (given as [number, number]);
      return process ? from + Math.floor(process.machine.chance() * (to - from)) : real.randomInt(...given);
    },
  });
  AbortSignal.timeout = timeoutSignal;
  Math.random = () => current.getStore()?.machine.chance() ?? real.random();
  performance.now = () => current.getStore()?.machine.now() ?? real.now();
  syncBuiltinESMExports();
}
