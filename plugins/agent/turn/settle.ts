/** The calls of one answer: those that may run do, side by side, and what has to be waited for becomes a gate. */
import { randomUUIDv7 } from "node:crypto";
import {
  type CallOutcome,
  Fault,
  type Gate,
  type Mask,
  type ToolCall,
  type ToolOutcome,
  type TurnEvent,
  type TurnItem,
} from "../../../kernel/plugin.ts";
import { redact } from "../safety/redact.ts";
import type { Ending } from "./ending.ts";
import type { RequiredTools } from "./required-tools.ts";
import type { Approved } from "./resume.ts";
import type { Plan, Toolbox } from "./toolbox.ts";
import type { TurnWriter } from "./writing/writer.ts";

export interface Settling {
  readonly writer: TurnWriter;
  readonly toolbox: Toolbox;
  readonly mask: Mask;
  readonly signal: AbortSignal;
  readonly required: RequiredTools;
  /** True: calls of the caller's functions surface together. */
  readonly together: boolean;
  /** The call that the user has just allowed. */
  readonly approved: Approved | undefined;
  /** The outcome of a call that the request does not allow. */
  refuse(call: ToolCall): ToolOutcome | undefined;
  emit(event: TurnEvent): void;
}

interface Waiting {
  readonly call: ToolCall;
  readonly plan: Plan;
  readonly outcome: CallOutcome | undefined;
}

export function itemOf(call: ToolCall, external: boolean): TurnItem {
  return { type: "tool_call", id: randomUUIDv7(), call, external };
}

/** Runs what may run, side by side; answers the gate where something has to be waited for. */
export async function settle(run: Settling, calls: readonly ToolCall[]): Promise<Ending | undefined> {
  if (calls.length === 0) return undefined;
  const { toolbox, approved } = run;
  const planned = await Promise.all(
    calls.map(async (call): Promise<{ readonly call: ToolCall; readonly plan: Plan }> => {
      const outcome = run.refuse(call);
      if (outcome !== undefined) return { call, plan: { type: "refuse", outcome } };
      return { call, plan: await toolbox.plan(call, call.id === approved?.call ? approved : undefined) };
    }),
  );
  // What is refused at once never surfaces, but the model has to see what it did wrong.
  for (const { call, plan } of planned)
    if (plan.type === "refuse" && toolbox.isExternal(call.name)) run.writer.hold(itemOf(call, false));
  // All of them end before the turn does, so that none writes into a turn that is closed.
  const settled = await Promise.allSettled(planned.map(({ call, plan }) => perform(run, call, plan)));
  const outcomes = settled.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
  run.signal.throwIfAborted();
  for (const [at, { call }] of planned.entries()) {
    const outcome = outcomes[at];
    if (outcome && !isOpen(outcome)) run.required.settled(call.name, outcome);
  }
  const waiting: readonly Waiting[] = planned
    .map(({ call, plan }, at) => ({ call, plan, outcome: outcomes[at] }))
    .filter(({ outcome }) => outcome === undefined || isOpen(outcome));
  // An external call waits for the caller, who cannot answer the other gates: those come first.
  const [first] = waiting.toSorted((a, b) => rank(a.plan) - rank(b.plan));
  if (first === undefined) return undefined;
  const surfacing = first.plan.type === "external" && run.together ? waiting : [first];
  if (first.plan.type === "external") for (const { call } of surfacing) run.writer.hold(itemOf(call, true));
  return {
    status: "waiting",
    gate: openGate(run.writer, first, surfacing.slice(1)),
    pending: waiting.filter((other) => !surfacing.includes(other)).map(({ call }) => call),
    required: run.required.carry(),
  };
}

function rank(plan: Plan): number {
  return plan.type === "external" ? 1 : 0;
}

type Open = Extract<CallOutcome, { status: "unauthenticated" | "question" }>;

/** It lacks a credential, or asks something: the call waits at a gate. */
function isOpen(outcome: CallOutcome): outcome is Open {
  return outcome.status === "unauthenticated" || outcome.status === "question";
}

/** The outcome of a call that could be made; undefined where someone has to be waited for. */
async function perform(run: Settling, call: ToolCall, plan: Plan): Promise<CallOutcome | undefined> {
  if (plan.type === "ask" || plan.type === "external") return undefined;
  const { writer, emit, signal, mask } = run;
  const item = randomUUIDv7();
  const begun = performance.now();
  emit({ type: "tool_started", item, call });
  if (plan.type === "run" && plan.writes && !(await writer.markWrote()))
    throw new Fault("turn", "thread_deleted", "The thread was deleted while the turn ran.");
  const ended = plan.type === "refuse" ? plan.outcome : await unlessAborted(plan.run, signal);
  // Not finished: the gate that follows names the call.
  if (ended.status === "question") return ended;
  const outcome = hideIn(ended, mask);
  if (!isOpen(outcome)) await writer.put({ type: "tool_result", id: item, call: call.id, outcome });
  emit({ type: "tool_finished", item, call, outcome, millis: Math.round(performance.now() - begun) });
  return outcome;
}

function hideIn(outcome: ToolOutcome, mask: Mask): ToolOutcome {
  return outcome.status === "ok"
    ? { ...outcome, output: redact(mask, outcome.output) }
    : { ...outcome, message: redact(mask, outcome.message) };
}

/** A call that does not end when told to is left behind; one that has not begun by then is not made. */
async function unlessAborted(
  run: (signal: AbortSignal) => Promise<CallOutcome>,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const { promise, resolve } = Promise.withResolvers<CallOutcome>();
  const stop = (): void =>
    resolve({ status: "error", code: "cancelled", message: "The turn ended before the call did." });
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await (signal.aborted ? promise : Promise.race([run(signal), promise]));
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function openGate(
  writer: TurnWriter,
  { call, plan, outcome }: Waiting,
  others: readonly Pick<Waiting, "call">[],
): Gate {
  const base = {
    id: randomUUIDv7(),
    turn: writer.id,
    thread: writer.thread,
    openedAt: new Date().toISOString(),
  };
  const { fingerprint } = { fingerprint: undefined, ...plan };
  const about = fingerprint === undefined ? {} : { fingerprint };
  if (outcome?.status === "unauthenticated")
    return {
      ...base,
      type: "authentication",
      call,
      secret: outcome.secret,
      message: outcome.message,
      ...about,
    };
  if (outcome?.status === "question") {
    const { server, questions, resume } = outcome;
    return { ...base, type: "question", call, server, questions, resume, ...about };
  }
  return plan.type === "ask"
    ? { ...base, type: "approval", call, grants: plan.grants, ...about }
    : {
        ...base,
        type: "external_tool",
        call,
        ...(others.length > 0 && { others: others.map((other) => other.call) }),
      };
}
