/** The endpoints of chat completions: each is sent whole when its turn has ended, or in chunks while it runs. */
import type { ServerResponse } from "node:http";
import type { TSchema } from "typebox";
import { ErrorEnvelope, type HttpFault } from "../../../kernel/kit/http.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { GONE } from "../answer/answer.ts";
import { openEventStream } from "../answer/sse.ts";
import { createChunks, type Frame } from "../completions/chunks.ts";
import { completionOf } from "../completions/completion.ts";
import { failed, failureOf } from "../completions/failure.ts";
import { CompletionBody, type Form, parseCompletion } from "../completions/request.ts";
import { Chunk, Completion } from "../completions/wire.ts";
import { ignoredHeader } from "../parse/open.ts";
import { type Begun, repeatKeyOf } from "../turn/intake.ts";
import { refusalOf } from "../wire/refusal.ts";
import { type Endpoint, type EndpointParts, endpoint, unparsed } from "./endpoint.ts";

export function completionEndpoints(parts: EndpointParts): readonly Endpoint[] {
  const { answers, log, pageOf } = parts;

  async function* framesOf(
    { taken, running }: Begun,
    form: Form,
    notice: (message: string) => void,
  ): AsyncGenerator<Frame> {
    const chunks = createChunks(taken, form, (record) => failureOf(record, taken.error, pageOf));
    yield* chunks.open();
    if (running) {
      for await (const event of running) {
        if (event.type === "notice") notice(event.message);
        yield* chunks.next(event);
      }
      return;
    }
    const record = await answers.ended(taken);
    if (record) yield* chunks.replay(record);
    else yield failed(taken.error ?? GONE).body;
  }

  /** Ends when the turn or the reader does; the turn runs on without a reader. */
  async function stream(begun: Begun, form: Form, response: ServerResponse): Promise<void> {
    const events = openEventStream(response);
    const send = (frame: Frame) => events.send(JSON.stringify(frame));
    try {
      for await (const frame of framesOf(begun, form, events.comment)) if (!(await send(frame))) break;
    } catch (error) {
      log.error({ error, completion: begun.taken.id }, "a stream broke");
      await send(refusalOf(error, true).body);
    } finally {
      await events.send("[DONE]");
      events.end();
    }
  }

  return [
    endpoint("post", "/chat/completions", {
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
        const { request, form } = parseCompletion(body, parts.toolCalls !== undefined);
        if (request.ignored.length > 0) context.set("x-postern-ignored", ignoredHeader(request.ignored));
        const repeat = repeatKeyOf(context.get("idempotency-key"), body);
        const begun = await parts.chatIntake.take(user, request, repeat).catch(nameMessages);
        context.state["turnBegan"] = true;
        if (request.stream) {
          context.respond = false;
          return await stream(begun, form, context.res);
        }
        const { record, error } = await answers.settled(begun);
        const refuse = (failure: HttpFault) => {
          context.status = failure.status;
          context.set(failure.headers);
          return failure.body;
        };
        if (record === undefined) return refuse(failed(error));
        const failure = failureOf(record, error, pageOf);
        return failure ? refuse(failure) : completionOf(begun.taken, form, record);
      },
    }),
    // Without it the answer would be 405, which clients take for a wrong base URL.
    endpoint("get", "/chat/completions", {
      summary: "Not offered: completions are not kept to be listed",
      status: 404,
      answer: ErrorEnvelope,
      handle() {
        const message =
          "Chat completions are not kept to be listed. Use /openai/v1/responses for answers that can be fetched again.";
        throw new Fault("missing", "not_found", message);
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
