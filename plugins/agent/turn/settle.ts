/** The calls of one answer: those that may run do, side by side, and what has to be waited for becomes a gate. */

import { randomUUIDv7 } from "node:crypto";
import type { CallOutcome, InnerCall, QuestionOutcome } from "../../../host/services.ts";
import { MAX_DOUBTS, refuseQuestions, whyHeld } from "../../../kernel/kit/display.ts";
import { redact } from "../../../kernel/kit/secrets.ts";
import { summarise } from "../../../kernel/kit/tools.ts";
import type { Doubt } from "../../../kernel/kit/turns.ts";
import {
  Fault,
  type Gate,
  type Mask,
  type ToolCall,
  type ToolOutcome,
  type TurnEvent,
  type TurnItem,
  type Usage,
} from "../../../kernel/plugin.ts";
import type { TurnObserver } from "../live/observer.ts";
import type { OwnOutcome } from "../services.ts";
import { takeImages } from "../threads/attachments/stored.ts";
import type { Ending } from "../threads/end.ts";
import type { RequiredTools } from "../threads/required-tools.ts";
import type { Approved } from "../threads/resume.ts";
import type { PendingCall } from "../threads/thread-row.ts";
import type { RunningWriter } from "../threads/writing/writer.ts";
import { createInnerCalls } from "./inner-calls.ts";
import type { Plan, PlannedOutcome, Toolbox } from "./toolbox.ts";

