/** The calls of one answer: those that may run do, side by side, and what has to be waited for becomes a gate. */
import { randomUUIDv7 } from "node:crypto";
import {
  type Doubt,
  MAX_DOUBTS,
  type QuestionOutcome,
  redact,
  refuseQuestions,
} from "../../../kernel/kit.ts";
import {
  type CallOutcome,
  Fault,
  type Gate,
  type Mask,
  type OwnOutcome,
  type ToolCall,
  type ToolOutcome,
  type TurnEvent,
  type TurnItem,
} from "../../../kernel/plugin.ts";
import type { TurnObserver } from "../live/observer.ts";
import { takeImages } from "../threads/attachments/stored.ts";
import type { Ending } from "../threads/ending.ts";
import type { RequiredTools } from "../threads/required-tools.ts";
import type { Approved } from "../threads/resume.ts";
import type { PendingCall } from "../threads/thread-row.ts";
import type { TurnWriter } from "../threads/writing/writer.ts";
import type { Plan, PlannedOutcome, Toolbox } from "./toolbox.ts";
import { unanswerable, unasked } from "./unattended.ts";

export interface Settling {
  readonly writer: TurnWriter;
  readonly toolbox: Toolbox;
  readonly mask: Mask;
  readonly signal: AbortSignal;
  readonly observer: Pick<TurnObserver, "calling">;
  readonly required: RequiredTools;
  /** True: calls of the caller's functions surface together. */
  readonly together: boolean;
  /** True: nobody is there to be asked. */
  readonly unattended: boolean;
  /** The calls that the user has just allowed. */
  readonly approved: Approved | undefined;
  /** The outcome of a call that the request does not allow. */
  refuse(call: ToolCall): ToolOutcome | undefined;
  emit(event: TurnEvent): void;
}

interface Planned {
  readonly call: ToolCall;
  readonly plan: Plan;
  /** Set for a call that has begun and asked something. */
  readonly asked?: QuestionOutcome;
}

interface Waiting extends Planned {
  readonly outcome: ToolOutcome | QuestionOutcome | undefined;
}

export function itemOf(call: ToolCall, external: boolean): TurnItem {
  return { type: "tool_call", id: randomUUIDv7(), call, external };
}

/** Runs the calls that may run, side by side, and returns the gate where one has to wait. */
export async function settle(run: Settling, calls: readonly PendingCall[]): Promise<Ending | undefined> {
  if (calls.length === 0) return undefined;
  const { toolbox } = run;
  const planned = await Promise.all(calls.map((call) => planCall(run, call)));
  // What is refused at once never surfaces, but the model has to see what it did wrong.
  for (const { call, plan } of planned)
    if (plan.type === "refuse" && toolbox.isExternal(call.name)) run.writer.hold(itemOf(call, false));
  // All of them end before the turn does, so that none writes into a turn that is closed.
  const settled = await Promise.allSettled(planned.map((each) => perform(run, each)));
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
    .map((each, at) => ({ ...each, outcome: outcomes[at] }))
    .filter(({ outcome }) => outcome === undefined || isOpen(outcome));
  const [first] = waiting.toSorted((a, b) => rank(a) - rank(b));
  if (first === undefined) return undefined;
  const surfacing = alongside(first, waiting, run.together);
  if (first.plan.type === "external") for (const { call } of surfacing) run.writer.hold(itemOf(call, true));
  return {
    status: "waiting",
    gate: openGate(run.writer, first, surfacing.slice(1)),
    pending: waiting.filter((other) => !surfacing.includes(other)).map(pendingOf),
    required: run.required.carry(),
  };
}

async function planCall(
  { toolbox, approved, refuse, unattended }: Settling,
  { asked, ...call }: PendingCall,
): Promise<Planned> {
  if (asked) {
    const { fingerprint, ...question } = asked;
    const plan: Plan = { type: "ask", grants: [], ...(fingerprint !== undefined && { fingerprint }) };
    return { call, plan, asked: { status: "question", ...question } };
  }
  const outcome = refuse(call);
  if (outcome !== undefined) return { call, plan: { type: "refuse", outcome } };
  // A model may give two calls one id: what was allowed is this call with these params.
  const isApproved = approved?.calls.some(
    ({ id, name, params }) => id === call.id && name === call.name && params === call.params,
  );
  const plan = await toolbox.plan(call, isApproved ? approved : undefined);
  return { call, plan: unattended && plan.type === "ask" ? unasked(call, plan) : plan };
}

/** What surfaces with the first: all calls of the caller's functions, or calls of one tool that one answer is for. */
function alongside(first: Waiting, waiting: readonly Waiting[], together: boolean): readonly Waiting[] {
  if (first.plan.type === "external") return together ? waiting : [first];
  if (doubtsOf(first).length === 0 || first.outcome !== undefined) return [first];
  const surfacing = [first];
  let count = doubtsOf(first).length;
  for (const other of waiting) {
    const isAlike = other.call.name === first.call.name && other.outcome === undefined;
    const more = doubtsOf(other).length;
    // No more than a person can read: the rest is asked about afterwards.
    if (other === first || !isAlike || more === 0 || count + more > MAX_DOUBTS) continue;
    surfacing.push(other);
    count += more;
  }
  return surfacing;
}

