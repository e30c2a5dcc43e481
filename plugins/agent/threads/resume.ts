/** Begins a turn with a message, or with the answer to the gate that its thread waits at. Refused before it starts. */
import { randomUUIDv7 } from "node:crypto";
import { agreedRule, mistakeInReplies } from "../../../kernel/kit/display.ts";
import type { Doubt, ParamRule } from "../../../kernel/kit/turns.ts";
import {
  type Attachment,
  Fault,
  type Gate,
  type Reply,
  type ToolCall,
  type ToolOutcome,
  type TurnInput,
  type TurnItem,
} from "../../../kernel/plugin.ts";
import type { Turn } from "../services.ts";
import { type Carried, createRequiredTools, NOTHING_REQUIRED } from "./required-tools.ts";
import type { PendingCall, ThreadRow } from "./thread-row.ts";

type ApprovalGate = Extract<Gate, { type: "approval" }>;

export interface Beginning {
  /** Items that the answer adds to the thread before the model is asked. */
  readonly items: readonly TurnItem[];
  readonly pending: readonly PendingCall[];
  readonly approved: Approved | undefined;
  /** Tools that must not fail, and how their last calls ended. */
  readonly required: Carried;
  readonly remember: { readonly tool: string; readonly fingerprint: string } | undefined;
  /** The gate that also says what later calls may do, although somebody else named it. */
  readonly trusted: Trusted | undefined;
}

export interface Trusted {
  readonly gate: ApprovalGate;
  /** What they may do by this rule; without one, go to its destinations. */
  readonly rule?: ParamRule;
}

/** The calls that the user has just allowed, of the tool that was there when they were asked. */
export interface Approved {
  readonly calls: readonly ToolCall[];
  readonly fingerprint: string | undefined;
  /** The doubts that they were told about these calls. */
  readonly doubts?: readonly Doubt[];
  /** If the call has begun and asked something, their reply to that. */
  readonly reply?: { readonly resume: string; readonly replies: readonly Reply[] };
}

/** Of a message that answers nothing. */
export const PLAIN: Beginning = {
  items: [],
  pending: [],
  approved: undefined,
  required: NOTHING_REQUIRED,
  remember: undefined,
  trusted: undefined,
};

/** A message that says nothing and brings nothing. */
export const isBlank = ({ input, preamble }: Turn): boolean =>
  input.type === "message" &&
  input.text.trim() === "" &&
  !input.attachments?.length &&
  !preamble?.history?.length;

export function beginningOf(turn: Turn, thread: ThreadRow | undefined): Beginning {
  const { input } = turn;
  if (thread !== undefined && turn.after === undefined && turn.preamble?.history?.length)
    throw invalid(
      "history_on_thread",
      "Earlier items can only be added to a new thread, or after a turn that is named.",
      "history",
    );
  if (input.type === "message") {
    if (isBlank(turn)) throw invalid("empty_message", "The message is empty.", "message");
    if (thread?.gate !== undefined && unanswered(turn, thread.gate).length > 0)
      throw gatePending(thread.gate);
    return PLAIN;
  }
  if (input.type === "tool_output") return answered(turn, { outputs: [input] }, thread);
  if (input.type === "tool_outputs") return answered(turn, input, thread);
  const gate = thread?.gate;
  if (gate?.type !== input.type || gate.id !== input.gate)
    throw invalid(
      "no_such_gate",
      "The thread is not waiting for this answer; it may already have been given.",
      "gate",
    );
  const { pending, required } = thread as ThreadRow;
  if (input.type === "question") {
    const { call, fingerprint, questions, resume } = gate as Extract<Gate, { type: "question" }>;
    const mistake = mistakeInReplies(questions, input.replies);
    if (mistake) throw invalid(mistake.code, mistake.message, mistake.param);
    return {
      ...PLAIN,
      pending: [call, ...pending],
      approved: { calls: [call], fingerprint, reply: { resume, replies: input.replies } },
      required,
    };
  }
  const calls = [gate.call, ...(gate.type === "approval" ? (gate.others ?? []) : [])];
  if (input.decision === "deny") {
    const message =
      input.type === "approval"
        ? "The user did not allow this call. Do not try it again unless asked to."
        : "The credential is missing and the user did not provide it.";
    const outcome: ToolOutcome = { status: "error", code: "denied", message };
    return {
      ...PLAIN,
      items: calls.map(({ id }) => settledItem(id, outcome)),
      pending,
      required: afterAnswer(required, gate.call, outcome),
    };
  }
  const { call, fingerprint } = gate;
  return {
    ...PLAIN,
    pending: [...calls, ...pending],
    approved: { calls, fingerprint, doubts: gate.type === "approval" ? gate.doubts : undefined },
    required,
    remember:
      input.decision === "always" && fingerprint !== undefined ? { tool: call.name, fingerprint } : undefined,
    trusted: input.type === "approval" ? trustedBy(input, gate) : undefined,
  };
}

