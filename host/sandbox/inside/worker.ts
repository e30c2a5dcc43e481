/** A thread of a tool's process: each call in flight has a clean instance to itself, and one that waits holds no thread. */
import { compileFunction } from "node:vm";
import { MessageChannel, parentPort, threadId } from "node:worker_threads";
import { reason } from "../../../kernel/fault.ts";
import { isRecord, tryJson } from "../../../kernel/text/json.ts";

import { writeFrameNow } from "../frames.ts";
import {
  type Ask,
  type ComponentCode,
  type FailureCode,
  type FileReply,
  type FromThread,
  framed,
  type InnerReply,
  type LogEntry,
  type Outcome,
  type PlacedTask,
  type Preopen,
  type Reply,
  type StateReply,
  type ThreadHello,
  type ToolReply,
  type ToThread,
} from "../protocol.ts";
import { freeDropped } from "./dropped-memory.ts";
import { GLUE_GLOBAL, GLUE_WEBASSEMBLY } from "./glue.ts";
import { type Caller, createImports, type Imports } from "./imports.ts";
import { type Instance, type Instantiate, type Linkable, openInstance } from "./instance.ts";
import { compileParamsCheck, compileValueCheck, type ParamsCheck, type ValueCheck } from "./params.ts";
import { shutThread } from "./permission-gaps.ts";
import { Progress } from "./progress.ts";
import { ToolExit } from "./wasi/wasi.ts";

/** Instances that no call needed for so long are dropped. */
const KEEP_MS = 30_000;

interface Room {
  readonly imports: Imports;
  readonly instance: Instance;
}

interface Running {
  /** Ends the call from outside: what it still waits for never comes. */
  cancel(): void;
  reply(request: number, reply: Reply): void;
}

interface Loaded {
  readonly linkable: Linkable;
  readonly memoryBytes: number;
  readonly preopens: readonly Preopen[];
  readonly progress: Progress;
}

/** Compiled when it is first used. Throws where it cannot be. */
interface Schema {
  params(): ParamsCheck;
  value(): ValueCheck;
}

const CANCELLED = Symbol("cancelled");

shutThread();
const { port1: port, port2 } = new MessageChannel();
const hello: ThreadHello = { threadId, port: port2 };
parentPort?.postMessage(hello, [port2]);

const loaded = Promise.withResolvers<Loaded>();
const running = new Map<number, Running>();
/** Calls whose cancelling overtook them. */
const cancelledEarly = new Set<number>();
/** Clean instances; the one used last is taken first. */
const clean: Room[] = [];
/** The fewest that lay unused since the last look: so many were not needed. */
let unused = 0;
/** By number; a call may come before its schema. */
const schemas = new Map<number, PromiseWithResolvers<Schema>>();

/** The descriptor for messages to the service itself, if it has one. */
let line: number | undefined;
let progress: Progress | undefined;

port.on("message", (message: ToThread) => {
  if (message.type === "component") {
    line = message.line;
    progress ??= new Progress(message.progress);
    loaded.resolve(load(message.code, progress));
  } else if (message.type === "schema") {
    const { number, schema } = message;
    let params: ParamsCheck | undefined;
    let value: ValueCheck | undefined;
    schemaOf(number).resolve({
      params: () => (params ??= compileParamsCheck(JSON.parse(schema))),
      value: () => (value ??= compileValueCheck(JSON.parse(schema))),
    });
  } else if (message.type === "cancel") {
    const call = running.get(message.call);
    if (call === undefined) cancelledEarly.add(message.call);
    else call.cancel();
  } else {
    progress?.hear();
    running.get(message.call)?.reply(message.request, message.reply);
  }
});

setInterval(() => {
  clean.splice(0, unused);
  unused = clean.length;
}, KEEP_MS).unref();

function load({ glue, memoryBytes, preopens, ...code }: ComponentCode, progress: Progress): Loaded {
  const make = compileFunction(glue, ["WebAssembly", "globalThis"]);
  const instantiate = make(GLUE_WEBASSEMBLY, GLUE_GLOBAL) as Instantiate;
  return { linkable: { instantiate, ...code, first: {} }, memoryBytes, preopens, progress };
}

function send(message: Exclude<FromThread, { type: "waits" }>): void {
  if (line === undefined) port.postMessage(message);
  else {
    const { header, body } = framed(message);
    writeFrameNow(line, header, body);
  }
}

