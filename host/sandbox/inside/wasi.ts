/**
 * The WASI a tool may link against: real clocks and randomness, and for the rest "nothing there": no files,
 * no environment, no arguments. What a tool writes to stdout or stderr is handed to `write`.
 */
import { getRandomValues } from "node:crypto";

type StandardStream = "stdout" | "stderr";

export class ToolExit extends Error {}

/** How `execute` sees an expected failure of an import: the glue takes `payload` for the WIT error value. */
class Refusal extends Error {
  readonly payload: unknown;

  constructor(payload: unknown) {
    super("refused");
    this.payload = payload;
  }
}

// One call may ask for much, but never for more than its memory could hold anyway.
const MAX_RANDOM_BYTES = 1 << 20;
const MAX_WRITE_BYTES = 1n << 20n;

// Each takes room on the host's heap, which a guest could fill in the time of a call.
const MAX_HANDLES = 100_000;

const MAX_TIMER_MILLIS = 2 ** 31 - 1;

/** What one instance holds by handles, and the waits that end with its call. */
class Holdings {
  readonly #timers = new Set<NodeJS.Timeout>();
  #before = 0;
  handedOut = 0;

  count(): void {
    if (this.handedOut - this.#before >= MAX_HANDLES)
      throw new RangeError(`a call may be given at most ${MAX_HANDLES} handles`);
    this.handedOut++;
  }

  begin(): void {
    this.#before = this.handedOut;
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  async sleepUntil(due: bigint): Promise<void> {
    for (;;) {
      const left = due - process.hrtime.bigint();
      if (left <= 0n) return;
      const millis = Math.min(Number(left) / 1e6, MAX_TIMER_MILLIS);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => {
          this.#timers.delete(timer);
          resolve();
        }, millis);
        this.#timers.add(timer);
      });
    }
  }
}

/** What the guest holds by a handle. */
class Resource {
  readonly holdings: Holdings;

  constructor(holdings: Holdings) {
    holdings.count();
    this.holdings = holdings;
  }
}

class Pollable extends Resource {
  readonly due: bigint;

  constructor(holdings: Holdings, due: bigint) {
    super(holdings);
    this.due = due;
  }

  ready(): boolean {
    return process.hrtime.bigint() >= this.due;
  }

  block(): Promise<void> {
    return this.holdings.sleepUntil(this.due);
  }
}

async function poll(pollables: readonly Pollable[]): Promise<Uint32Array> {
  const [first] = pollables.toSorted((one, other) => (one.due < other.due ? -1 : 1));
  await first?.block();
  return Uint32Array.from(pollables.flatMap((pollable, index) => (pollable.ready() ? [index] : [])));
}

class StreamError extends Error {
  toDebugString(): string {
    return this.message;
  }
}

class InputStream extends Resource {
  read(): never {
    throw new Refusal({ tag: "closed" });
  }
  blockingRead(): never {
    return this.read();
  }
  skip(): never {
    return this.read();
  }
  blockingSkip(): never {
    return this.read();
  }
  subscribe(): Pollable {
    return new Pollable(this.holdings, 0n);
  }
}

class OutputStream extends Resource {
  readonly #write: (bytes: Uint8Array) => void;

  constructor(holdings: Holdings, write: (bytes: Uint8Array) => void) {
    super(holdings);
    this.#write = write;
  }

  checkWrite(): bigint {
    return MAX_WRITE_BYTES;
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
  writeZeroes(): void {}
  blockingWriteZeroesAndFlush(): void {}
  splice(): never {
    throw new Refusal({ tag: "closed" });
  }
  blockingSplice(): never {
    return this.splice();
  }
  subscribe(): Pollable {
    return new Pollable(this.holdings, 0n);
  }
}

// Nothing ever hands out one of these; the glue only wants the classes to be there.
class Descriptor {}
class DirectoryEntryStream {}
class TerminalInput {}
class TerminalOutput {}

function randomBytes(length: bigint): Uint8Array {
  if (length > MAX_RANDOM_BYTES)
    throw new RangeError(`${length} random bytes are more than one call may ask for`);
  const bytes = new Uint8Array(Number(length));
  for (let at = 0; at < bytes.length; at += 65_536) getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

function randomU64(): bigint {
  const [value = 0n] = getRandomValues(new BigUint64Array(1));
  return value;
}

function wallClock(): { seconds: bigint; nanoseconds: number } {
  const now = Date.now();
  return { seconds: BigInt(Math.floor(now / 1000)), nanoseconds: (now % 1000) * 1e6 };
}

function exit(): never {
  throw new ToolExit("the tool ended itself");
}

export interface Wasi {
  /** The interfaces by name, as the glue looks them up. */
  readonly interfaces: Readonly<Record<string, object>>;
  /** How many resources were handed out so far: each leaves a trace in the glue's tables. */
  resources(): number;
  /** A new call may be given as many as any other. */
  begin(): void;
  /** What the call still waits for is forgotten. */
  end(): void;
}

export function createWasi(write: (stream: StandardStream, bytes: Uint8Array) => void): Wasi {
  const nothing = () => undefined;
  const holdings = new Holdings();
  const interfaces = {
    "wasi:cli/environment": { getEnvironment: () => [], getArguments: () => [], initialCwd: nothing },
    "wasi:cli/exit": { exit, exitWithCode: exit },
    "wasi:cli/stdin": { getStdin: () => new InputStream(holdings) },
    "wasi:cli/stdout": { getStdout: () => new OutputStream(holdings, (bytes) => write("stdout", bytes)) },
    "wasi:cli/stderr": { getStderr: () => new OutputStream(holdings, (bytes) => write("stderr", bytes)) },
    "wasi:cli/terminal-input": { TerminalInput },
    "wasi:cli/terminal-output": { TerminalOutput },
    "wasi:cli/terminal-stdin": { getTerminalStdin: nothing },
    "wasi:cli/terminal-stdout": { getTerminalStdout: nothing },
    "wasi:cli/terminal-stderr": { getTerminalStderr: nothing },
    "wasi:clocks/monotonic-clock": {
      now: () => process.hrtime.bigint(),
      resolution: () => 1n,
      subscribeInstant: (when: bigint) => new Pollable(holdings, when),
      subscribeDuration: (nanos: bigint) => new Pollable(holdings, process.hrtime.bigint() + nanos),
    },
    "wasi:clocks/wall-clock": {
      now: wallClock,
      resolution: () => ({ seconds: 0n, nanoseconds: 1_000_000 }),
    },
    "wasi:filesystem/preopens": { getDirectories: () => [] },
    "wasi:filesystem/types": { Descriptor, DirectoryEntryStream, filesystemErrorCode: nothing },
    "wasi:io/error": { Error: StreamError },
    "wasi:io/poll": { Pollable, poll },
    "wasi:io/streams": { InputStream, OutputStream },
    "wasi:random/random": { getRandomBytes: randomBytes, getRandomU64: randomU64 },
    "wasi:random/insecure": { getInsecureRandomBytes: randomBytes, getInsecureRandomU64: randomU64 },
    "wasi:random/insecure-seed": { insecureSeed: () => [randomU64(), randomU64()] },
  };
  return {
    interfaces,
    resources: () => holdings.handedOut,
    begin: () => holdings.begin(),
    end: () => holdings.end(),
  };
}
