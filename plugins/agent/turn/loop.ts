/** One turn: the model and its tools take turns until there is text to end with, or a gate to wait at. */
import { randomUUIDv7 } from "node:crypto";
import {
  Fault,
  type Gate,
  type Mask,
  type ToolCall,
  type ToolOutcome,
  type TurnEvent,
  type TurnItem,
} from "../../../kernel/plugin.ts";
import type { ModelPart } from "../models/model.ts";
import { createRedactStream, redact } from "../safety/redact.ts";
import type { TokenCount } from "../spending/cost.ts";
import type { Ending } from "./ending.ts";
import type { RequiredTools } from "./required-tools.ts";
import type { Approved } from "./resume.ts";
import type { Plan, Toolbox } from "./toolbox.ts";
import type { TurnWriter } from "./writer.ts";

export interface LoopRun {
  readonly writer: TurnWriter;
  readonly toolbox: Toolbox;
  readonly mask: Mask;
  readonly signal: AbortSignal;
  readonly maxToolCalls: number;
  readonly required: RequiredTools;
  /** Calls of an earlier answer that this turn has to settle first. */
  readonly pending: readonly ToolCall[];
  /** The call among them that the user has just allowed. */
  readonly approved: Approved | undefined;
  emit(event: TurnEvent): void;
  /** One answer of the model to the thread as it now is. */
  ask(): Promise<AsyncIterable<readonly ModelPart[]>>;
  count(tokens: TokenCount): void;
}

export async function runLoop(run: LoopRun): Promise<Ending> {
  let { pending: calls, approved } = run;
  for (let called = 0; ; ) {
    const gate = await settle({ ...run, approved }, calls);
    // The person's word was about that one call; a later one may bear the same id.
    approved = undefined;
    if (gate !== undefined) return gate;
    run.signal.throwIfAborted();
    calls = await answer(run);
    if (calls.length === 0) {
      run.required.assertNoneFailed();
      return { status: "completed" };
    }
    called += calls.length;
    if (called > run.maxToolCalls)
      throw new Fault(
        "turn",
        "too_many_tool_calls",
        `The model made more than ${run.maxToolCalls} tool calls in one turn, so it was stopped.`,
      );
  }
}

/** Streams one answer and stores it. What was said before a failure is stored too. */
async function answer({ writer, toolbox, mask, emit, ask, count }: LoopRun): Promise<readonly ToolCall[]> {
  const item = randomUUIDv7();
  const redactor = createRedactStream(mask);
  const calls: ToolCall[] = [];
  let text = "";
  const message = () => ({ type: "message", id: item, role: "assistant", text }) as const;
  const say = (...deltas: string[]): void => {
    const spoken = deltas.filter((delta) => delta !== "");
    if (spoken.length === 0) return;
    text += spoken.join("");
    writer.say(item, spoken, (delta) => emit({ type: "text", item, delta }));
  };
  try {
    for await (const parts of await ask()) {
      const deltas: string[] = [];
      for (const part of parts) {
        if (part.type === "text") deltas.push(redactor.push(part.delta));
        else if (part.type === "call") calls.push(ownCall(part.call, calls, mask));
        else if (part.type === "usage") count(part);
      }
      say(...deltas);
    }
  } finally {
    say(redactor.end());
    // Without calls the turn ends here, and its end writes the text along with everything else.
    if (text !== "") writer.hold(message());
  }
  if (calls.length === 0 && text.trim() === "")
    throw new Fault("turn", "empty_answer", "The model returned an empty answer. Try again, or rephrase.");
  // A caller's function is written down when it surfaces: one a round trip (§3.2), the others wait their turn.
  const own = calls.filter(({ name }) => !toolbox.isExternal(name));
  if (calls.length > 0) await writer.put(...own.map((call) => itemOf(call, false)));
  return calls;
}

function itemOf(call: ToolCall, external: boolean): TurnItem {
  return { type: "tool_call", id: randomUUIDv7(), call, external };
}

/** With an id of its own, arguments that are at least an empty object, and no known secret in it. */
function ownCall(call: ToolCall, others: readonly ToolCall[], mask: Mask): ToolCall {
  const isTaken = call.id === "" || others.some(({ id }) => id === call.id);
  return {
    id: isTaken ? `call_${randomUUIDv7().replaceAll("-", "")}` : call.id,
    name: call.name,
    params: call.params.trim() === "" ? "{}" : mask.hide(call.params),
  };
}

/** Runs what may run, side by side; answers the gate where something has to be waited for. */
async function settle(run: LoopRun, calls: readonly ToolCall[]): Promise<Ending | undefined> {
  if (calls.length === 0) return undefined;
  const { toolbox, approved } = run;
  const planned = await Promise.all(
    calls.map(async (call) => ({
      call,
      plan: await toolbox.plan(call, call.id === approved?.call ? approved : undefined),
    })),
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
    // One that lacks a credential has not been made yet: it waits at a gate.
    if (outcome && outcome.status !== "unauthenticated") run.required.settled(call.name, outcome);
  }
  const waiting = planned
    .map(({ call, plan }, at) => ({ call, plan, outcome: outcomes[at] }))
    .filter(({ outcome }) => outcome === undefined || outcome.status === "unauthenticated");
  // An external call waits for the caller, who cannot answer the other gates: those come first.
  const [first] = waiting.toSorted((a, b) => rank(a.plan) - rank(b.plan));
  if (first === undefined) return undefined;
  if (first.plan.type === "external") run.writer.hold(itemOf(first.call, true));
  return {
    status: "waiting",
    gate: openGate(run.writer, first.call, first.plan, first.outcome),
    pending: waiting.map(({ call }) => call).filter((call) => call !== first.call),
    required: run.required.carry(),
  };
}

function rank(plan: Plan): number {
  return plan.type === "external" ? 1 : 0;
}

/** The outcome of a call that could be made; undefined where someone has to be waited for. */
async function perform(run: LoopRun, call: ToolCall, plan: Plan): Promise<ToolOutcome | undefined> {
  if (plan.type === "ask" || plan.type === "external") return undefined;
  const { writer, emit, signal, mask } = run;
  const item = randomUUIDv7();
  const begun = performance.now();
  emit({ type: "tool_started", item, call });
  if (plan.type === "run" && plan.writes && !(await writer.markWrote()))
    throw new Fault("turn", "thread_deleted", "The thread was deleted while the turn ran.");
  const outcome = hideIn(plan.type === "refuse" ? plan.outcome : await unlessAborted(plan.run, signal), mask);
  if (outcome.status !== "unauthenticated")
    await writer.put({ type: "tool_result", id: item, call: call.id, outcome });
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
  run: (signal: AbortSignal) => Promise<ToolOutcome>,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { promise, resolve } = Promise.withResolvers<ToolOutcome>();
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

function openGate(writer: TurnWriter, call: ToolCall, plan: Plan, outcome: ToolOutcome | undefined): Gate {
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
  return plan.type === "ask"
    ? { ...base, type: "approval", call, grants: plan.grants, ...about }
    : { ...base, type: "external_tool", call };
}