/** The task is done when its instance is clean again; the service has its answer before that. */
export default async function work(task: PlacedTask): Promise<void> {
  const { progress, ...component } = await loaded.promise;
  if (!progress.begin(task.number)) return;
  try {
    await freeDropped(await run(task, component, progress));
  } finally {
    progress.leave();
  }
}

/** Returns the bytes of the instance's memory if it was dropped. */
async function run(
  { number, call, ask, secrets, settings, schema }: PlacedTask,
  component: Omit<Loaded, "progress">,
  progress: Progress,
): Promise<number> {
  if (cancelledEarly.delete(call)) return 0;
  const end = (outcome: Outcome): number => {
    send({ type: "ended", call, outcome, droppedLogs: 0, memoryPeakBytes: 0, secretsAsked: [] });
    return 0;
  };
  if (ask.type === "validate") return end(await validate(ask.value, schema));
  const isChecked = schema !== undefined && ask.type !== "describe";
  const refusal = isChecked ? await refuse(ask.params, schema) : undefined;
  if (refusal !== undefined || ask.type === "check") return end(refusal ?? { ok: true, output: "" });
  const cancelled = Promise.withResolvers<typeof CANCELLED>();
  const requests = createRequests(number, progress);
  running.set(call, { cancel: () => cancelled.resolve(CANCELLED), reply: requests.reply });
  const log = (entry: LogEntry) => send({ type: "log", call, entry });
  const caller: Caller = {
    ...{ secrets, settings, log },
    http: (asked) =>
      requests.send((request) => ({ type: "http", call, request, asked })) as Promise<ToolReply>,
    state: (asked) =>
      requests.send((request) => ({ type: "state", call, request, asked })) as Promise<StateReply>,
    inner: (asked) =>
      requests.send((request) => ({ type: "inner", call, request, asked })) as Promise<InnerReply>,
    file: (asked) =>
      requests.send((request) => ({ type: "file", call, request, asked })) as Promise<FileReply>,
  };
  let room: Room | undefined;
  let failure: unknown;
  let outcome: Outcome | typeof CANCELLED | undefined;
  try {
    room = take() ?? (await open(component));
    room.imports.begin(caller);
    // Others may have gone on while the instance was opened.
    progress.enter(number);
    outcome = await Promise.race([settled(answer(ask, room.instance), room.imports), cancelled.promise]);
  } catch (error) {
    failure = error;
  }
  running.delete(call);
  requests.forget();
  const used = room?.imports.end();
  room?.instance.stop();
  const memoryPeakBytes = room?.instance.memoryBytes() ?? 0;
  if (outcome === CANCELLED) return memoryPeakBytes;
  outcome ??= explainFailure(failure, used?.lastWords ?? "", memoryPeakBytes, component.memoryBytes);
  const { droppedLogs = 0, secretsAsked = [] } = used ?? {};
  send({ type: "ended", call, outcome, droppedLogs, memoryPeakBytes, secretsAsked });
  // An instance that failed may be in any state; the next call, if there is one, opens its own.
  const isSound = outcome.ok || outcome.code === "tool_error" || outcome.code === "bad_response";
  if (room !== undefined && isSound && room.instance.clean()) {
    keep(room);
    return 0;
  }
  // The next call need not pay for what this one left behind.
  if (isSound && clean.length === 0 && running.size === 0) await open(component).then(keep, () => {});
  return memoryPeakBytes;
}

/** The requests of a call. While one has no reply the call counts as waiting. */
function createRequests(number: number, progress: Progress) {
  const replies = new Map<number, (reply: Reply) => void>();
  let last = 0;
  return {
    send(message: (request: number) => Parameters<typeof send>[0]): Promise<Reply> {
      const request = last++;
      const { promise, resolve } = Promise.withResolvers<Reply>();
      replies.set(request, resolve);
      send(message(request));
      if (replies.size === 1 && progress.wait()) port.postMessage({ type: "waits" } satisfies FromThread);
      return promise;
    },
    reply(request: number, reply: Reply): void {
      const resolve = replies.get(request);
      if (resolve === undefined) return;
      replies.delete(request);
      if (replies.size === 0) progress.resume(number);
      else progress.enter(number);
      resolve(reply);
    },
    forget(): void {
      if (replies.size > 0) progress.resume(number);
      replies.clear();
    },
  };
}

