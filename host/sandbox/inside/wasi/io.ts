/** `wasi:io`: what a guest holds by handles, what it waits for, and the streams it reads and writes. */

/** How a guest sees an expected failure of an import: the glue takes `payload` for the WIT error value. */
export class Refusal extends Error {
  readonly payload: unknown;

  constructor(payload?: unknown) {
    super("refused");
    this.payload = payload;
  }
}

// Each takes room on the host's heap, which a guest could fill in the time of a call.
const MAX_HANDLES = 100_000;
// Bodies and headers on our side of the border, in both directions: no limit of the guest's own memory counts them.
const MAX_HELD_BYTES = 32 << 20;
// Many more than the broker sends for one call, which is for the broker to say.
const MAX_REQUESTS = 1000;

const MAX_TIMER_MS = 2 ** 31 - 1;
const MAX_READ_BYTES = 1 << 20;
// One call may ask for much, but never for more than its memory could hold anyway.
const MAX_WRITE_BYTES = 1 << 20;

export class Event {
  readonly #waiting = new Set<() => void>();
  hasHappened = false;

  happen(): void {
    this.hasHappened = true;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Returns a function that stops listening: a guest may wait for the same event any number of times. */
  listen(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }
}

class Account {
  #handles = 0;
  #requests = 0;
  #bytes = 0;
  openFiles = 0;
  isOver = false;

  countHandle(): void {
    if (++this.#handles > MAX_HANDLES)
      throw new RangeError(`a call may be given at most ${MAX_HANDLES} handles`);
  }

  /** False where it would be one too many. */
  countRequest(): boolean {
    return ++this.#requests <= MAX_REQUESTS;
  }

  /** False where it would be too much. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > MAX_HELD_BYTES) return false;
    this.#bytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** Holds an instance's handles, and the waits that end with its call. */
export class Holdings {
  readonly #timers = new Set<NodeJS.Timeout>();
  account = new Account();
  handedOut = 0;
  #hasBegun = false;

  countHandle(): void {
    this.account.countHandle();
    this.handedOut++;
  }

  /** Handles of the last call may still be given back, but no longer count. Those of the start belong to the first call. */
  begin(): void {
    if (this.#hasBegun) this.account = new Account();
    this.#hasBegun = true;
  }

  end(): void {
    this.account.isOver = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  async wait(pollables: readonly Pollable[]): Promise<void> {
    while (!pollables.some((pollable) => pollable.ready())) {
      const undo: (() => void)[] = [];
      await new Promise<void>((wake) => {
        for (const { event } of pollables) if (event !== undefined) undo.push(event.listen(wake));
        const due = firstDue(pollables);
        if (due !== undefined) undo.push(this.#startTimer(due, wake));
      });
      for (const step of undo) step();
    }
  }

  #startTimer(due: bigint, wake: () => void): () => void {
    const left = Math.ceil(Number(due - process.hrtime.bigint()) / 1e6);
    const timer = setTimeout(wake, Math.min(left, MAX_TIMER_MS));
    this.#timers.add(timer);
    return () => {
      clearTimeout(timer);
      this.#timers.delete(timer);
    };
  }
}

function firstDue(pollables: readonly Pollable[]): bigint | undefined {
  let first: bigint | undefined;
  for (const { due } of pollables) if (due !== undefined && (first === undefined || due < first)) first = due;
  return first;
}

export class Resource {
  readonly holdings: Holdings;

  constructor(holdings: Holdings) {
    holdings.countHandle();
    this.holdings = holdings;
  }
}

/** Ready at a time, or when something has happened; with neither, at once. */
export class Pollable extends Resource {
  readonly due: bigint | undefined;
  readonly event: Event | undefined;

  constructor(holdings: Holdings, until?: bigint | Event) {
    super(holdings);
    this.due = typeof until === "bigint" ? until : undefined;
    this.event = typeof until === "bigint" ? undefined : until;
  }

  ready(): boolean {
    if (this.event !== undefined) return this.event.hasHappened;
    return this.due === undefined || process.hrtime.bigint() >= this.due;
  }

  block(): Promise<void> {
    return this.holdings.wait([this]);
  }
}

export async function poll(pollables: readonly Pollable[]): Promise<Uint32Array> {
  const [first] = pollables;
  if (first === undefined) throw new RangeError("there is nothing to wait for");
  await first.holdings.wait(pollables);
  return Uint32Array.from(pollables.flatMap((pollable, index) => (pollable.ready() ? [index] : [])));
}

export class StreamError extends Error {
  toDebugString(): string {
    return this.message;
  }
}

const NOTHING = new Uint8Array();

/** Reads what is there already, in pieces as large as the guest asks for; then it is closed. */
export class InputStream extends Resource {
  #left: Uint8Array;
  #done: (() => void) | undefined;

  constructor(holdings: Holdings, bytes: Uint8Array = NOTHING, done?: () => void) {
    super(holdings);
    this.#left = bytes;
    this.#done = done;
  }

  read(length: bigint): Uint8Array {
    if (this.#left.byteLength === 0) throw new Refusal({ tag: "closed" });
    const size = Number(length < MAX_READ_BYTES ? length : MAX_READ_BYTES);
    const piece = this.#left.subarray(0, size);
    this.#left = this.#left.subarray(size);
    if (this.#left.byteLength === 0) this[Symbol.dispose]();
    return piece;
  }
  blockingRead(length: bigint): Uint8Array | Promise<Uint8Array> {
    return this.read(length);
  }
  skip(length: bigint): bigint {
    return BigInt(this.read(length).byteLength);
  }
  blockingSkip(length: bigint): bigint | Promise<bigint> {
    return this.skip(length);
  }
  subscribe(): Pollable {
    return new Pollable(this.holdings);
  }
  [Symbol.dispose](): void {
    this.#left = NOTHING;
    this.#done?.();
    this.#done = undefined;
  }
}

/** Takes everything at once, so nobody waits for it. */
export class OutputStream extends Resource {
  readonly #write: (bytes: Uint8Array) => void;

  constructor(holdings: Holdings, write: (bytes: Uint8Array) => void) {
    super(holdings);
    this.#write = write;
  }

  checkWrite(): bigint {
    return BigInt(MAX_WRITE_BYTES);
  }
  write(bytes: Uint8Array): void {
    // As the interface says: a trap. Taking apart hundreds of megabytes of lines would end the whole process.
    if (bytes.byteLength > MAX_WRITE_BYTES) throw new RangeError("a write is longer than was permitted");
    this.#write(bytes);
  }
  blockingWriteAndFlush(bytes: Uint8Array): void {
    this.write(bytes);
  }
  flush(): void {}
  blockingFlush(): void {}
  writeZeroes(length: bigint): void {
    if (length > MAX_WRITE_BYTES) throw new RangeError("a write is longer than was permitted");
    this.#write(new Uint8Array(Number(length)));
  }
  blockingWriteZeroesAndFlush(length: bigint): void {
    this.writeZeroes(length);
  }
  splice(from: InputStream, length: bigint): bigint {
    const bytes = from.read(length);
    this.#write(bytes);
    return BigInt(bytes.byteLength);
  }
  blockingSplice(from: InputStream, length: bigint): bigint {
    return this.splice(from, length);
  }
  subscribe(): Pollable {
    return new Pollable(this.holdings);
  }
}
