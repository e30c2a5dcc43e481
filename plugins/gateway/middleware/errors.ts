/** Turns errors into responses: the JSON envelope of faults, or plain text for a refused sign-in. */
import type { Context, Middleware } from "koa";
import { type ChannelRules, type HttpFault, httpFault, statusFault } from "../../../kernel/kit/http.ts";
import type { Log } from "../../../kernel/plugin.ts";
import { MAX_BODY_BYTES, MAX_OPEN_BODY_BYTES } from "../settings.ts";
import { CONFIRM_SIGN_IN, Refusal } from "../sign-in/authenticator.ts";

const GATEWAY_RULES: ChannelRules = {
  codes: {
    [CONFIRM_SIGN_IN]: 409,
    file_too_large: 413,
    message_too_long: 413,
    attachments_too_large: 413,
    storage_full: 413,
    workspace_full: 413,
    message_taken: 409,
    workspace_changed: 409,
    workspace_exists: 409,
    workspace_undone: 409,
  },
  largestBody: `${MAX_BODY_BYTES / 2 ** 20} MiB, or ${MAX_OPEN_BODY_BYTES / 2 ** 10} KiB before sign-in`,
};

export function answerErrors(log: Log): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (error) {
      if (error instanceof Refusal) refuse(context, error);
      else {
        const answer = httpFault(error, GATEWAY_RULES);
        if (answer.status >= 500) {
          const words = answer.isBug ? "a request failed because of a bug" : answer.body.error.message;
          log.error({ error, request: context.state["requestId"] }, words);
        }
        write(context, answer);
      }
    }
    if (context.status >= 400 && context.body === undefined && context.respond !== false) {
      const { status } = context;
      write(
        context,
        statusFault(status, GATEWAY_RULES) ?? { ...httpFault(undefined, GATEWAY_RULES), status },
      );
    }
  };
}

function write(context: Context, { status, headers, body }: HttpFault): void {
  context.status = status;
  context.state["code"] = body.error.code;
  context.set(headers);
  context.body = body;
}

/** §5, §7.2: a refused sign-in is plain text. */
function refuse(context: Context, { status, message }: Refusal): void {
  context.status = status;
  context.body = message;
  if (status === 401) context.set("WWW-Authenticate", "Bearer");
}
