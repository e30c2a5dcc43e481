/** The endpoints of chat completions. */
import type { Context } from "koa";
import { applyLimit, ErrorEnvelope } from "../../../kernel/kit.ts";
import { Fault, type Limiter, type Services, type Web } from "../../../kernel/plugin.ts";
import type { Endpoint } from "../endpoint.ts";
import { type Intake, repeatKeyOf } from "../intake/intake.ts";
import { ignoredHeader } from "../intake/open/ignored.ts";
import { type CompletionAnswerParts, createCompletionAnswers } from "./answer.ts";
import { CompletionBody } from "./body.ts";
import { parseCompletion } from "./request.ts";
import { Chunk, Completion } from "./wire.ts";

export interface CompletionParts extends CompletionAnswerParts {
  readonly web: Web;
  readonly chatLimit: Limiter;
  /** Absent in a composition that cannot pause a turn for the caller's own tools. */
  readonly externalTools: Services["toolCalls"] | undefined;
  readonly intake: Intake;
}

export function completionEndpoints(parts: CompletionParts): readonly Endpoint[] {
  const { web, intake } = parts;
  const answers = createCompletionAnswers(parts);

  async function create(context: Context): Promise<void> {
    const user = web.user(context);
    applyLimit(await parts.chatLimit.take(user.id), context, { perRequests: true });
    const { body } = context.request as { readonly body?: unknown };
    const { request, form } = parseCompletion(body, parts.externalTools !== undefined);
    if (request.ignored.length > 0) context.set("x-postern-ignored", ignoredHeader(request.ignored));
    const repeat = repeatKeyOf(context.get("idempotency-key"), body);
    const begun = await intake.take(user, request, repeat).catch(nameMessages);
    context.state["turnBegan"] = true;
    if (request.stream) {
      context.respond = false;
      await answers.stream(begun, form, context.res);
      return;
    }
    const { status, headers, body: answer } = await answers.whole(begun, form);
    context.status = status;
    context.set({ ...headers });
    context.body = answer;
  }

  return [
    {
      method: "post",
      path: "/chat/completions",
      summary: "Create a chat completion; with `stream`, as server-sent events",
      body: CompletionBody,
      answer: Completion,
      events: Chunk,
      refusals: {
        403: "A person has to act first",
        404: "The thread was deleted while its turn ran",
        429: "Too many requests",
      },
      handle: create,
    },
    // Without it the answer would be 405, which clients take for a wrong base URL.
    {
      method: "get",
      path: "/chat/completions",
      summary: "Not offered: completions are not kept to be listed",
      status: 404,
      answer: ErrorEnvelope,
      handle: notKept,
    },
  ];
}

/** What is the input to everybody else is called the messages here. */
function nameMessages(error: unknown): never {
  if (!(error instanceof Fault) || error.param !== "input") throw error;
  const { kind, code, message } = error;
  throw new Fault(kind, code, message.replaceAll('"input"', '"messages"'), {
    param: "messages",
    cause: error,
  });
}

function notKept(): void {
  throw new Fault(
    "missing",
    "not_found",
    "Chat completions are not kept to be listed. Use /openai/v1/responses for answers that can be fetched again.",
  );
}