function doubtsOf({ plan }: Planned): readonly Doubt[] {
  return plan.type === "ask" ? (plan.doubts ?? []) : [];
}

/** A call that has asked something does not begin anew when its turn comes. */
function pendingOf({ call, plan, outcome }: Waiting): PendingCall {
  if (outcome?.status !== "question") return call;
  const { status: _, ...question } = outcome;
  return { ...call, asked: { ...question, ...aboutTool(plan) } };
}

/**
 * A server that asked something waits for the answer, so it comes first. An external call waits for the caller, who
 * cannot answer the other gates: it comes last.
 */
function rank({ plan, outcome }: Waiting): number {
  return outcome?.status === "question" ? 0 : plan.type === "external" ? 2 : 1;
}

type Open = Extract<CallOutcome, { status: "unauthenticated" | "question" }>;

/** It lacks a credential, or asks something: the call waits at a gate. */
function isOpen(outcome: CallOutcome): outcome is Open {
  return outcome.status === "unauthenticated" || outcome.status === "question";
}

/** The outcome of a call that could be made; undefined where someone has to be waited for. */
async function perform(run: Settling, { call, plan, asked }: Planned): Promise<Waiting["outcome"]> {
  if (plan.type === "ask" || plan.type === "external") return asked;
  const { writer, emit, signal, mask } = run;
  const item = randomUUIDv7();
  const begun = performance.now();
  emit({ type: "tool_started", item, call });
  if (plan.type === "run" && plan.writes && !(await writer.markWrote()))
    throw new Fault("turn", "thread_deleted", "The thread was deleted while the turn ran.");
  const observed = run.observer.calling(call);
  const answered = askable(
    plan.type === "refuse"
      ? plan.outcome
      : await unlessAborted((stop) => plan.run(stop, observed.trace), signal),
  );
  const ended = run.unattended ? unanswerable(call, answered) : answered;
  observed.ended(ended);
  // Not finished: the gate that follows names the call.
  if (ended.status === "question") return ended;
  const { outcome, images, origins } = withoutExtras(ended, mask);
  const attachments = images.map(({ attachment }) => attachment);
  const told = { item, call, outcome, ...(attachments.length > 0 && { attachments }) };
  if (!isOpen(outcome)) {
    writer.attach(images);
    const { item: id, ...result } = { ...told, call: call.id };
    await writer.put({ type: "tool_result", id, ...result, ...(origins.length > 0 && { origins }) });
  }
  emit({ type: "tool_finished", ...told, millis: Math.round(performance.now() - begun) });
  return outcome;
}

/** A server that asks what nobody can be asked has failed its call. */
function askable(outcome: PlannedOutcome): PlannedOutcome {
  const wrong = outcome.status === "question" ? refuseQuestions(outcome.questions) : undefined;
  if (wrong === undefined) return outcome;
  const message = `The server behind the tool has a question that cannot be put to the user: ${wrong}.`;
  return { status: "error", code: "question_refused", message };
}

/** What is stored and told of an outcome, and the images beside it; without a secret that it may have quoted. */
function withoutExtras(ended: Exclude<PlannedOutcome, QuestionOutcome>, mask: Mask) {
  const {
    attached = [],
    structured: _,
    origins = [],
    ...outcome
  }: Exclude<CallOutcome, QuestionOutcome> & OwnOutcome = ended;
  if (outcome.status !== "ok")
    return { outcome: { ...outcome, message: redact(mask, outcome.message) }, images: [], origins };
  const { kept: images, notes } = takeImages(attached);
  const output = [redact(mask, outcome.output), ...notes].filter((part) => part !== "").join("\n");
  return { outcome: { ...outcome, output }, images, origins };
}

/** A call that does not end when told to is left behind; one that has not begun by then is not made. */
async function unlessAborted(
  run: (signal: AbortSignal) => Promise<PlannedOutcome>,
  signal: AbortSignal,
): Promise<PlannedOutcome> {
  const { promise, resolve } = Promise.withResolvers<PlannedOutcome>();
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

function aboutTool(plan: Plan): { readonly fingerprint?: string } {
  const { fingerprint } = { fingerprint: undefined, ...plan };
  return fingerprint === undefined ? {} : { fingerprint };
}

function openGate(writer: TurnWriter, first: Waiting, others: readonly Waiting[]): Gate {
  const { call, plan, outcome } = first;
  const base = {
    id: randomUUIDv7(),
    turn: writer.id,
    thread: writer.thread,
    openedAt: new Date().toISOString(),
  };
  const about = aboutTool(plan);
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
  const beside = others.length > 0 && { others: others.map((other) => other.call) };
  if (plan.type !== "ask") return { ...base, type: "external_tool", call, ...beside };
  const doubts = [...doubtsOf(first), ...others.flatMap(doubtsOf)];
  const why = doubts.length > 0 && { doubts };
  return { ...base, type: "approval", call, grants: plan.grants, ...why, ...beside, ...about };
}
