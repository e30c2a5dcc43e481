/** For operators: chat channels, the messages that wait or could not be sent, and the senders that wait to be let in. */
import { invalidFault, missingFault, orRefuse, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { nullable, Type } from "../../../kernel/kit/schema.ts";
import type { Services } from "../../../kernel/plugin.ts";
import { checkChannel, findChannel, forgetChannel } from "../setup.ts";
import { ChannelSetup, ChannelState, OutboxEntry, OutboxStatus, PairingRequest } from "../wire.ts";

const operatorRoute = routesOf("channels", "operator");
const off = { 503: "No plugin for chat channels runs" };
const PAGE_SIZE = 50;
const MAX_VALUE_LENGTH = 4096;

export function channelRoutes(parts: Partial<Pick<Services, "messaging" | "settings">>): readonly Route[] {
  const messaging = orRefuse(parts.messaging, "messaging_off", "No plugin for chat channels runs.");
  const settings = orRefuse(parts.settings, "service_off", "Settings cannot be changed here.");
  return [
    operatorRoute("GET /api/channels", {
      summary: "List the chat channels with their state, also those that are not set up",
      answer: Type.Object({ channels: Type.Array(ChannelState) }),
      refusals: off,
      handle: async () => ({ channels: await messaging().channels() }),
    }),
    operatorRoute("GET /api/channels/{name}/setup", {
      summary: "Get what a channel takes to be set up, and where that comes from",
      answer: ChannelSetup,
      refusals: { ...off, 404: "There is no such channel" },
      async handle({ params: { name } }) {
        const { channel } = findChannel({ messaging: messaging() }, name);
        const known = new Map((await settings().list()).map((setting) => [setting.name, setting]));
        return {
          guide: channel.guide,
          settings: channel.settings.map(({ name, example, isOptional = false }) => {
            const { about = "", isSecret = true, isSet = false, isFixed = false } = known.get(name) ?? {};
            return { name, example, isOptional, about, isSecret, isSet, isFixed };
          }),
        };
      },
    }),
    operatorRoute("PUT /api/channels/{name}/setup", {
      summary:
        "Set a channel up: asks the service whether it accepts this, keeps it sealed, and opens the channel",
      body: Type.Object({
        settings: Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: MAX_VALUE_LENGTH })),
      }),
      answer: Type.Object({
        detail: Type.String({ description: "Who we are there, as the service says" }),
        link: Type.Optional(Type.String({ description: "Where people write to us" })),
      }),
      refusals: {
        400: "A setting is missing, has no such form, or belongs to another channel",
        403: "The service does not accept it",
        404: "There is no such channel",
        503: "The service cannot be reached, or no plugin for chat channels runs",
      },
      async handle({ user, params: { name }, body: { settings: values } }) {
        const offered = findChannel({ messaging: messaging() }, name);
        const foreign = Object.keys(values).find(
          (given) => !offered.channel.settings.some((setting) => setting.name === given),
        );
        if (foreign !== undefined)
          throw invalidFault(
            "invalid_request",
            `${offered.channel.title} has no setting ${foreign}.`,
            foreign,
          );
        const found = await checkChannel(offered, values);
        await settings().change(values, user.id);
        return found;
      },
    }),
    operatorRoute("DELETE /api/channels/{name}/setup", {
      summary: "Forget the secrets of a channel: it is closed, and its messages stay",
      status: 204,
      refusals: { ...off, 404: "There is no such channel" },
      async handle({ user, params: { name } }) {
        await forgetChannel({ messaging: messaging(), settings: settings() }, name, user.id);
      },
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