export interface Settling {
  readonly writer: RunningWriter;
  readonly toolbox: Toolbox;
  readonly mask: Mask;
  readonly signal: AbortSignal;
  readonly observer: Pick<TurnObserver, "calling">;
  readonly required: RequiredTools;
  /** True: calls of the caller's functions surface together. */
  readonly together: boolean;
  readonly unattended: boolean;
  readonly approved: Approved | undefined;
  /** Counts what other turns used for a call. */
  addUsage(usage: Usage): void;
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

interface WaitingCall extends Planned {
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
  // A call that is refused at once never surfaces, but the model has to see what it did wrong.
  for (const { call, plan } of planned)
    if (plan.type === "refuse" && toolbox.isExternal(call.name)) run.writer.hold(itemOf(call, false));
  // All of them end before the turn does, so that none writes into a turn that is closed.
  const settled = await Promise.allSettled(planned.map((each) => perform(run, each)));
  const outcomes = settled.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
  run.signal.throwIfAborted();
  const waiting: WaitingCall[] = [];
  for (const [at, each] of planned.entries()) {
    const outcome = outcomes[at];
    if (outcome && !isOpen(outcome)) run.required.settled(each.call.name, outcome);
    else waiting.push({ ...each, outcome });
  }
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
    const plan: Plan = { type: "ask", grants: [], fingerprint };
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

/** Returns the calls that surface with the first: all calls of the caller's functions, or calls of one tool that one answer is for. */
function alongside(
  first: WaitingCall,
  waiting: readonly WaitingCall[],
  together: boolean,
): readonly WaitingCall[] {
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
function pendingOf({ call, plan, outcome }: WaitingCall): PendingCall {
  if (outcome?.status !== "question") return call;
  const { status: _, ...question } = outcome;
  return { ...call, asked: { ...question, fingerprint: fingerprintIn(plan) } };
}

/** A server that asked waits, so it comes first; the caller of an external call cannot answer others, so it comes last. */
function rank({ plan, outcome }: WaitingCall): number {
  return outcome?.status === "question" ? 0 : plan.type === "external" ? 2 : 1;
}

type Open = Extract<CallOutcome, { status: "unauthenticated" | "question" }>;

/** It lacks a credential, or asks something: the call waits at a gate. */
function isOpen(outcome: CallOutcome): outcome is Open {
  return outcome.status === "unauthenticated" || outcome.status === "question";
}

/** The outcome of a call that could be made; undefined where someone has to be waited for. */
async function perform(run: Settling, { call, plan, asked }: Planned): Promise<WaitingCall["outcome"]> {
  if (plan.type === "ask" || plan.type === "external") return asked;
  const { writer, emit, signal, mask } = run;
  const item = randomUUIDv7();
  const begun = performance.now();
  const words = run.toolbox.words(call.name);
  emit({ type: "tool_started", item, call, ...(words && { summary: summarise(words, call) }) });
  if (plan.type === "run") await markWrite(run, plan);
  const observed = run.observer.calling(call);
  const onPreparing = (isPreparing: boolean) =>
    emit({
      type: "notice",
      ...(isPreparing
        ? { code: "tools_getting_ready", message: `Preparing ${call.name}` }
        : { code: "tools_ready", message: `${call.name} is ready.` }),
      call: call.id,
    });
  const within = { trace: observed.trace, innerCall: innerCalls(run), onPreparing };
  const answered = askable(
    plan.type === "refuse" ? plan.outcome : await unlessAborted((stop) => plan.run(stop, within), signal),
  );
  const ended = run.unattended ? unanswerable(call, answered) : answered;
  observed.ended(ended);
  // Not finished: the gate that follows names the call.
  if (ended.status === "question") return ended;
  const { outcome, images, origins, usage, change } = withoutExtras(ended, mask);
  if (usage) run.addUsage(usage);
  const attachments = images.map(({ attachment }) => attachment);
  const told = {
    outcome,
    ...(attachments.length > 0 && { attachments }),
    ...(words && { summary: summarise(words, call, outcome, change) }),
    ...(change && { change }),
  };
  if (!isOpen(outcome)) {
    writer.attach(images);
    const known = origins.length > 0 && { origins };
    await writer.put({ type: "tool_result", id: item, call: call.id, ...told, ...known });
  }
  emit({ type: "tool_finished", item, call, ...told, millis: Math.round(performance.now() - begun) });
  return outcome;
}

async function markWrite({ writer }: Settling, { writes }: Extract<Plan, { type: "run" }>): Promise<void> {
  if (writes && !(await writer.markWrote()))
    throw new Fault("turn", "thread_deleted", "The thread was deleted while the turn ran.");
}

/** For calls that a tool makes inside of its own: what is asked of the model's calls is asked of them. */
function innerCalls(run: Settling): InnerCall {
  const { toolbox, mask, observer, required } = run;
  return createInnerCalls({
    async plan(call) {
      const outcome = run.refuse(call);
      return outcome ? { type: "refuse", outcome } : toolbox.plan(call, undefined, true);
    },
    async run(call, plan, { parent, signal }) {
      await markWrite(run, plan);
      const observed = observer.calling(call);
      const outcome = await unlessAborted(
        (stop) => plan.run(stop, { trace: observed.trace, parent }),
        signal,
      );
      observed.ended(outcome);
      if (!isOpen(outcome)) required.settled(call.name, outcome);
      return outcome;
    },
    hear: toolbox.hear,
    hide: (text) => redact(mask, text),
  });
}

/** A server that asks what nobody can be asked has failed its call. */
function askable(outcome: PlannedOutcome): PlannedOutcome {
  const wrong = outcome.status === "question" ? refuseQuestions(outcome.questions) : undefined;
  if (wrong === undefined) return outcome;
  const message = `The server behind the tool has a question that cannot be put to the user: ${wrong}.`;
  return { status: "error", code: "question_refused", message };
}

/** In a turn that nobody watches, a call that needs an approval is not made, and the model is told so. */
function unasked({ name }: ToolCall, plan: Extract<Plan, { type: "ask" }>): Plan {
  const why = whyHeld(plan);
  const message = `The tool ${name} needs a person's approval${why === "" ? "" : ` (${why})`}.`;
  return { type: "refuse", outcome: needed("approval_required", message) };
}

/** The same for a call that lacks a credential, or asked something. */
function unanswerable({ name }: ToolCall, outcome: PlannedOutcome): PlannedOutcome {
  if (outcome.status === "unauthenticated")
    return needed("authentication_required", `The tool ${name} needs the credential "${outcome.secret}".`);
  if (outcome.status === "question")
    return needed("question_required", `The server behind the tool ${name} has a question for a person.`);
  return outcome;
}

function needed(code: string, what: string): Extract<ToolOutcome, { status: "error" }> {
  const message = `${what} Nobody is there now, so the call was not made. The user is told afterwards. Do not try it again; do what is possible without it, and say what is missing.`;
  return { status: "error", code, message };
}

/** Splits an outcome into what is stored and reported, without a secret that it may have quoted, and the images beside it. */
function withoutExtras(ended: Exclude<PlannedOutcome, QuestionOutcome>, mask: Mask) {
  const {
    attached = [],
    structured: _,
    origins = [],
    usage,
    change: shown,
    ...outcome
  }: Exclude<CallOutcome, QuestionOutcome> & OwnOutcome = ended;
  const change = shown && { ...shown, lines: shown.lines.map((line) => redact(mask, line)) };
  if (outcome.status !== "ok")
    return { outcome: { ...outcome, message: redact(mask, outcome.message) }, images: [], origins, usage };
  const { kept: images, notes } = takeImages(attached);
  const output = [redact(mask, outcome.output), ...notes].filter((part) => part !== "").join("\n");
  return { outcome: { ...outcome, output }, images, origins, usage, change };
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

function fingerprintIn(plan: Plan): string | undefined {
  return "fingerprint" in plan ? plan.fingerprint : undefined;
}

function openGate(writer: RunningWriter, first: WaitingCall, others: readonly WaitingCall[]): Gate {
  const { call, plan, outcome } = first;
  const openedAt = new Date().toISOString();
  const base = { id: randomUUIDv7(), turn: writer.id, thread: writer.thread, openedAt };
  const fingerprint = fingerprintIn(plan);
  if (outcome?.status === "unauthenticated") {
    const { secret, message } = outcome;
    return { ...base, type: "authentication", call, secret, message, fingerprint };
  }
  if (outcome?.status === "question") {
    const { server, questions, resume } = outcome;
    return { ...base, type: "question", call, server, questions, resume, fingerprint };
  }
  const beside = others.length > 0 && { others: others.map((other) => other.call) };
  if (plan.type !== "ask") return { ...base, type: "external_tool", call, ...beside };
  const doubts = [...doubtsOf(first), ...others.flatMap(doubtsOf)];
  const why = doubts.length > 0 && { doubts };
  const { grants, covers, steps, offer } = plan;
  const more = { ...(steps && { steps: [...steps] }), ...(offer && others.length === 0 && { offer }) };
  return { ...base, type: "approval", call, grants, ...why, ...more, ...beside, fingerprint, covers };
}
