/** Refusals of this API: faults that name a field, checks of declarations, and the error envelope. */
import type { TSchema } from "typebox";
import { type ChannelRules, type HttpFault, httpFault } from "../../../kernel/kit/http.ts";
import {
  compileCheck,
  type Declared,
  describeMistake,
  type Mistake,
  wireSchema,
} from "../../../kernel/kit/schema.ts";
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
  codes: { file_too_large: 413, message_too_long: 413, storage_full: 413, conversation_locked: 409 },
};

/** `turnBegan`: clients retry a 5xx on their own, and then the turn would run twice. */
export function refusalOf(error: unknown, turnBegan: boolean): HttpFault {
  const answer = httpFault(error, RESPONSES_RULES);
  if (answer.status < 500 || !turnBegan) return answer;
  return { ...answer, headers: { ...answer.headers, "x-should-retry": "false" } };
}

export function invalid(param: string, code: string, message: string): Fault {
  return new Fault("invalid", code, message, { param });
}

/** The check returns the value itself, now known to have the shape. `at` names where it stands, such as `tools[0]`. */
export function compile<Schema extends TSchema>(declared: Schema) {
  const check = compileCheck(wireSchema(declared));
  return (value: unknown, at?: string): Declared<Schema> => {
    const [mistake] = check(value, at);
    if (mistake !== undefined) throw mistakeFault(mistake);
    return value as Declared<Schema>;
  };
}

export function mistakeFault(mistake: Mistake): Fault {
  const { path } = mistake;
  const message = `${describeMistake(mistake, "The body")}.`;
  if (path === "") return new Fault("invalid", "invalid_body", message);
  // The code has the last name of the path: `tools[0].name` is about a name, and `input[0]` about the input.
  const field = /^[A-Za-z_]+/.exec(path.slice(path.lastIndexOf(".") + 1))?.[0] ?? "field";
  return invalid(path, `invalid_${field}`, message);
}

// An item that is kept or shown again as it was sent is serialized again, which takes a call for each level.
const MAX_LEVELS = 64;

const nestsBeyond = (levels: number, value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => nestsBeyond(levels - 1, inner)));

export function refuseDeep(value: unknown, at: string): void {
  if (nestsBeyond(MAX_LEVELS, value))
    throw invalid(at, "item_too_deep", `"${at}" nests more than ${MAX_LEVELS} levels deep.`);
}
