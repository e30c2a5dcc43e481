/** For operators: chat channels, the messages that wait or could not be sent, and the senders that wait to be let in. */
import { missingFault, orRefuse, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { nullable, Type } from "../../../kernel/kit/schema.ts";
import type { Services } from "../../../kernel/plugin.ts";
import { ChannelState, OutboxEntry, OutboxStatus, PairingRequest } from "../wire.ts";

const operatorRoute = routesOf("channels", "operator");
const off = { 503: "No plugin for chat channels runs" };
const PAGE_SIZE = 50;

export function channelRoutes(parts: Partial<Pick<Services, "messaging">>): readonly Route[] {
  const messaging = orRefuse(parts.messaging, "messaging_off", "No plugin for chat channels runs.");
  return [
    operatorRoute("GET /api/channels", {
      summary: "List the chat channels with their state, also those that are not set up",
      answer: Type.Object({ channels: Type.Array(ChannelState) }),
      refusals: off,
      handle: async () => ({ channels: await messaging().channels() }),
    }),
    operatorRoute("GET /api/messages", {
      summary: "List the chat messages that wait to be sent or could not be, oldest first",
      query: Type.Object({
        channel: Type.Optional(Type.String()),
        status: Type.Optional(OutboxStatus),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
        after: Type.Optional(Type.String({ description: "`next` of the page before" })),
      }),
      answer: Type.Object({ messages: Type.Array(OutboxEntry), next: nullable(Type.String()) }),
      refusals: off,
      async handle({ query: { limit = PAGE_SIZE, ...query } }) {
        const messages = await messaging().list({ ...query, limit });
        const next = messages.length === limit ? messages.at(-1)?.id : undefined;
        return { messages, ...(next !== undefined && { next }) };
      },
    }),
    operatorRoute("POST /api/messages/{id}/retry", {
      summary: "Send a message again that could not be sent",
      status: 204,
      refusals: { ...off, 404: "No such message waits" },
      async handle({ params: { id } }) {
        if (!(await messaging().retry(id))) throw noMessage(id);
      },
    }),
    operatorRoute("DELETE /api/messages/{id}", {
      summary: "Give a message up: it is never sent",
      status: 204,
      refusals: { ...off, 404: "No such message waits" },
      async handle({ params: { id } }) {
        if (!(await messaging().drop(id))) throw noMessage(id);
      },
    }),
    operatorRoute("GET /api/pairings", {
      summary: "List the senders of chat channels that wait to be let in, each with its code",
      answer: Type.Object({ requests: Type.Array(PairingRequest) }),
      refusals: off,
      handle: async () => ({ requests: await messaging().requests() }),
    }),
    operatorRoute("POST /api/pairings/{code}", {
      summary: "Say which account the sender behind a code is: the messages of it that wait are run",
      body: Type.Object({ account: Type.String() }),
      answer: PairingRequest,
      refusals: { ...off, 404: "No sender has this code, or there is no such account" },
      handle: async ({ params, body }) => await messaging().pair(params.code, body.account),
    }),
    operatorRoute("DELETE /api/pairings/{code}", {
      summary: "Refuse the sender behind a code, and the messages of it that wait",
      status: 204,
      refusals: { ...off, 404: "No sender has this code" },
      async handle({ params: { code } }) {
        if (await messaging().deny(code)) return;
        throw missingFault("no_pairing_request", "No sender waits with this code.", "code");
      },
    }),
  ];
}

const noMessage = (id: string) => missingFault("message_not_found", `No message ${id} waits.`, "id");
