/**
 * A thread of a tool's process: the handler that Piscina runs. It keeps clean instances of the process's one component;
 * each call in flight has an instance to itself, and a call that waits holds no thread.
 */
import { compileFunction } from "node:vm";
import { MessageChannel, parentPort, threadId } from "node:worker_threads";
import { reason } from "../../../kernel/fault.ts";
import type { ToolReply } from "../../broker/grant.ts";
import type {
  Ask,
  ComponentCode,
  FromThread,
  Outcome,
  PlacedTask,
  ThreadHello,
  ToThread,
} from "../protocol.ts";
import { GLUE_WEBASSEMBLY } from "./glue.ts";
import { type Caller, createImports, type Imports } from "./imports.ts";
import { type Instance, type Instantiate, type Linkable, openInstance } from "./instance.ts";
import { describeAll, explainFailure, judgeDescription, judgeOutput } from "./outcome.ts";
import { compileParamsCheck, compileValueCheck, type ParamsCheck, type ValueCheck } from "./params.ts";
import { shutThread } from "./shut.ts";

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
  readonly replies: Map<number, (reply: ToolReply) => void>;
}

interface Loaded {
  readonly linkable: Linkable;
  readonly memoryBytes: number;
  /** The number of the task that this thread began last. Tasks it has not come to are taken back by changing it. */
  readonly begun: Int32Array<SharedArrayBuffer>;
}

/** Compiled when it is first used. Throws where it cannot be. */
interface Schema {
  params(): ParamsCheck;
  value(): ValueCheck;
}

const CANCELLED = Symbol("cancelled");

shutThread();
const { port1: line, port2 } = new MessageChannel();
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

line.on("message", (message: ToThread) => {
  if (message.type === "component") loaded.resolve(load(message.code, message.begun));
  else if (message.type === "schema") {
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
    const replies = running.get(message.call)?.replies;
    replies?.get(message.request)?.(message.reply);
    replies?.delete(message.request);
  }
});

setInterval(() => {
  clean.splice(0, unused);
  unused = clean.length;
}, KEEP_MILLIS).unref();

function load({ glue, memoryBytes, ...code }: ComponentCode, begun: Loaded["begun"]): Loaded {
  const instantiate = compileFunction(glue, ["WebAssembly"])(GLUE_WEBASSEMBLY) as Instantiate;
  return { linkable: { instantiate, ...code, first: {} }, memoryBytes, begun };
}

function send(message: FromThread): void {
  line.postMessage(message);
}

/** Answers on the thread's line; the task itself is done when its instance is clean again. */
export default async function work({ number, call, ask, secrets, schema }: PlacedTask): Promise<void> {
  const { linkable, memoryBytes, begun } = await loaded.promise;
  if (Atomics.compareExchange(begun, 0, number - 1, number) !== number - 1) return;
  if (cancelledEarly.delete(call)) return send({ type: "cancelled", call });
  const end = (outcome: Outcome): void =>
    send({ type: "ended", call, outcome, droppedLogs: 0, memoryPeakBytes: 0, secretsAsked: [] });
  if (ask.type === "validate") return end(await validate(ask.value, schema));
  const isChecked = schema !== undefined && ask.type !== "describe";
  const refusal = isChecked ? await refuse(ask.params, schema) : undefined;
  if (refusal !== undefined || ask.type === "check") return end(refusal ?? { ok: true, output: "" });
  const cancelled = Promise.withResolvers<typeof CANCELLED>();
  const replies: Running["replies"] = new Map();
  running.set(call, { cancel: () => cancelled.resolve(CANCELLED), replies });
  let requests = 0;
  const caller: Caller = {
    secrets,
    log: (entry) => send({ type: "log", call, entry }),
    http: (asked) => {
      const request = requests++;
      send({ type: "http", call, request, asked });
      return new Promise<ToolReply>((resolve) => replies.set(request, resolve));
    },
  };
  let room: Room | undefined;
  let failure: unknown;
  let outcome: Outcome | typeof CANCELLED | undefined;
  try {
    room = take() ?? (await open(linkable));
    room.imports.begin(caller);
    outcome = await Promise.race([answer(ask, room.instance), cancelled.promise]);
  } catch (error) {
    failure = error;
  }
  running.delete(call);
  const used = room?.imports.end();
  if (outcome === CANCELLED) return send({ type: "cancelled", call });
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

function schemaOf(number: number): PromiseWithResolvers<Schema> {
  const known = schemas.get(number) ?? Promise.withResolvers<Schema>();
  schemas.set(number, known);
  return known;
}

/** The mistakes, as JSON. */
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
