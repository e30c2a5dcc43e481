/** This channel's table from fault to wire, and the one middleware that writes it. */
import type { Middleware } from "koa";
import { Fault, type FaultKind, type Log, reason } from "../../kernel/plugin.ts";

const WIRE: Readonly<Record<FaultKind, readonly [status: number, type: string]>> = {
  config: [500, "server_error"],
  invalid: [400, "invalid_request_error"],
  unauthenticated: [401, "authentication_error"],
  forbidden: [403, "permission_error"],
  missing: [404, "not_found_error"],
  limited: [429, "rate_limit_error"],
  unavailable: [503, "unavailable_error"],
  turn: [500, "server_error"],
};

/** Refusals of the request's wrapping, which have a status of their own among the invalid ones. */
const STATUSES: Readonly<Record<string, number>> = {
  method_not_allowed: 405,
  body_too_large: 413,
  unsupported_media_type: 415,
};

export function answerErrors(log: Log): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (error) {
      const fault = asFault(error);
      if (fault === undefined) log.error({ error }, `${context.method} ${context.path}: ${reason(error)}`);
      const known =
        fault ?? new Fault("config", "internal_error", "something went wrong here; the log has the details");
      const [status, type] = WIRE[known.kind];
      context.status = STATUSES[known.code] ?? status;
      if (known.retryAfterSecs !== undefined) context.set("retry-after", String(known.retryAfterSecs));
      context.body = {
        error: { message: known.message, type, param: known.param ?? null, code: known.code },
      };
    }
  };
}

/** What our own code refused, or what reading the request refused with a 4xx; anything else is a bug. */
function asFault(error: unknown): Fault | undefined {
  if (error instanceof Fault) return error;
  const { status } = error as { status?: unknown };
  if (status === 413) return tooLarge();
  if (typeof status === "number" && status >= 400 && status < 500)
    return new Fault("invalid", "unreadable_request", `the request could not be read: ${reason(error)}`);
  return undefined;
}

export const LARGEST_BODY = 64 * 1024;

export function tooLarge(): Fault {
  return new Fault("invalid", "body_too_large", `the body is larger than ${LARGEST_BODY / 1024} KB`);
}
