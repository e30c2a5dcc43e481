/** Messages to the agent: one that waits for the answer, one that does not, and what can be done with a turn. */
import type { Context } from "koa";
import { applyLimit } from "../../../kernel/net/rate-limit.ts";
import {
  type Agent,
  Fault,
  type Limiter,
  type RunningTurn,
  type Threads,
  type TurnRecord,
  type User,
} from "../../../kernel/plugin.ts";
import { flag, object, oneOf, ref, text } from "../api/schemas.ts";
import { gateJson, turnJson, usageJson } from "../api/wire.ts";
import { type Route, route } from "../route.ts";

const CHANNEL = "gateway";

export interface ChatParts {
  readonly agent: Agent;
  readonly threads: Threads;
  readonly chatLimit: Limiter;
  /** Told before a turn begins, so that no event of it is missed. */
  follow(user: string): void;
}

interface Message {
  readonly message: string;
  readonly thread_id?: string;
}

const message = {
  type: "object",
  required: ["message"],
  properties: {
    message: { type: "string", minLength: 1 },
    thread_id: { type: "string", description: "Continues this thread; absent starts a new one" },
  },
};

export const ACCEPTED = object({ thread_id: text, message_id: text, status: oneOf("accepted") });

export const acceptedJson = ({ thread, id }: RunningTurn) => ({
  thread_id: thread,
  message_id: id,
  status: "accepted",
});

export function chatRoutes({ agent, threads, chatLimit, follow }: ChatParts): readonly Route[] {
  const say = async (user: User, context: Context, said: Message): Promise<RunningTurn> => {
    // §8: counted for each user, together with every other way to send a message.
    applyLimit(await chatLimit.take(user.id), context);
    return agent.run({
      user: user.id,
      channel: CHANNEL,
      input: { type: "message", text: said.message },
      ...(said.thread_id !== undefined && { thread: said.thread_id }),
    });
  };
  const send = async (user: User, context: Context, said: Message) => {
    // Whoever does not wait for the answer reads it from the socket, perhaps a moment later.
    follow(user.id);
    return acceptedJson(await say(user, context, said));
  };
  const findTurn = (user: User, id: string): TurnRecord => {
    const turn = threads.turn(user.id, id);
    if (!turn) throw new Fault("missing", "turn_not_found", `There is no turn ${id}.`, { param: "id" });
    return turn;
  };

  return [
    route<Message>({
      method: "post",
      path: "/api/chat",
      tag: "chat",
      summary: "Send a message and wait for the answer",
      body: message,
      answer: object(
        {
          thread_id: text,
          message_id: { type: "string", description: "The id of the turn" },
          response: text,
          status: oneOf("waiting", "completed", "failed", "cancelled"),
          usage: ref("Usage"),
        },
        { error: object({ code: text, message: text }), gate: ref("Gate") },
      ),
      refusals: { 404: "There is no such thread", 429: "Too many messages" },
      async handle({ user, context, body }) {
        const turn = await (await say(user, context, body)).record;
        return {
          thread_id: turn.thread,
          message_id: turn.id,
          response: answerOf(turn),
          status: turn.status,
          usage: usageJson(turn.usage),
          ...(turn.error && { error: turn.error }),
          ...(turn.gate && { gate: gateJson(turn.gate) }),
        };
      },
    }),
    route<Message>({
      method: "post",
      path: "/api/chat/send",
      tag: "chat",
      summary: "Send a message; the answer arrives on the socket",
      body: message,
      status: 202,
      answer: ACCEPTED,
      refusals: { 404: "There is no such thread", 429: "Too many messages" },
      handle: ({ user, context, body }) => send(user, context, body),
    }),
    route({
      method: "get",
      path: "/api/turns/{id}",
      tag: "chat",
      summary: "One turn",
      answer: ref("Turn"),
      refusals: { 404: "There is no such turn" },
      handle: ({ user, params }) => turnJson(findTurn(user, params["id"] ?? "")),
    }),
    route({
      method: "post",
      path: "/api/turns/{id}/cancel",
      tag: "chat",
      summary: "Stop a turn; `cancelled` is false where it had ended already",
      answer: object({ cancelled: flag }),
      refusals: { 404: "There is no such turn" },
      handle({ user, params }) {
        const { id } = findTurn(user, params["id"] ?? "");
        return { cancelled: agent.cancel(user.id, id) };
      },
    }),
    route({
      method: "post",
      path: "/api/turns/{id}/retry",
      tag: "chat",
      summary: "Ask once more, on the same thread, what that turn asked",
      status: 202,
      answer: ACCEPTED,
      refusals: { 404: "There is no such turn", 429: "Too many messages" },
      handle({ user, context, params }) {
        const { input, thread } = findTurn(user, params["id"] ?? "");
        if (input.type !== "message")
          throw new Fault(
            "invalid",
            "not_a_message",
            "Only a turn that began with a message can be retried.",
            {
              param: "id",
            },
          );
        return send(user, context, { message: input.text, thread_id: thread });
      },
    }),
  ];
}

function answerOf({ items }: TurnRecord): string {
  return items
    .filter((item) => item.type === "message" && item.role === "assistant")
    .map((item) => (item.type === "message" ? item.text : ""))
    .join("\n\n");
}
