/** Every channel that can be reached from outside its process keeps the one contract. The terminal is not among them. */
import { afterAll, expect, test } from "vitest";
import { type AnyPlugin, definePlugin, Off } from "../../kernel/plugin.ts";
import agentRoutes from "../../plugins/agent/routes/plugin.ts";
import gateway from "../../plugins/gateway/plugin.ts";
import mcp from "../../plugins/mcp/plugin.ts";
import messaging from "../../plugins/messaging/plugin.ts";
import responses from "../../plugins/responses/plugin.ts";
import telegram from "../../plugins/telegram/plugin.ts";
import webhook from "../../plugins/webhook/plugin.ts";
import {
  type ChannelClient,
  type ChannelUnderTest,
  channelContract,
} from "../channel-contract/channel-contract.ts";
import { startTelegram } from "../support/servers/telegram.ts";
import { connectClient, REVISIONS, textOf } from "../support/services/mcp.ts";

const bots = await startTelegram();
afterAll(bots.close);

const TOKEN = "the-operator-of-the-contract";
let people = 1000;
const GATEWAY = { GATEWAY_PORT: "0", GATEWAY_AUTH_TOKEN: TOKEN };

/** Posts JSON; answers whatever text a person could be shown. Connections are not kept. */
async function post(url: string, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${TOKEN}`,
      connection: "close",
      ...headers,
    },
    body: JSON.stringify(body),
  });
  return JSON.parse(await answer.text());
}

function client(say: ChannelClient["say"]): ChannelClient {
  return { say, close: () => {} };
}

const CHANNELS: readonly ChannelUnderTest[] = [
  {
    plugin: gateway as AnyPlugin,
    companions: [agentRoutes as AnyPlugin],
    settings: GATEWAY,
    off: { GATEWAY_ENABLED: "false" },
    connect: async ({ detail }) =>
      client(async (message) => {
        const { response = "", error } = await post(`${detail}/api/chat`, { message });
        return `${response} ${error?.message ?? ""}`;
      }),
  },
  {
    plugin: responses as AnyPlugin,
    companions: [gateway as AnyPlugin],
    settings: GATEWAY,
    off: { RESPONSES_ENABLED: "false" },
    connect: async ({ detail }) =>
      client(async (input) => {
        const { output = [], error } = await post(detail, { model: "reborn", input });
        const texts = output.flatMap(({ content = [] }: { content?: { text: string }[] }) =>
          content.map(({ text }) => text),
        );
        return [...texts, error?.message].join(" ");
      }),
  },
  ...REVISIONS.map((revision) => ({
    plugin: mcp as AnyPlugin,
    companions: [gateway as AnyPlugin],
    settings: GATEWAY,
    off: { MCP_ENABLED: "false" },
    connect: async ({ detail }: { readonly detail: string }) => {
      const connected = await connectClient(new URL(detail), revision, { token: TOKEN });
      return {
        say: async (message: string) => {
          try {
            return textOf(await connected.callTool({ name: "ask", arguments: { message } }));
          } catch (error) {
            return (error as Error).message;
          }
        },
        close: () => connected.close(),
      };
    },
  })),
  {
    plugin: webhook as AnyPlugin,
    settings: { HTTP_ENABLED: "true", HTTP_HOST: "127.0.0.1", HTTP_PORT: "0", HTTP_WEBHOOK_SECRET: TOKEN },
    off: { HTTP_ENABLED: "false" },
    connect: async ({ detail }) =>
      client(async (message) => {
        const headers = { "x-webhook-secret": TOKEN, prefer: "wait=60" };
        const { response, error } = await post(`${detail}/webhook`, { message, user_id: "ada" }, headers);
        return `${response} ${error?.message ?? ""}`;
      }),
  },
  {
    plugin: telegram as AnyPlugin,
    companions: [messaging as AnyPlugin],
    settings: { TELEGRAM_BOT_TOKEN: bots.token, TELEGRAM_API_URL: bots.url },
    off: { TELEGRAM_ENABLED: "false" },
    async connect({ running }) {
      const id = ++people;
      await running.service("identities").pair(`telegram/${id}`, "operator");
      const person = bots.person(id);
      await bots.until(() => !bots.isLeft());
      return client(async (text) => {
        person.says(text);
        const shown = () => bots.shown.filter(({ chat }) => chat === id);
        await bots.until(() => shown().length > 0 || bots.isLeft());
        return shown()
          .map((message) => message.text)
          .join(" ");
      });
    },
  },
];

for (const channel of CHANNELS) {
  for (const { title, run } of channelContract(channel)) test(title, run);
}

test("a channel that breaks the contract is found out", async () => {
  const mute = definePlugin({
    name: "mute",
    needs: ["agent"],
    configure: (env) => (env.flag("MUTE", true) ? {} : new Off("MUTE=false")),
    start: ({ announce }) => announce("nowhere"),
  });
  const clauses = channelContract({
    plugin: mute as AnyPlugin,
    off: { MUTE: "false" },
    connect: async () => client(async () => "…"),
  });
  const broken: string[] = [];
  for (const { title, run } of clauses.filter(({ title }) => !title.includes("under way")))
    await run().catch(() => broken.push(title));
  expect(broken).toEqual([
    "mute: a message reaches the agent word for word, from somebody, by this channel",
    "mute: what the agent says comes back whole and in order",
    "mute: clients at once get each their own answer",
    "mute: a turn that fails on its way is told in its own words",
    "mute: a turn that cannot begin is told in its own words",
    "mute: a bug is answered without its internals, and the channel goes on",
    "mute: when it has stopped nothing of it is open, and it can start again",
  ]);
});
