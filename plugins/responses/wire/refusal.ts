/** What this API answers when something went wrong. */
import { type ChannelRules, type HttpFault, httpFault } from "../../../kernel/kit.ts";
import { Fault } from "../../../kernel/plugin.ts";

const RESPONSES_RULES: ChannelRules = {
  largestBody: "14 MiB",
  exceptions: {
    // Standard clients know no other types for these.
    unauthenticated: [401, "invalid_request_error"],
    forbidden: [403, "invalid_request_error"],
    // A 200 is read as a response object; a turn that failed inside one says so there.
    turn: [500, "server_error"],
  },
  codes: { file_too_large: 413, conversation_locked: 409 },
};

/** `turnBegan`: clients retry a 5xx on their own, and then the turn would run twice. */
export function refusalOf(error: unknown, turnBegan: boolean): HttpFault {
  const answer = httpFault(error, RESPONSES_RULES);
  if (answer.status < 500 || !turnBegan) return answer;
  return { ...answer, headers: { ...answer.headers, "x-should-retry": "false" } };
}

/** A refusal of the request itself, naming the field. */
export function invalid(param: string, code: string, message: string): Fault {
  return new Fault("invalid", code, message, { param });
}
