/** The Piscina worker: it keeps clean instances of the components it ran last, and runs one call at a time. */
import { compileFunction } from "node:vm";
import {
  type ComponentCode,
  createBridge,
  type FailureCode,
  type Instance,
  openInstance,
  type Task,
  ToolExit,
  type WorkerOutcome,
} from "./bridge.ts";

const MAX_INSTANCES = 4;
const MAX_OUTPUT_BYTES = 1 << 20;

interface Held {
  readonly open: () => Instance;
  /** Clean, or absent. */
  instance: Instance | undefined;
}

const bridge = createBridge();
/** Least recently used first. */
const held = new Map<string, Held>();

/** Answers on the worker's line; the task itself is done when the next call may come. */
export default function work(task: Task): void {
  bridge.begin(task);
  let taken: { readonly holder: Held; readonly instance: Instance } | undefined;
  let outcome: WorkerOutcome;
  try {
    const holder = take(task.component);
    const instance = holder.instance ?? holder.open();
    holder.instance = undefined;
    taken = { holder, instance };
    outcome = task.ask.type === "execute" ? execute(instance, task.ask.params) : describe(instance);
  } catch (error) {
    outcome = explain(error, taken?.instance, task.memoryBytes);
  }
  if (taken !== undefined) bridge.noteMemory(taken.instance.memoryBytes());
  bridge.end(outcome);
  // An instance that failed may be in any state; the next call, if there is one, opens its own.
  const isSound = outcome.ok || outcome.code === "tool_error" || outcome.code === "bad_response";
  if (taken !== undefined && isSound) taken.holder.instance = renew(taken.holder, taken.instance);
}

function renew({ open }: Held, instance: Instance): Instance | undefined {
  try {
    return instance.clean() ? instance : open();
  } catch {
    return undefined;
  }
}

function take(component: string): Held {
  const known = held.get(component) ?? hold(bridge.load());
  held.delete(component);
  held.set(component, known);
  for (const oldest of held.keys()) {
    if (held.size <= MAX_INSTANCES) break;
    held.delete(oldest);
  }
  return known;
}

function hold({ glue, ...code }: ComponentCode): Held {
  const instantiate = compileFunction(glue)();
  const open = () =>
    bridge.whileShut(() => openInstance({ instantiate, ...code }, bridge.imports, bridge.resources));
  return { open, instance: undefined };
}

function execute(instance: Instance, params: string): WorkerOutcome {
  const { output, error } = instance.tool.execute({ params });
  if (output !== undefined && error !== undefined) return bad("it set both output and error");
  if (error !== undefined)
    return { ok: false, code: "tool_error", message: error.slice(0, MAX_OUTPUT_BYTES) };
  if (output === undefined) return bad("it set neither output nor error");
  if (Buffer.byteLength(output) > MAX_OUTPUT_BYTES) return bad("its output is over 1 MiB");
  try {
    JSON.parse(output);
  } catch {
    return bad("its output is not JSON");
  }
  return { ok: true, output };
}

function describe(instance: Instance): WorkerOutcome {
  const description = instance.tool.description();
  const schema = instance.tool.schema();
  const isLong = Buffer.byteLength(description) + Buffer.byteLength(schema) > MAX_OUTPUT_BYTES;
  return isLong ? bad("its description and schema are over 1 MiB") : { ok: true, description, schema };
}

function bad(what: string): WorkerOutcome {
  return { ok: false, code: "bad_response", message: `The tool's answer was refused: ${what}.` };
}

/** Memory this close to its limit is what made the engine give up. */
const FULL = 0.85;

function explain(error: unknown, instance: Instance | undefined, memoryBytes: number): WorkerOutcome {
  const words = bridge.lastWords().trim();
  const said = words === "" ? (error instanceof Error ? error.message : "no reason given") : words;
  const failed = (code: FailureCode, message: string): WorkerOutcome => ({ ok: false, code, message });
  const isFull = instance !== undefined && instance.memoryBytes() > memoryBytes * FULL;
  if (isFull || /out of memory|allocation size overflow/i.test(said)) {
    return failed("out_of_memory", `The tool ran out of its ${memoryBytes / 2 ** 20} MiB of memory.`);
  }
  if (error instanceof ToolExit) return failed("threw", "The tool ended itself instead of answering.");
  if (words !== "" || error instanceof WebAssembly.Exception)
    return failed("threw", `The tool threw: ${said}`);
  return failed("trap", `The tool stopped with a trap: ${said}`);
}
