/** What this channel answers when something went wrong. */
import type { Middleware } from "koa";
import { type ChannelRules, httpFault } from "../../kernel/kit.ts";
import { Fault, type Log, reason } from "../../kernel/plugin.ts";

export const LARGEST_BODY = 64 * 1024;

const WEBHOOK_RULES: ChannelRules = {
  largestBody: `${LARGEST_BODY / 1024} KB`,
  exceptions: {
    // No turn runs while a submission is answered, and a 200 would tell the sender that its job was taken.
    turn: [500, "server_error"],
  },
  codes: { idempotency_key_reused: 422 },
};

export function answerErrors(log: Log): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (error) {
      const { status, headers, body, isBug } = httpFault(error, WEBHOOK_RULES);
      if (isBug) log.error({ error }, `${context.method} ${context.path}: ${reason(error)}`);
      context.status = status;
      context.set(headers);
      context.body = body;
    }
  };
}

export function tooLarge(): Fault {
  return new Fault(
    "invalid",
    "body_too_large",
    `The request body is larger than ${WEBHOOK_RULES.largestBody}.`,
  );
}
