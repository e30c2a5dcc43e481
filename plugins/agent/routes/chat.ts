/** Sends messages to the agent, with or without waiting for the answer, and reads, retries and cancels turns. */

import {
  type Asked,
  applyLimit,
  invalidFault,
  missingFault,
  type Route,
  type RouteCaller,
  routesOf,
} from "../../../kernel/kit/http.ts";
import { type Declared, Type } from "../../../kernel/kit/schema.ts";
import { answerText, askedIn, type Outside, TurnRecord } from "../../../kernel/kit/turns.ts";
import type { Services, User } from "../../../kernel/plugin.ts";
import type { RunningTurn } from "../services.ts";
import { Accepted, Message } from "./wire.ts";

const route = routesOf("chat");

const CHANNEL = "gateway";

type Said = Declared<typeof Message>;
type Sender = RouteCaller & Pick<Asked, "context">;

const { thread, id } = Accepted.properties;
const { usage, error, gate } = TurnRecord.properties;
const EndStatus = Type.Enum(["waiting", "completed", "failed", "cancelled"]);

const Answered = Type.Object({
  ...{ thread, id, response: Type.String(), status: EndStatus, usage, error, gate },
});

const refusals = {
  403: "The token may not use the model",
  413: "The body or the message is too large, or the user's storage is full",
  429: "Too many messages",
};
const refusalsOfMessages = { ...refusals, 404: "There is no such thread, or no such turn on it" };

export const accepted = ({ thread, id }: RunningTurn) => ({ thread, id, status: "accepted" as const });

export interface ChatParts extends Pick<Services, "agent" | "threads" | "attachments"> {
  /** Called before a turn starts, so that no event of it is missed. */
  follow(user: string): void;
}

export function chatRoutes({ agent, threads, attachments, follow }: ChatParts): readonly Route[] {
  const say = async (
    { user, isBrowser, context }: Sender,
    said: Said,
    { outside, isLive = false }: { readonly outside?: Outside | undefined; readonly isLive?: boolean } = {},
  ): Promise<RunningTurn> => {
    const { message: text, attachments: ids = [] } = said;
    if (text === "" && ids.length === 0)
      throw invalidFault("invalid_request", '"message" must not be empty.', "message");
    // §8: counted for each user, together with every other way to send a message.
    applyLimit(await agent.chatLimit.take(user.id), context);
    const brought = ids.length === 0 ? undefined : await attachments.bring(user.id, ids);
    return await agent.run(
      {
        user: user.id,
        channel: said.channel ?? CHANNEL,
        // A browser that is signed in is the page; programs have tokens.
        keeping: { wantsTitle: said.channel === "tui" || isBrowser, survivesRestart: isLive },
        input: { type: "message", text, ...(brought && { attachments: brought.attachments }) },
        attached: brought?.attached,
        thread: said.thread,
        after: said.after,
        answer: { model: said.model },
        preamble: { outside },
        // The command `ask` waits for an answer to its one question.
        work: { steers: isLive && said.channel !== "ask" },
        scope: user.scope,
      },
      brought?.alongside,
    );
  };
  const send = async (sender: Sender, said: Said, outside?: Outside) => {
    // A client that does not wait for the answer may open its socket a moment later.
    follow(sender.user.id);
    return accepted(await say(sender, said, { outside, isLive: true }));
  };
  const findTurn = async (user: User, id: string): Promise<TurnRecord> => {
    const turn = await threads.turn(user.id, id);
    if (!turn) throw missingFault("turn_not_found", `There is no turn ${id}.`, "id");
    return turn;
  };

  return [
    route("POST /api/chat", {
      summary: "Send a message and wait for the answer",
      body: Message,
      answer: Answered,
      scoped: true,
      refusals: refusalsOfMessages,
      async handle({ body, ...sender }) {
        const turn = await (await say(sender, body)).record;
        // The record is complete only when the turn has ended.
        const status = turn.status as Declared<typeof EndStatus>;
        return { ...turn, status, response: answerText(turn) };
      },
    }),
    route("POST /api/chat/send", {
      summary:
        "Send a message; the answer arrives on the socket. A turn that runs on the thread reads it before it asks the model again (`taken`); otherwise it is a turn of its own",
      body: Message,
      status: 202,
      answer: Accepted,
      scoped: true,
      refusals: refusalsOfMessages,
      handle: ({ body, ...sender }) => send(sender, body),
    }),
    route("GET /api/turns/{id}", {
      summary: "Get a turn; with the id of a message that a running turn has taken, that turn",
      answer: TurnRecord,
      refusals: { 404: "There is no such turn" },
      scoped: true,
      handle: ({ user, params }) => findTurn(user, params.id),
    }),
    route("DELETE /api/turns/{id}", {
      summary: "Take back a message that was not read yet; nothing of it is left",
      status: 204,
      scoped: true,
      refusals: { 404: "There is no such message", 409: "It was read already" },
      async handle({ user, params: { id } }) {
        if (await agent.takeBack(user.id, id)) return;
        await findTurn(user, id);
        throw invalidFault("message_taken", "The message was read already and cannot be taken back.", "id");
      },
    }),
    route("POST /api/turns/{id}/cancel", {
      summary: "Stop a turn; `cancelled` is false if it had already ended",
      scoped: true,
      answer: Type.Object({ cancelled: Type.Boolean() }),
      refusals: { 404: "There is no such turn" },
      async handle({ user, params }) {
        const { id } = await findTurn(user, params.id);
        return { cancelled: await agent.cancel(user.id, id) };
      },
    }),
    route("POST /api/turns/{id}/retry", {
      summary: "Send what the person said in a turn again, for another version of its answer",
      status: 202,
      answer: Accepted,
      scoped: true,
      refusals: { ...refusals, 404: "There is no such turn" },
      async handle({ params, ...sender }) {
        const turn = await findTurn(sender.user, params.id);
        const { thread, outside, after = null } = turn;
        if (turn.input.type !== "message")
          throw invalidFault("not_a_message", "Only a turn that began with a message can be retried.", "id");
        const { text: message, attachments } = askedIn(turn);
        return send(
          sender,
          { message, thread, after, attachments: attachments.map(({ id }) => id) },
          outside,
        );
      },
    }),
  ];
}
