/** The gate a thread waits at, and the requests that it does not let through. */
import { whyHeld } from "../../../kernel/kit/display.ts";
import type { Gate, TurnRecord } from "../../../kernel/plugin.ts";
import type { SaidItem } from "../parse/items.ts";
import type { WireError } from "../wire/format.ts";
import { invalid } from "../wire/refusal.ts";
import type { Ask } from "./ask.ts";
import { callsOf } from "./history.ts";

/** The page where a person opens the gates that a program cannot. */
export type PageOf = (thread: string) => string;

/** Tells a program that a person is needed, and where. */
export function gateError(gate: PersonsGate, pageOf: PageOf): WireError {
  const [code, need] = needOf(gate);
  const then = `${pageOf(gate.thread)} or on another channel, then continue the thread.`;
  return { type: "invalid_request_error", code, message: `The tool "${gate.call.name}" ${need} at ${then}` };
}

type PersonsGate = Exclude<Gate, { type: "external_tool" }>;

function needOf(gate: PersonsGate): readonly [code: string, need: string] {
  switch (gate.type) {
    case "approval": {
      const why = whyHeld(gate);
      const because = why === "" ? "" : ` (${why})`;
      const need = `needs approval, which this API cannot ask for${because}. Approve or deny it`;
      return ["approval_required", need];
    }
    case "authentication": {
      const need = `needs the credential "${gate.secret}", which this API cannot ask for. Provide it`;
      return ["authentication_required", need];
    }
    case "question":
      return ["question_pending", "has a question for a person, which this API cannot ask. Answer it"];
  }
}

export const pendingOf = (record: TurnRecord | undefined): ReadonlySet<string> =>
  new Set(record && callsOf(record).map(({ id }) => id));

/** A gate for a person fails the turn that would continue beside it; a pending call refuses the request. */
export function refuseGate(gate: Gate, ask: Ask, pageOf: PageOf): WireError | undefined {
  if (gate.type !== "external_tool") return ask.outputs.length > 0 ? undefined : gateError(gate, pageOf);
  if (ask.outputs.length === 0 && ask.history.length === 0) throw outputExpected([gate.call.id]);
  return undefined;
}

const outputExpected = (calls: readonly string[]) =>
  invalid(
    "input",
    "tool_output_expected",
    `The thread is waiting for the output of call "${calls.join('", "')}". Send it as a function_call_output item first, then the message in a new request.`,
  );

export function refuseUnanswered({ outputs, history }: Ask, pending: ReadonlySet<string>): void {
  const answers = [...outputs, ...history].filter((item) => item.type === "function_call_output");
  const answered = new Set(answers.map(({ call }) => call));
  const missing = [...pending].filter((call) => !answered.has(call));
  if (missing.length > 0) throw outputExpected(missing);
}

/** An output must belong to a pending call, or to one that came with it. */
export function refuseStray(items: readonly SaidItem[], pending: ReadonlySet<string>): void {
  const known = new Set(pending);
  for (const [index, item] of items.entries()) {
    if (item.type === "function_call") known.add(item.call);
    if (item.type === "function_call_output" && !known.has(item.call))
      throw invalid(
        `input[${index}].call_id`,
        pending.size > 0 ? "call_id_mismatch" : "no_pending_call",
        `"input[${index}].call_id": the previous response has no call "${item.call}".`,
      );
  }
}

export function refuseResume(gate: Gate | undefined, { outputs }: Ask): void {
  if (gate?.type !== "external_tool") {
    const instead = gate
      ? ` It is waiting for something else (${gate.type}), which must be resolved first.`
      : "";
    throw invalid("input", "no_pending_call", `The thread has no pending function call.${instead}`);
  }
  const other = outputs.findIndex(({ call }, index) => call !== gate.call.id || index > 0);
  if (other === -1) return;
  const message = `"input[${other}].call_id" does not match: the pending function call is "${gate.call.id}".`;
  throw invalid(`input[${other}].call_id`, "call_id_mismatch", message);
}
