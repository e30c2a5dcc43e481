/** The WASI a tool may link against: real clocks and randomness, the folders it was granted, and for the rest nothing. */
import { getRandomValues } from "node:crypto";
import { createFilesystem } from "./filesystem.ts";
import type { GrantedFolders } from "./folders.ts";
import { createHttp, type Send } from "./http.ts";
import { Holdings, InputStream, OutputStream, Pollable, poll, StreamError } from "./io.ts";
import { createSockets } from "./sockets.ts";
import { createWasi3 } from "./wasi-3.ts";

type StandardStream = "stdout" | "stderr";

export class ToolExit extends Error {}

// One call may ask for much, but never for more than its memory could hold anyway.
const MAX_RANDOM_BYTES = 1 << 20;
// Nothing ever hands out one of these; the glue only wants the classes to be there.
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

export function createWasi(
  write: (stream: StandardStream, bytes: Uint8Array) => void,
  send: Send,
  folders?: GrantedFolders,
) {
  const nothing = () => undefined;
  const holdings = new Holdings();
  const release2: Readonly<Record<string, object>> = {
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
    "wasi:clocks/wall-clock": { now: wallClock, resolution: () => ({ seconds: 0n, nanoseconds: 1_000_000 }) },
    "wasi:io/error": { Error: StreamError },
    "wasi:io/poll": { Pollable, poll },
    "wasi:io/streams": { InputStream, OutputStream },
    "wasi:random/random": { getRandomBytes: randomBytes, getRandomU64: randomU64 },
    "wasi:random/insecure": { getInsecureRandomBytes: randomBytes, getInsecureRandomU64: randomU64 },
    "wasi:random/insecure-seed": { insecureSeed: () => [randomU64(), randomU64()] },
    ...createFilesystem(holdings, folders),
    ...createSockets(holdings),
    ...createHttp(holdings, send),
  };
  const random = { random: randomBytes, randomU64, maxRandom: BigInt(MAX_RANDOM_BYTES) };
  return {
    interfaces: { ...release2, ...createWasi3(holdings, release2, { write, send, ...random }) },
    holdings,
    /** How many resources were handed out so far: each leaves a trace in the glue's tables. */
    resources: () => holdings.handedOut,
    /** A new call may be given as many as any other. */
    begin: () => holdings.begin(),
    end: () => holdings.end(),
  };
}
