/** What answers a gate. */

import { ApprovalDecision } from "../../../kernel/kit.ts";
import type { Gate, TurnInput } from "../../../kernel/plugin.ts";
import { decline, type Form, repliesOf } from "./question-form.ts";

export function isAnswer(input: TurnInput, gate: Gate): boolean {
  if (input.type === "message") return false;
  if (input.type === "tool_outputs") return input.outputs.some(({ call }) => call === gate.call.id);
  return input.type === "tool_output" ? input.call === gate.call.id : input.gate === gate.id;
}

export function inputOf(gate: Gate, decision: string, form: Form = { values: [] }): TurnInput {
  if (gate.type === "question")
    return {
      type: "question",
      gate: gate.id,
      replies: decision === "accept" ? repliesOf(gate, form) : decline(gate),
    };
  return gate.type === "authentication"
    ? { type: "authentication", gate: gate.id, decision: decision === "done" ? "done" : "deny" }
    : {
        type: "approval",
        gate: gate.id,
        decision: ApprovalDecision.enum.find((one) => one === decision) ?? "deny",
      };
}
