/** The endpoints of chat completions. */
import type { TSchema } from "typebox";
import { ErrorEnvelope } from "../../../kernel/kit.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { createCompletionAnswers } from "../completions/answer.ts";
import { CompletionBody, parseCompletion } from "../completions/request.ts";
import { Chunk, Completion } from "../completions/wire.ts";
import { ignoredHeader } from "../parse/open.ts";
import { repeatKeyOf } from "../turn/intake.ts";
import { type Endpoint, type EndpointParts, endpoint, unparsed } from "./endpoint.ts";

export function completionEndpoints(parts: EndpointParts): readonly Endpoint[] {
  const answers = createCompletionAnswers(parts);
  return [
    endpoint({
      method: "post",
      path: "/chat/completions",
      summary: "Create a chat completion; with `stream`, as server-sent events",
      limited: true,
      body: CompletionBody,
      readBody: unparsed,
      answer: Completion as TSchema,
      events: Chunk,
      refusals: {
        403: "A person has to act first",
        404: "The thread was deleted while its turn ran",
        429: "Too many requests",
      },
      async handle({ user, body, context }) {
        const { request, form } = parseCompletion(body, parts.externalTools !== undefined);
        if (request.ignored.length > 0) context.set("x-postern-ignored", ignoredHeader(request.ignored));
        const repeat = repeatKeyOf(context.get("idempotency-key"), body);
        const begun = await parts.chatIntake.take(user, request, repeat).catch(nameMessages);
        context.state["turnBegan"] = true;
        if (request.stream) {
          context.respond = false;
          return await answers.stream(begun, form, context.res);
        }
        const { status, headers, body: answer } = await answers.whole(begun, form);
        context.status = status;
        context.set({ ...headers });
        return answer;
      },
    }),
    // Without it the answer would be 405, which clients take for a wrong base URL.
    endpoint({
      method: "get",
      path: "/chat/completions",
      summary: "Not offered: completions are not kept to be listed",
      status: 404,
      answer: ErrorEnvelope,
      handle() {
        throw new Fault(
          "missing",
          "not_found",
          "Chat completions are not kept to be listed. Use /openai/v1/responses for answers that can be fetched again.",
        );
      },
    }),
  ];
}

/** The field that others call the input is `messages` here. */
function nameMessages(error: unknown): never {
  if (!(error instanceof Fault) || error.param !== "input") throw error;
  const { kind, code, message } = error;
  const details = { param: "messages", cause: error };
  throw new Fault(kind, code, message.replaceAll('"input"', '"messages"'), details);
}
