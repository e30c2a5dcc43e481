/**
 * The calls that a tool makes inside of its own, such as code that the model wrote: planned, run and remembered like the model's, except
 * that nobody is asked. What would have to wait for a person is refused with the sentence, and the model can make it openly.
 */
import type { InnerCall, InnerOutcome } from "../../../host/services.ts";
import { whyHeld } from "../../../kernel/kit/display.ts";
import type { Origin } from "../../../kernel/kit/turns.ts";
import { reason, type ToolCall, type ToolOutcome } from "../../../kernel/plugin.ts";
import type { Plan, PlannedOutcome } from "./toolbox.ts";

type Within = Parameters<InnerCall>[1];

export interface InnerParts {
  plan(call: ToolCall): Promise<Plan>;
  /** Makes the call. What it brings besides its text is left out. */
  run(call: ToolCall, plan: Extract<Plan, { type: "run" }>, within: Within): Promise<PlannedOutcome>;
  /** What it said counts from now on. Returns whose words it is. */
  hear(call: ToolCall, outcome: ToolOutcome, origins: readonly Origin[]): readonly Origin[];
  /** Without a secret that it may have quoted. */
  hide(text: string): string;
}

export function createInnerCalls({ plan: planCall, run, hear, hide }: InnerParts): InnerCall {
  let known = "";

  /** What the tool has read in files counts before a call of it is judged. */
  function hearFiles({ parent, origins }: Within): void {
    const now = JSON.stringify(origins);
    if (origins.length > 0 && now !== known)
      hear({ id: parent, name: "", params: "{}" }, { status: "ok", output: "" }, origins);
    known = now;
  }

  async function make(call: ToolCall, within: Within): Promise<InnerOutcome> {
    hearFiles(within);
    const plan = await planCall(call);
    if (plan.type === "refuse") return told(plan.outcome);
    if (plan.type === "external")
      return openly("external_tool", `The tool ${call.name} belongs to the connected app.`);
    if (plan.type === "ask") {
      const why = whyHeld(plan);
      return openly(
        "approval_required",
        `The tool ${call.name} needs the user's approval${why === "" ? "" : ` (${why})`}.`,
      );
    }
    const { origins = [], ...outcome } = { origins: undefined, ...(await run(call, plan, within)) };
    if (outcome.status === "question")
      return openly(
        "question_required",
        `The server behind the tool ${call.name} has a question for the user.`,
      );
    if (outcome.status === "unauthenticated")
      return openly(
        "authentication_required",
        `The tool ${call.name} needs the credential "${outcome.secret}".`,
      );
    return { ...told(outcome), origins: hear(call, outcome, origins) };
  }

  function told(outcome: ToolOutcome): InnerOutcome {
    if (outcome.status === "ok") return { ok: true, output: hide(outcome.output), receipt: outcome.receipt };
    const { message } = outcome;
    const { code, receipt } =
      outcome.status === "error" ? outcome : { code: outcome.status, receipt: undefined };
    return { ok: false, code, message: hide(message), receipt };
  }

  return (call, within) =>
    make(call, within).catch((error) => ({ ok: false, code: "unavailable", message: hide(reason(error)) }));
}

function openly(code: string, what: string): InnerOutcome {
  const message = `${what} Nobody can be asked from inside of another call, so it was not made. Make it openly, as a tool call of its own.`;
  return { ok: false, code, message };
}