/**
 * All calls that surfaced together are answered together, by the outputs or in the history that comes with them; what the
 * person says besides comes after. A caller that replays everything answers calls of the history it brings.
 */
function answered(
  turn: Turn,
  { outputs, text, attachments }: Omit<Extract<TurnInput, { type: "tool_outputs" }>, "type">,
  thread: ThreadRow | undefined,
): Beginning {
  const gate = thread?.gate?.type === "external_tool" ? thread.gate : undefined;
  const expected = gate ? unanswered(turn, gate) : [];
  const brought = (turn.preamble?.history ?? []).flatMap((item) =>
    item.type === "tool_call" ? [item.call.id] : [],
  );
  const known = new Set([...expected.map(({ id }) => id), ...brought]);
  if (known.size === 0)
    throw invalid(
      "no_external_tool_gate",
      thread ? "The thread has no pending tool call." : "There is no call with this call_id.",
      "call_id",
    );
  const given = new Set(outputs.map(({ call }) => call));
  const missing = expected.find(({ id }) => !given.has(id));
  if (outputs.some(({ call }) => !known.has(call)) || given.size < outputs.length) {
    const calls = expected.map(({ id }) => id).join(", ");
    throw gate
      ? invalid("call_mismatch", `The pending calls of this thread are ${calls}.`, "call_id")
      : invalid("no_external_tool_gate", "There is no call with this call_id.", "call_id");
  }
  if (missing !== undefined)
    throw invalid("call_mismatch", `The output of the pending call ${missing.id} is missing.`, "call_id");
  const items: TurnItem[] = outputs.map(({ call, output, attachments }) =>
    settledItem(call, { status: "ok", output }, attachments),
  );
  if (text !== undefined || attachments !== undefined)
    items.push({ type: "message", id: randomUUIDv7(), role: "user", text: text ?? "", attachments });
  return {
    ...PLAIN,
    items,
    pending: thread?.pending ?? [],
    required: expected.reduce(
      (required, call) => afterAnswer(required, call, { status: "ok", output: "" }),
      thread?.required ?? NOTHING_REQUIRED,
    ),
  };
}

/** The calls at a gate that the history brought along does not answer. */
function unanswered({ preamble }: Turn, gate: Gate): readonly ToolCall[] {
  const others = gate.type === "external_tool" ? (gate.others ?? []) : [];
  return [gate.call, ...others].filter(
    ({ id }) =>
      gate.type !== "external_tool" ||
      !preamble?.history?.some((item) => item.type === "tool_result" && item.call === id),
  );
}

export function gatePending(gate: Gate): Fault {
  const what = {
    approval: `the tool ${gate.call.name} is waiting for approval`,
    authentication: `the tool ${gate.call.name} is waiting for a credential`,
    question: `the tool ${gate.call.name} is waiting for an answer to its question`,
    external_tool: `it is waiting for the output of call ${gate.call.id}`,
  }[gate.type];
  return invalid("gate_pending", `The thread is paused: ${what}. Answer that first.`, "thread");
}

function trustedBy(
  { decision, limit }: Extract<TurnInput, { type: "approval" }>,
  gate: Gate,
): Trusted | undefined {
  if (gate.type !== "approval" || (decision !== "destination" && decision !== "rule")) return undefined;
  if (decision === "destination") {
    if (gate.doubts?.some(({ rule }) => rule === "destination")) return { gate };
    throw invalid("no_destination", "This question is not about a destination.", "decision");
  }
  if (gate.offer === undefined) throw invalid("no_rule", "This question offers no rule.", "decision");
  const rule = agreedRule(gate.offer, limit);
  if (rule) return { gate, rule };
  throw invalid("bad_limit", "Type the limit as a number, such as 20 or 19.99.", "limit");
}

function settledItem(call: string, outcome: ToolOutcome, attachments?: readonly Attachment[]): TurnItem {
  return { type: "tool_result", id: randomUUIDv7(), call, outcome, attachments };
}

/** The answer at a gate is the outcome of its call. */
function afterAnswer(before: Carried, call: ToolCall, outcome: ToolOutcome): Carried {
  const required = createRequiredTools(before);
  required.settled(call.name, outcome);
  return required.carry();
}

function invalid(code: string, message: string, param: string): Fault {
  return new Fault("invalid", code, message, { param });
}
