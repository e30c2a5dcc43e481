/** The main file of a tool's process. It only passes messages on, so that it can be talked to while a call computes. */
import { registerHooks } from "node:module";
import { Socket } from "node:net";
import { reason } from "../../../kernel/fault.ts";
import { type FrameLimits, FrameReader, writeFrame } from "../frames.ts";
import { type FromProcess, framed, splitBody, type ToProcess } from "../protocol.ts";
import { freeDropped } from "./dropped-memory.ts";
import { shutSignals } from "./permission-gaps.ts";
import { Threads } from "./threads.ts";

/** The service's messages are its own: these only catch a mistake. */
const LIMITS: FrameLimits = { header: 64 << 20, body: 512 << 20 };
const MEMORY_MS = 100;
const READ_BYTES = 256 << 10;
/** Descriptors: the service's, then those of the threads' own lines to it. */
const SERVICE = 3;
const linesOf = (count: number) => Array.from({ length: count }, (_, at) => SERVICE + 1 + at);

const [cores = "1", ready = "1", lines = "0", role = "run", tells = ""] = process.argv.slice(2);
const reader = new FrameReader(LIMITS, (header, body, bytes) => {
  receive(header as ToProcess, body);
  void freeDropped(bytes);
});
const service = new Socket({
  fd: SERVICE,
  // The reader copies what it is given, so one buffer does for all.
  onread: {
    buffer: Buffer.allocUnsafe(READ_BYTES),
    callback(bytes, buffer) {
      reader.push(buffer.subarray(0, bytes));
      return true;
    },
  },
});
// Without the service there is nothing to do.
service.on("close", () => process.exit());
service.on("error", () => process.exit());

function send(message: FromProcess, body?: readonly Uint8Array[]): void {
  writeFrame(service, message, body);
}

shutSignals();

// A process that reads components needs no threads: it is alone with its one job.
const threads =
  role === "read"
    ? undefined
    : new Threads(Number(cores), Number(ready), linesOf(Number(lines)), {
        message(message) {
          const { header, body } = framed(message);
          send(header, body);
        },
        lost(call, error) {
          if ((error as NodeJS.ErrnoException | undefined)?.code === "ERR_WORKER_OUT_OF_MEMORY") runOut();
          send({ type: "lost", call, message: error === undefined ? "cancelled" : reason(error) });
        },
      });

/** As if V8 had ended the process, which it does as often as it ends the thread: the service sees one kind of death. */
function runOut(): never {
  process.stderr.write("heap out of memory\n");
  process.exit(1);
}

function receive(message: ToProcess, body: Uint8Array<ArrayBuffer>): void {
  if (message.type === "load") void load(message, body);
  else if (message.type === "schema") threads?.setSchema(message.number, message.schema);
  else if (message.type === "call") {
    const { type: _, ...task } = message;
    threads?.run(task);
  } else if (message.type === "cancel") threads?.cancel(message.call);
  else if (message.type === "reply") {
    const { reply, call, request } = message;
    threads?.reply(call, request, reply.ok ? { ...reply, body } : reply);
  } else void read(message, body);
}

async function load(
  message: Extract<ToProcess, { type: "load" }>,
  body: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const { type: _, modules: places, ...code } = message;
  const modules = await Promise.all(
    splitBody(body, places).map(async ([name, bytes]) => [name, await WebAssembly.compile(bytes)] as const),
  );
  threads?.setComponent({ ...code, modules: new Map(modules) });
  send({ type: "loaded" });
}

// The transpiler imports a minifier that we never call, and which is native code that this process may not load.
const MINIFIER = "data:text/javascript,export function minify() { throw new Error('there is no minifier'); }";

async function read(job: Extract<ToProcess, { type: "read" }>, bytes: Uint8Array): Promise<void> {
  registerHooks({
    resolve: (name, context, next) =>
      name === "oxc-minify" ? { url: MINIFIER, shortCircuit: true } : next(name, context),
  });
  const { readComponent, UnfitModule } = await import("../../wasm/component-reader.ts");
  try {
    const reading = await readComponent(job, bytes);
    if (reading.what !== "transpile") return send({ type: "reading", value: reading.value });
    const { modules, ...value } = reading.value;
    const places = Object.entries(modules).map(([name, module]) => ({ name, bytes: module.byteLength }));
    send({ type: "reading", value, modules: places }, Object.values(modules));
  } catch (error) {
    const unfit = error instanceof UnfitModule;
    send({ type: "unreadable", unfit, message: reason(error).slice(0, 500) });
  }
}

if (tells === "memory")
  setInterval(() => send({ type: "memory", bytes: process.memoryUsage.rss() }), MEMORY_MS).unref();