function schemaOf(number: number): PromiseWithResolvers<Schema> {
  const known = schemas.get(number) ?? Promise.withResolvers<Schema>();
  schemas.set(number, known);
  return known;
}

async function validate(text: string, number = 0): Promise<Outcome> {
  const schema = await schemaOf(number).promise;
  try {
    return { ok: true, output: describeAll(schema.value()(JSON.parse(text), text.length)) };
  } catch (error) {
    return { ok: false, code: "bad_schema", message: reason(error).slice(0, 500) };
  }
}

async function refuse(params: string, schema: number): Promise<Outcome | undefined> {
  const refused = (message: string): Outcome => ({ ok: false, code: "invalid_params", message });
  const { params: compile } = await schemaOf(schema).promise;
  try {
    const verdict = compile()(params);
    return verdict.ok ? undefined : refused(verdict.detail);
  } catch (error) {
    return refused(`the tool's schema cannot be used: ${reason(error)}`);
  }
}

async function answer(
  ask: Exclude<Ask, { type: "check" | "validate" }>,
  { tool }: Instance,
): Promise<Outcome> {
  if (ask.type === "execute") return judgeOutput(await tool.execute({ params: ask.params }));
  return judgeDescription(await tool.description(), await tool.schema());
}

/** A write that nobody waited for may be refused after the tool has answered: then the answer is not true. */
async function settled(answered: Promise<Outcome>, imports: Imports): Promise<Outcome> {
  const outcome = await answered;
  if (!outcome.ok) return outcome;
  try {
    await imports.settle();
    return outcome;
  } catch (error) {
    return { ok: false, code: "tool_error", message: `A file could not be written: ${reason(error)}.` };
  }
}

async function open({ linkable, preopens }: Omit<Loaded, "progress">): Promise<Room> {
  const imports = createImports(preopens);
  return { imports, instance: await openInstance(linkable, imports) };
}

function take(): Room | undefined {
  const room = clean.pop();
  unused = Math.min(unused, clean.length);
  return room;
}

function keep(room: Room): void {
  clean.push(room);
}

const MAX_OUTPUT_BYTES = 1 << 20;
const MAX_MISTAKES = 10;

function judgeOutput({ output, error }: { output?: string; error?: string }): Outcome {
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

function judgeDescription(description: string, schema: string): Outcome {
  if (Buffer.byteLength(description) + Buffer.byteLength(schema) > MAX_OUTPUT_BYTES)
    return bad("its description and schema are over 1 MiB");
  const problem = problemOf(schema);
  return { ok: true, description, schema, ...(problem !== undefined && { problem }) };
}

function describeAll(mistakes: readonly string[]): string {
  return JSON.stringify([...new Set(mistakes)].slice(0, MAX_MISTAKES).map((text) => text.slice(0, 300)));
}

/** Why params cannot be checked against this schema. What is not even a JSON object is for the reader to refuse. */
function problemOf(text: string): string | undefined {
  const schema = tryJson(text);
  if (!isRecord(schema)) return undefined;
  try {
    compileParamsCheck(schema);
    return undefined;
  } catch (error) {
    return reason(error);
  }
}

function bad(what: string): Outcome {
  return { ok: false, code: "bad_response", message: `The tool's answer was refused: ${what}.` };
}

/** Memory this close to its limit is what made the engine give up. */
const FULL = 0.85;

function explainFailure(
  error: unknown,
  lastWords: string,
  memoryPeakBytes: number,
  memoryBytes: number,
): Outcome {
  const words = lastWords.trim();
  const said = words === "" ? (error instanceof Error ? error.message : "no reason given") : words;
  const failed = (code: FailureCode, message: string): Outcome => ({ ok: false, code, message });
  // SpiderMonkey also aborts after an error that nobody caught, which it prints with its stack.
  const hasAborted = said.includes("mozalloc_abort") && !said.includes("Stack:");
  if (
    memoryPeakBytes > memoryBytes * FULL ||
    hasAborted ||
    /out of memory|allocation size overflow/i.test(said)
  )
    return failed("out_of_memory", `The tool ran out of its ${memoryBytes / 2 ** 20} MiB of memory.`);
  if (error instanceof ToolExit) return failed("threw", "The tool ended itself instead of answering.");
  if (words !== "" || error instanceof WebAssembly.Exception)
    return failed("threw", `The tool threw: ${said}`);
  return failed("trap", `The tool stopped with a trap: ${said}`);
}
