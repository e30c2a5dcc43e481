/** WASI 0.3, as far as a tool gets it: the same as of 0.2, in the forms of 0.3. No shim is linked: each function is one of ours. */
import { countStream, type Done, done, drain, type GuestStream, pieces } from "./guest-streams.ts";
import type { Send } from "./http.ts";
import { createHttp3 } from "./http-3.ts";
import { type Holdings, Pollable, Refusal, Resource } from "./io.ts";

/** What is the same in both releases, by the names of 0.2. */
type Interfaces = Readonly<Record<string, object>>;
type Write = (stream: "stdout" | "stderr", bytes: Uint8Array) => void;

const SHARED = "terminal-input terminal-output terminal-stderr terminal-stdin terminal-stdout exit"
  .split(" ")
  .map((name) => `cli/${name}`);

export function createWasi3(
  holdings: Holdings,
  release2: Interfaces,
  parts: {
    readonly write: Write;
    readonly send: Send;
    readonly random: (length: bigint) => Uint8Array;
    readonly randomU64: () => bigint;
    readonly maxRandom: bigint;
  },
): Interfaces {
  const shared = Object.fromEntries(
    SHARED.map((name) => [`was3:${name}`, release2[`wasi:${name}`] as object]),
  );
  const output = (name: "stdout" | "stderr") => ({
    writeViaStream: (stream: GuestStream): Done<string> => {
      countStream(holdings);
      return drain(
        stream,
        (bytes) => parts.write(name, bytes),
        () => "io",
      );
    },
  });
  const waitUntil = async (due: bigint) => new Pollable(holdings, due).block();
  // It says how many at most.
  const random = (length: bigint) => parts.random(length < parts.maxRandom ? length : parts.maxRandom);
  return {
    ...shared,
    "was3:cli/environment": {
      getEnvironment: () => [],
      getArguments: () => [],
      getInitialCwd: () => undefined,
    },
    "was3:cli/stdin": {
      readViaStream: () => {
        countStream(holdings);
        return [pieces(new Uint8Array()), done()];
      },
    },
    "was3:cli/stdout": output("stdout"),
    "was3:cli/stderr": output("stderr"),
    "was3:clocks/monotonic-clock": {
      now: () => process.hrtime.bigint(),
      getResolution: () => 1n,
      waitUntil,
      waitFor: (nanos: bigint) => waitUntil(process.hrtime.bigint() + nanos),
    },
    "was3:clocks/system-clock": { now: systemClock, getResolution: () => 1_000_000n },
    "was3:random/random": { getRandomBytes: random, getRandomU64: parts.randomU64 },
    "was3:random/insecure": { getInsecureRandomBytes: random, getInsecureRandomU64: parts.randomU64 },
    "was3:random/insecure-seed": { getInsecureSeed: () => [parts.randomU64(), parts.randomU64()] },
    "was3:filesystem/preopens": { getDirectories: () => [] },
    "was3:filesystem/types": { Descriptor },
    "was3:sockets/types": { TcpSocket, UdpSocket },
    "was3:sockets/ip-name-lookup": { resolveAddresses: async () => deny() },
    ...createHttp3(holdings, parts.send),
  };
}

function systemClock(): { seconds: bigint; nanoseconds: number } {
  const now = Date.now();
  return { seconds: BigInt(Math.floor(now / 1000)), nanoseconds: (now % 1000) * 1e6 };
}

function deny(): never {
  throw new Refusal({ tag: "access-denied" });
}

// Nothing hands one out; the glue only wants the classes to be there.
class Descriptor extends Resource {}
class TcpSocket extends Resource {
  static create = deny;
}
class UdpSocket extends Resource {
  static create = deny;
}
