/** Calls of a turn that nobody watches: what needs a person is not made, and the model is told so. */

import { whyHeld } from "../../../kernel/kit.ts";
import type { ToolCall, ToolOutcome } from "../../../kernel/plugin.ts";
import type { Plan, PlannedOutcome } from "./toolbox.ts";

/** Said of a call that would wait for an approval. */
export function unasked({ name }: ToolCall, plan: Extract<Plan, { type: "ask" }>): Plan {
  const why = whyHeld(plan);
  const message = `The tool ${name} needs a person's approval${why === "" ? "" : ` (${why})`}.`;
  return { type: "refuse", outcome: needed("approval_required", message) };
}

/** Said of a call that lacks a credential, or asked something. */
export function unanswerable({ name }: ToolCall, outcome: PlannedOutcome): PlannedOutcome {
  if (outcome.status === "unauthenticated")
    return needed("authentication_required", `The tool ${name} needs the credential "${outcome.secret}".`);
  if (outcome.status === "question")
    return needed("question_required", `The server behind the tool ${name} has a question for a person.`);
  return outcome;
}

function needed(code: string, what: string): Extract<ToolOutcome, { status: "error" }> {
  return {
    status: "error",
    code,
    message: `${what} Nobody is there now, so the call was not made. The user is told afterwards. Do not try it again; do what is possible without it, and say what is missing.`,
  };
}
