/** The completion of a job. */

import { whyHeld } from "../../../kernel/kit/display.ts";
import { isIdentity } from "../../../kernel/kit/people.ts";
import { answerText } from "../../../kernel/kit/turns.ts";
import { type Failure, Fault, type TurnRecord } from "../../../kernel/plugin.ts";

export interface Completion {
  readonly response?: string;
  readonly error?: Failure;
}

export const PAIRING_DENIED = {
  code: "pairing_denied",
  message: "The operator did not pair this user with an account, so the message was not run.",
};

export const CANCELLED = { code: "cancelled", message: "The job was cancelled." };

export const STOPPED: Completion = { error: CANCELLED, response: "Stopped." };

export function failure(error: Failure): Completion {
  return { error, response: `This failed: ${error.message}` };
}

export function refusal(error: unknown): Completion {
  return failure(
    error instanceof Fault
      ? { code: error.code, message: error.message }
      : { code: "internal", message: "Something went wrong in the service; the log has the details." },
  );
}

const NEEDS = {
  approval: ["approval_required", "needs an approval"],
  authentication: ["authentication_required", "needs a credential"],
  question: ["question_pending", "has a question for a person"],
} as const;

export function completionOf(record: TurnRecord): Completion {
  if (record.status === "cancelled") return STOPPED;
  // Calls of the caller's functions are an answer too: whoever gave the job reads them from its turn.
  if (record.gate?.type === "external_tool") return { response: answerText(record) };
  if (record.gate !== undefined && record.status === "waiting") {
    const { call, type } = record.gate;
    const [code, what] = NEEDS[type];
    const why = type === "approval" ? whyHeld(record.gate) : "";
    const because = why === "" ? "" : ` (${why})`;
    return failure({
      code,
      message: `The tool ${call.name} ${what}${because}. ${whereToAnswer(record.user)}`,
    });
  }
  if (record.error !== undefined) return failure(record.error);
  return { response: answerText(record) };
}

function whereToAnswer(user: string): string {
  return isIdentity(user)
    ? "An operator can answer it in the web UI, on the page Webhooks."
    : "Answer it in the web UI or the terminal; the conversation is waiting there.";
}
