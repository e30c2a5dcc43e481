/** Time that a test can move: `advance` fires every timer that falls due in between in its order, at its own moment. */
import { createRequire, syncBuiltinESMExports } from "node:module";
import { setImmediate as yieldToOthers } from "node:timers/promises";

const require = createRequire(import.meta.url);
const timers = require("node:timers") as Record<string, unknown>;
const promises = require("node:timers/promises") as Record<string, unknown>;

const real = {
  Date: globalThis.Date,
  now: Date.now.bind(Date),
  performanceNow: performance.now.bind(performance),
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  timeout: AbortSignal.timeout,
  wait: promises["setTimeout"],
  repeat: promises["setInterval"],
};

type Work = (...given: unknown[]) => void;

let offset = 0;
const pending = new Set<MovedTimer>();
let counter = 0;

/** What `setTimeout` returns: as in Node, an object that counts as its number. */
class MovedTimer {
  due = 0;
  readonly id = ++counter;
  readonly #work: () => void;
  readonly #millis: number;
  readonly #repeats: boolean;
  #timer: NodeJS.Timeout | undefined;
  #isRef = true;
  #isClosed = false;

  constructor(work: () => void, millis: unknown, repeats: boolean) {
    const given = Number(millis);
    this.#work = work;
    // Node runs what has no fitting time after a millisecond.
    this.#millis = given >= 1 && given <= 2 ** 31 - 1 ? Math.trunc(given) : 1;
    this.#repeats = repeats;
    this.#schedule();
  }

  #schedule(): void {
    this.due = movedNow() + this.#millis;
    pending.add(this);
    this.arm();
  }

  /** Sets the machine's timer for what is left. */
  arm(): void {
    real.clearTimeout(this.#timer);
    this.#timer = real.setTimeout(() => this.fire(), Math.max(0, this.due - movedNow()));
    if (!this.#isRef) this.#timer.unref();
  }

  fire(): void {
    if (!pending.delete(this)) return;
    real.clearTimeout(this.#timer);
    if (this.#repeats) this.#schedule();
    this.#work();
  }

  close(): this {
    this.#isClosed = true;
    pending.delete(this);
    real.clearTimeout(this.#timer);
    return this;
  }

  /** Does nothing once it was closed, as in Node; what has fired starts again. */
  refresh(): this {
    if (!this.#isClosed) this.#schedule();
    return this;
  }

  ref(): this {
    this.#isRef = true;
    this.#timer?.ref();
    return this;
  }

  unref(): this {
    this.#isRef = false;
    this.#timer?.unref();
    return this;
  }

  hasRef(): boolean {
    return this.#isRef;
  }

  [Symbol.toPrimitive](): number {
    return this.id;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

const movedNow = () => real.performanceNow() + offset;
const open =
  (repeats: boolean) =>
  (work: Work, millis?: unknown, ...given: unknown[]) =>
    new MovedTimer(() => work(...given), millis, repeats);
const close = (timer: unknown) => {
  if (timer instanceof MovedTimer) timer.close();
  else real.clearTimeout(timer as NodeJS.Timeout);
};

interface WaitOptions {
  readonly signal?: AbortSignal;
  readonly ref?: boolean;
}

function wait<Value>(
  millis?: number,
  value?: Value,
  { signal, ref = true }: WaitOptions = {},
): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const give = () => {
    timer.close();
    reject(
      new DOMException("The operation was aborted", { name: "AbortError", cause: signal?.reason } as never),
    );
  };
  const timer = new MovedTimer(
    () => {
      signal?.removeEventListener("abort", give);
      resolve(value as Value);
    },
    millis,
    false,
  );
  if (!ref) timer.unref();
  if (signal?.aborted) give();
  else signal?.addEventListener("abort", give, { once: true });
  return promise;
}

async function* repeat<Value>(millis?: number, value?: Value, options?: WaitOptions): AsyncGenerator<Value> {
  for (;;) yield await wait(millis, value as Value, options);
}

function timeoutSignal(millis: number): AbortSignal {
  const controller = new AbortController();
  const error = () => new DOMException("The operation was aborted due to timeout", "TimeoutError");
  new MovedTimer(() => controller.abort(error()), millis, false).unref();
  return controller.signal;
}

class MovedDate extends real.Date {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(real.now() + offset);
    else super(...(given as [number]));
  }

  static override now(): number {
    return Math.trunc(real.now() + offset);
  }
}

export interface MovedTime {
  /** Sets the clock forward. Timers fire in their order, each at its own moment, and what they lead to runs before the next. */
  advance(millis: number): Promise<void>;
}

/** Replaces the clocks and timers of this process until the end that `later` names. */
export function moveTime(later: (undo: () => void) => void): MovedTime {
  const set = (values: Readonly<Record<string, unknown>>) => {
    Object.assign(globalThis, {
      Date: values["Date"],
      setTimeout: values["setTimeout"],
      setInterval: values["setInterval"],
      // Ours closes both kinds, so it stays: what was opened before the end may be closed after it.
      clearTimeout: close,
      clearInterval: close,
    });
    Object.assign(timers, {
      setTimeout: values["setTimeout"],
      setInterval: values["setInterval"],
      clearTimeout: close,
      clearInterval: close,
    });
    Object.assign(promises, { setTimeout: values["wait"], setInterval: values["repeat"] });
    AbortSignal.timeout = values["timeout"] as typeof AbortSignal.timeout;
    performance.now = values["performanceNow"] as typeof performance.now;
    syncBuiltinESMExports();
  };
  set({
    Date: MovedDate,
    setTimeout: Object.assign(open(false), { [Symbol.for("nodejs.util.promisify.custom")]: wait }),
    setInterval: open(true),
    wait,
    repeat,
    timeout: timeoutSignal,
    performanceNow: movedNow,
  });
  later(() => set(real));
  return { advance };
}

async function advance(millis: number): Promise<void> {
  const target = movedNow() + millis;
  for (;;) {
    await settle();
    const [next] = [...pending]
      .filter(({ due }) => due <= target)
      .sort((a, b) => a.due - b.due || a.id - b.id);
    if (next === undefined) break;
    offset += Math.max(0, next.due - movedNow());
    next.fire();
  }
  offset += Math.max(0, target - movedNow());
  for (const timer of pending) timer.arm();
  await settle();
}

/** Lets promises and input that is there already be dealt with. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await yieldToOthers();
}
