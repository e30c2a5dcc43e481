/** One table from kind of fault to the wire, and the envelope every refusal of this API comes in. */
import { Fault, type FaultKind } from "../../kernel/plugin.ts";

export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

const TABLE: Readonly<Record<FaultKind, { readonly status: number; readonly type: string }>> = {
  invalid: { status: 400, type: "invalid_request_error" },
  unauthenticated: { status: 401, type: "invalid_request_error" },
  forbidden: { status: 403, type: "invalid_request_error" },
  missing: { status: 404, type: "not_found_error" },
  limited: { status: 429, type: "rate_limit_error" },
  unavailable: { status: 503, type: "server_error" },
  turn: { status: 500, type: "server_error" },
  config: { status: 500, type: "server_error" },
};

/** `turnBegan`: clients retry a 5xx by themselves, and then the turn would run twice. */
export function refusalOf(error: unknown, turnBegan: boolean): Refusal {
  const fault = error instanceof Fault ? error : undefined;
  const { status, type } = fault ? TABLE[fault.kind] : TABLE.turn;
  const headers: Record<string, string> = {};
  if (fault?.retryAfterSecs !== undefined) headers["retry-after"] = String(fault.retryAfterSecs);
  if (status >= 500 && turnBegan) headers["x-should-retry"] = "false";
  return {
    status,
    headers,
    body: {
      error: {
        // What is not a fault is a bug: its words are for the log.
        message: fault?.message ?? "The server failed to answer. The log has the reason.",
        type,
        param: fault?.param ?? null,
        code: fault?.code ?? "internal_error",
      },
    },
  };
}

/** A refusal of the request itself, naming the field. */
export function invalid(param: string, code: string, message: string): Fault {
  return new Fault("invalid", code, message, { param });
}
