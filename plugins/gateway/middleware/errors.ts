/** The one table from what went wrong to what the caller reads. */
import type { Context, Middleware } from "koa";
import { Fault, type FaultKind, type Log } from "../../../kernel/plugin.ts";
import { Refusal } from "../auth/identity.ts";

export interface ErrorEnvelope {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

const TABLE: Readonly<Record<FaultKind, readonly [status: number, type: string]>> = {
  config: [500, "server_error"],
  invalid: [400, "invalid_request_error"],
  unauthenticated: [401, "authentication_error"],
  forbidden: [403, "permission_error"],
  missing: [404, "not_found_error"],
  limited: [429, "rate_limit_error"],
  unavailable: [503, "server_error"],
  turn: [200, "turn_error"],
};

/** What Koa and the body parser answer by themselves: a status, without our words. */
const STATUS_WORDS: Readonly<Record<number, readonly [type: string, code: string, message: string]>> = {
  400: [
    "invalid_request_error",
    "bad_request",
    "The request body could not be read: it is not what its type says.",
  ],
  404: ["not_found_error", "not_found", "There is nothing at this address."],
  405: ["invalid_request_error", "method_not_allowed", "This address does not take this method."],
  413: [
    "invalid_request_error",
    "body_too_large",
    "The request body is larger than 14 MiB, or than 64 KiB before sign-in.",
  ],
  415: [
    "invalid_request_error",
    "unsupported_media_type",
    "The body is not of the type that this address takes.",
  ],
  426: ["invalid_request_error", "upgrade_required", "This address speaks WebSocket only."],
};

const BUG = envelope(
  "server_error",
  "internal_error",
  "Something went wrong in the server; its log says what.",
);

function envelope(type: string, code: string, message: string, param: string | null = null): ErrorEnvelope {
  return { error: { message, type, param, code } };
}

export function answerErrors(log: Log): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (error) {
      answer(context, error, log);
    }
    if (context.status >= 400 && context.body === undefined && context.respond !== false) {
      const { status } = context;
      context.body = wordsOf(status) ?? BUG;
      context.status = status;
    }
  };
}

function answer(context: Context, error: unknown, log: Log): void {
  if (error instanceof Refusal) {
    context.status = error.status;
    context.body = error.message;
    if (error.status === 401) context.set("WWW-Authenticate", "Bearer");
    if (error.retryAfterSecs !== undefined) context.set("Retry-After", String(error.retryAfterSecs));
    return;
  }
  if (error instanceof Fault) {
    const [status, type] = TABLE[error.kind];
    context.status = status;
    context.body = envelope(type, error.code, error.message, error.param ?? null);
    if (error.retryAfterSecs !== undefined) context.set("Retry-After", String(error.retryAfterSecs));
    if (status >= 500) log.error({ error, request: context.state["requestId"] }, error.message);
    return;
  }
  const status = statusOf(error as { status?: unknown; code?: unknown });
  const words = status === undefined ? undefined : wordsOf(status);
  if (status !== undefined && words) {
    context.status = status;
    context.body = words;
    return;
  }
  log.error({ error, request: context.state["requestId"] }, "a request failed by a bug");
  context.status = 500;
  context.body = BUG;
}

function wordsOf(status: number): ErrorEnvelope | undefined {
  const words = STATUS_WORDS[status];
  return words && envelope(...words);
}

/** What the web framework says of an error; a body that is not compressed as it claims is the sender's fault. */
function statusOf({
  status,
  code,
}: {
  readonly status?: unknown;
  readonly code?: unknown;
}): number | undefined {
  if (typeof status === "number") return status;
  return /^Z_/.test(String(code)) ? 400 : undefined;
}
