/**
 * A thread of a tool's process: the handler that Piscina runs. It keeps clean instances of the process's one component;
 * each call in flight has an instance to itself, and a call that waits holds no thread.
 */
import { compileFunction } from "node:vm";
import { MessageChannel, parentPort, threadId } from "node:worker_threads";
import { reason } from "../../../kernel/fault.ts";
import { writeFrameNow } from "../frames.ts";
import type { ToolReply, ToolRequest } from "../protocol.ts";
import {
  type Ask,
  type ComponentCode,
  type FromThread,
  framed,
  type Outcome,
  type PlacedTask,
  type ThreadHello,
  type ToThread,
} from "../protocol.ts";
import { GLUE_WEBASSEMBLY } from "./glue.ts";
import { type Caller, createImports, type Imports } from "./imports.ts";
import { type Instance, type Instantiate, type Linkable, openInstance } from "./instance.ts";
import { describeAll, explainFailure, judgeDescription, judgeOutput } from "./outcome.ts";
import { compileParamsCheck, compileValueCheck, type ParamsCheck, type ValueCheck } from "./params.ts";
import { shutThread } from "./permission-gaps.ts";
import { Progress } from "./progress.ts";

/** Instances that no call needed for so long are dropped. */
const KEEP_MILLIS = 30_000;

/** An instance and what it imports. */
interface Room {
  readonly imports: Imports;
  readonly instance: Instance;
}

interface Running {
  /** Ends the call from outside: what it still waits for never comes. */
  cancel(): void;
  reply(request: number, reply: ToolReply): void;
}

interface Loaded {
  readonly linkable: Linkable;
  readonly memoryBytes: number;
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

/** Where it writes to the service itself, if it has such a place. */
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
}, KEEP_MILLIS).unref();

function load({ glue, memoryBytes, ...code }: ComponentCode, progress: Progress): Loaded {
  const instantiate = compileFunction(glue, ["WebAssembly"])(GLUE_WEBASSEMBLY) as Instantiate;
  return { linkable: { instantiate, ...code, first: {} }, memoryBytes, progress };
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
    await run(task, component, progress);
  } finally {
    progress.leave();
  }
}

async function run(
  { number, call, ask, secrets, schema }: PlacedTask,
  { linkable, memoryBytes }: Omit<Loaded, "progress">,
  progress: Progress,
): Promise<void> {
  if (cancelledEarly.delete(call)) return;
  const end = (outcome: Outcome): void =>
    send({ type: "ended", call, outcome, droppedLogs: 0, memoryPeakBytes: 0, secretsAsked: [] });
  if (ask.type === "validate") return end(await validate(ask.value, schema));
  const isChecked = schema !== undefined && ask.type !== "describe";
  const refusal = isChecked ? await refuse(ask.params, schema) : undefined;
  if (refusal !== undefined || ask.type === "check") return end(refusal ?? { ok: true, output: "" });
  const cancelled = Promise.withResolvers<typeof CANCELLED>();
  const requests = createRequests(call, number, progress);
  running.set(call, { cancel: () => cancelled.resolve(CANCELLED), reply: requests.reply });
  const caller: Caller = { secrets, log: (entry) => send({ type: "log", call, entry }), http: requests.send };
  let room: Room | undefined;
  let failure: unknown;
  let outcome: Outcome | typeof CANCELLED | undefined;
  try {
    room = take() ?? (await open(linkable));
    room.imports.begin(caller);
    // Others may have gone on while the instance was opened.
    progress.enter(number);
    outcome = await Promise.race([answer(ask, room.instance), cancelled.promise]);
  } catch (error) {
    failure = error;
  }
  running.delete(call);
  requests.forget();
  const used = room?.imports.end();
  if (outcome === CANCELLED) return;
  const memoryPeakBytes = room?.instance.memoryBytes() ?? 0;
  outcome ??= explainFailure(failure, used?.lastWords ?? "", memoryPeakBytes, memoryBytes);
  const { droppedLogs = 0, secretsAsked = [] } = used ?? {};
  send({ type: "ended", call, outcome, droppedLogs, memoryPeakBytes, secretsAsked });
  // An instance that failed may be in any state; the next call, if there is one, opens its own.
  const isSound = outcome.ok || outcome.code === "tool_error" || outcome.code === "bad_response";
  if (room === undefined || !isSound) return;
  if (room.instance.clean()) keep(room);
  // The next call need not pay for what this one left behind.
  else if (clean.length === 0 && running.size === 0) await open(linkable).then(keep, () => {});
}

/** The requests of a call. While one has no reply the call counts as waiting. */
function createRequests(call: number, number: number, progress: Progress) {
  const replies = new Map<number, (reply: ToolReply) => void>();
  let last = 0;
  return {
    send(asked: ToolRequest): Promise<ToolReply> {
      const request = last++;
      const { promise, resolve } = Promise.withResolvers<ToolReply>();
      replies.set(request, resolve);
      send({ type: "http", call, request, asked });
      if (replies.size === 1 && progress.wait()) port.postMessage({ type: "waits" } satisfies FromThread);
      return promise;
    },
    reply(request: number, reply: ToolReply): void {
      const resolve = replies.get(request);
      if (resolve === undefined) return;
      replies.delete(request);
      if (replies.size === 0) progress.resume(number);
      else progress.enter(number);
      resolve(reply);
    },
    /** The call is over: nothing comes any more. */
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

async function open(linkable: Linkable): Promise<Room> {
  const imports = createImports();
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
