/** A failed turn as an HTTP error. The status decides whether clients try again: after 400 and 403 none does. */
import type { HttpFault } from "../../../kernel/kit/http.ts";
import { Fault, type FaultKind, type TurnRecord } from "../../../kernel/plugin.ts";
import { gateError, type PageOf } from "../resolve/gate.ts";
import type { WireError } from "../wire/format.ts";
import { refusalOf } from "../wire/refusal.ts";

/** A code that is not here belongs to a failure that nobody expected. */
const KINDS: Readonly<Record<string, FaultKind>> = {
  approval_required: "forbidden",
  authentication_required: "forbidden",
  model_not_allowed: "forbidden",
  response_not_found: "missing",
  // Another try would end the same way, or nobody wants it.
  cancelled: "invalid",
  context_length_exceeded: "invalid",
  invalid_format: "invalid",
  model_refused: "invalid",
  required_tool_failed: "invalid",
  thread_deleted: "invalid",
  too_long: "invalid",
  too_many_tool_calls: "invalid",
  unsupported_input: "invalid",
  daily_cap: "limited",
  model_limited: "limited",
  empty_answer: "unavailable",
  interrupted: "unavailable",
  model_cut: "unavailable",
  model_error: "unavailable",
  model_unauthorized: "unavailable",
  model_unreachable: "unavailable",
  store_failed: "unavailable",
  turn_timeout: "unavailable",
};

/** The codes that clients know, and act on. */
const PUBLISHED: Readonly<Record<string, string>> = {
  too_long: "context_length_exceeded",
  // It lasts until tomorrow; after other codes with 429 clients wait a moment and try again.
  daily_cap: "insufficient_quota",
};

const RETRY_AFTER_SECS = 60;

const CANCELLED = { code: "cancelled", message: "The turn was cancelled before the answer was complete." };
const UNKNOWN = { code: "turn_failed", message: "The turn failed." };

/** Undefined when the turn has an answer. `overruled` is an error that the turn does not know. */
export function failureOf(
  record: TurnRecord,
  overruled: WireError | undefined,
  pageOf: PageOf,
): HttpFault | undefined {
  const error = overruled ?? errorIn(record, pageOf);
  return error && failed(error, hasWorked(record));
}

function errorIn(record: TurnRecord, pageOf: PageOf): Omit<WireError, "type"> | undefined {
  if (record.gate && record.gate.type !== "external_tool") return gateError(record.gate, pageOf);
  if (record.status === "cancelled") return CANCELLED;
  return record.status === "failed" ? (record.error ?? UNKNOWN) : undefined;
}

/** True when one of the agent's own tools was called: another try would call it again. */
const hasWorked = ({ items }: TurnRecord): boolean =>
  items.some((item) => item.type === "tool_call" && !item.external);

export function failed({ code, message }: Omit<WireError, "type">, hasWorked = false): HttpFault {
  const usual = KINDS[code] ?? "turn";
  const kind = hasWorked && usual !== "forbidden" ? "invalid" : usual;
  const known = PUBLISHED[code] ?? code;
  const fault = new Fault(kind, known, message, {
    param: known === "context_length_exceeded" ? "messages" : undefined,
    retryAfterSecs: kind === "limited" ? RETRY_AFTER_SECS : undefined,
  });
  const refusal = refusalOf(fault, true);
  return { ...refusal, headers: { ...refusal.headers, "x-should-retry": "false" } };
}
