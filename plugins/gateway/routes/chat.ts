/** Sends messages to the agent, with or without waiting for the answer, and reads, retries and cancels turns. */
import type { Context } from "koa";
import {
  answerText,
  applyLimit,
  type Declared,
  named,
  type Outside,
  TurnRecord,
  Type,
  WantedModel,
} from "../../../kernel/kit.ts";
import { Fault, type Limiter, type RunningTurn, type Services, type User } from "../../../kernel/plugin.ts";
import { Accepted } from "../api/schemas.ts";
import { type Route, route } from "../route.ts";

const CHANNEL = "gateway";

export interface ChatParts {
  readonly agent: Services["agent"];
  readonly threads: Services["threads"];
  readonly attachments: Pick<Services["attachments"], "bring">;
  readonly chatLimit: Limiter;
  /** Called before a turn starts, so that no event of it is missed. */
  follow(user: string): void;
}

const Message = Type.Object({
  message: Type.String({ description: "May be empty where something is attached" }),
  attachments: Type.Optional(
    Type.Array(Type.String(), {
      description:
        "Ids of uploads (`POST /api/attachments`), or of what came with an earlier message of yours",
    }),
  ),
  thread: Type.Optional(
    named("thread_id", Type.String({ description: "Continues this thread; absent starts a new one" })),
  ),
  model: Type.Optional(
    Type.Union([WantedModel], { description: "What answers on a new thread, one of `GET /api/models`" }),
  ),
  after: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description:
        "The turn that it goes on from, null for the beginning: a branch if others went on from there. Absent: the newest turn",
    }),
  ),
});
type Message = Declared<typeof Message>;

const { thread, id } = Accepted.properties;
const { usage, error, gate } = TurnRecord.properties;
const EndStatus = Type.Enum(["waiting", "completed", "failed", "cancelled"]);

const Answered = Type.Object({
  thread,
  id,
  response: Type.String(),
  status: EndStatus,
  usage,
  error,
  gate,
});

const outOfScope = { 403: "The token may not use the model" };

export const accepted = ({ thread, id }: RunningTurn) => ({ thread, id, status: "accepted" as const });

export function chatRoutes({ agent, threads, attachments, chatLimit, follow }: ChatParts): readonly Route[] {
  const say = async (
    user: User,
    context: Context,
    said: Message,
    outside?: Outside,
  ): Promise<RunningTurn> => {
    const { message: text, attachments: ids = [] } = said;
    if (text === "" && ids.length === 0)
      throw new Fault("invalid", "invalid_request", '"message" must not be empty.', { param: "message" });
    // §8: counted for each user, together with every other way to send a message.
    applyLimit(await chatLimit.take(user.id), context);
    const brought = ids.length === 0 ? undefined : await attachments.bring(user.id, ids);
    return await agent.run(
      {
        user: user.id,
        channel: CHANNEL,
        input: { type: "message", text, ...(brought && { attachments: brought.attachments }) },
        attached: brought?.attached,
        thread: said.thread,
        after: said.after,
        model: said.model,
        outside,
        scope: user.scope,
      },
      brought?.alongside,
    );
  };
  const send = async (user: User, context: Context, said: Message, outside?: Outside) => {
    // A client that does not wait for the answer may open its socket a moment later.
    follow(user.id);
    return accepted(await say(user, context, said, outside));
  };
  const findTurn = async (user: User, id: string): Promise<TurnRecord> => {
    const turn = await threads.turn(user.id, id);
    if (!turn) throw new Fault("missing", "turn_not_found", `There is no turn ${id}.`, { param: "id" });
    return turn;
  };

  return [
    route({
      method: "post",
      path: "/api/chat",
      tag: "chat",
      summary: "Send a message and wait for the answer",
      body: Message,
      answer: Answered,
      scoped: true,
      refusals: {
        ...outOfScope,
        404: "There is no such thread, or no such turn on it",
        429: "Too many messages",
      },
      async handle({ user, context, body }) {
        const turn = await (await say(user, context, body)).record;
        // The record is complete only when the turn has ended.
        const status = turn.status as Declared<typeof EndStatus>;
        return { ...turn, status, response: answerText(turn) };
      },
    }),
    route({
      method: "post",
      path: "/api/chat/send",
      tag: "chat",
      summary: "Send a message; the answer arrives on the socket",
      body: Message,
      status: 202,
      answer: Accepted,
      scoped: true,
      refusals: {
        ...outOfScope,
        404: "There is no such thread, or no such turn on it",
        429: "Too many messages",
      },
      handle: ({ user, context, body }) => send(user, context, body),
    }),
    route({
      method: "get",
      path: "/api/turns/{id}",
      tag: "chat",
      summary: "Get a turn",
      answer: TurnRecord,
      refusals: { 404: "There is no such turn" },
      handle: ({ user, params }) => findTurn(user, params["id"] ?? ""),
    }),
    route({
      method: "post",
      path: "/api/turns/{id}/cancel",
      tag: "chat",
      summary: "Stop a turn; `cancelled` is false if it had already ended",
      scoped: true,
      answer: Type.Object({ cancelled: Type.Boolean() }),
      refusals: { 404: "There is no such turn" },
      async handle({ user, params }) {
        const { id } = await findTurn(user, params["id"] ?? "");
        return { cancelled: await agent.cancel(user.id, id) };
      },
    }),
    route({
      method: "post",
      path: "/api/turns/{id}/retry",
      tag: "chat",
      summary: "Send the message of a turn again, for another version of its answer",
      status: 202,
      answer: Accepted,
      scoped: true,
      refusals: { ...outOfScope, 404: "There is no such turn", 429: "Too many messages" },
      async handle({ user, context, params }) {
        const { input, thread, outside, after = null } = await findTurn(user, params["id"] ?? "");
        if (input.type !== "message")
          throw new Fault(
            "invalid",
            "not_a_message",
            "Only a turn that began with a message can be retried.",
            {
              param: "id",
            },
          );
        const attachments = input.attachments?.map(({ id }) => id);
        return send(user, context, { message: input.text, thread, after, attachments }, outside);
      },
    }),
  ];
}
