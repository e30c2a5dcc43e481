/** Twenty turns make requests of which each continues the one before, byte for byte, so that providers can cache them. */
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import email from "../../../../plugins/email/plugin.ts";
import messaging from "../../../../plugins/messaging/plugin.ts";
import responses from "../../../../plugins/responses/plugin.ts";
import slackPlugin from "../../../../plugins/slack/plugin.ts";
import telegramPlugin from "../../../../plugins/telegram/plugin.ts";
import webhookPlugin from "../../../../plugins/webhook/plugin.ts";
import { moveTime } from "../../../support/clock/moved-time.ts";
import { openTerminalWithModel } from "../../../support/processes/tui-terminal.ts";
import {
  AGENT,
  ANN,
  describeWithMail,
  type MailServers,
  startMailServers,
} from "../../../support/servers/mail-server.ts";
import type { ChatRequest, ModelServer, ScriptedCall } from "../../../support/servers/model-server.ts";
import { APP_TOKEN, BOT_TOKEN, directOf, startSlack, TEAM } from "../../../support/servers/slack.ts";
import { startTelegram } from "../../../support/servers/telegram.ts";
import { scriptedModel, type TestTool } from "../../../support/services/agent.ts";
import { connected } from "../../../support/services/email.ts";
import { openGateway, type TestGateway } from "../../../support/services/gateway.ts";
import { afterThisFile, afterThisTest } from "../../../support/undo.ts";

const TURNS = 20;
const CLOCK: TestTool = { run: () => ({ status: "ok", output: '{"time":"half past nine"}' }) };

afterEach(() => void vi.useRealTimers());

/** Says one thing, and resolves when the answer is there. */
type Say = (text: string) => Promise<void>;

interface Channel {
  readonly name: string;
  readonly plugins?: readonly AnyPlugin[];
  settings?(): Promise<Readonly<Record<string, string>>>;
  connect(gateway: TestGateway): Promise<Say>;
}

let bots: Awaited<ReturnType<typeof startTelegram>>;
let slack: Awaited<ReturnType<typeof startSlack>>;

const CHANNELS: readonly Channel[] = [
  {
    name: "the page",
    async connect({ ask }) {
      let thread: string | undefined;
      return async (message) => {
        const { body } = await ask("/api/chat", { method: "POST", body: { message, thread_id: thread } });
        thread = body.thread_id;
      };
    },
  },
  {
    name: "responses",
    plugins: [responses as AnyPlugin],
    async connect({ ask }) {
      let previous: string | undefined;
      return async (input) => {
        const asked = { model: "reborn", input, ...(previous && { previous_response_id: previous }) };
        const { body } = await ask("/v1/responses", { method: "POST", body: asked });
        previous = body.id;
      };
    },
  },
  {
    name: "responses, each with the whole conversation",
    plugins: [responses as AnyPlugin],
    async connect({ ask }) {
      const items: unknown[] = [];
      return async (content) => {
        items.push({ type: "message", role: "user", content });
        const body = { model: "reborn", input: items };
        const answer = await ask("/v1/responses", { method: "POST", body });
        items.push(...answer.body.output);
      };
    },
  },
  {
    name: "webhook",
    plugins: [webhookPlugin as AnyPlugin],
    settings: async () => ({
      HTTP_ENABLED: "true",
      HTTP_HOST: "127.0.0.1",
      HTTP_PORT: "0",
      HTTP_WEBHOOK_SECRET: "secret-of-the-test",
    }),
    async connect({ service }) {
      await service.service("identities").pair("webhook/ada", "operator");
      const { detail = "" } = service.states.find(({ name }) => name === "webhook") ?? {};
      const [url] = /http:\S+/.exec(detail) ?? [];
      return async (message) => {
        const headers = {
          "content-type": "application/json",
          "x-webhook-secret": "secret-of-the-test",
          prefer: "wait=60",
        };
        const body = JSON.stringify({ message, user_id: "ada", conversation_id: "one" });
        expect((await fetch(`${url}/webhook`, { method: "POST", headers, body })).status).toBe(200);
      };
    },
  },
  {
    name: "telegram",
    plugins: [messaging as AnyPlugin, telegramPlugin as AnyPlugin],
    async settings() {
      bots = await startTelegram();
      afterThisTest(bots.close);
      return { TELEGRAM_BOT_TOKEN: bots.token, TELEGRAM_API_URL: bots.url };
    },
    async connect({ service }) {
      await service.service("identities").pair("telegram/42", "operator");
      const person = bots.person(42);
      await bots.until(() => !bots.isLeft());
      return async (text) => {
        person.says(text);
        await bots.until(() => bots.shown.some((message) => message.text === `answer to ${text}`));
      };
    },
  },
  {
    name: "slack",
    plugins: [messaging as AnyPlugin, slackPlugin as AnyPlugin],
    async settings() {
      slack = await startSlack(afterThisTest);
      return { SLACK_APP_TOKEN: APP_TOKEN, SLACK_BOT_TOKEN: BOT_TOKEN, SLACK_API_URL: slack.url };
    },
    async connect({ service }) {
      await service.service("identities").pair(`slack/${TEAM}.U0ADA`, "operator");
      await slack.connected();
      return async (text) => {
        slack.say("U0ADA", text);
        await slack.until(() =>
          slack.answers(directOf("U0ADA")).find((message) => message.text === `answer to ${text}`),
        );
      };
    },
  },
];

test.each(CHANNELS)("each request of a thread continues the one before it: $name", holdTwentyTurns);

describeWithMail("each request of a thread continues the one before it", () => {
  const later = afterThisFile();
  let servers: MailServers;
  beforeAll(async () => {
    servers = await startMailServers(later);
  });

  test("mail", () =>
    holdTwentyTurns({
      name: "mail",
      plugins: [messaging as AnyPlugin, email as AnyPlugin],
      settings: async () => servers.settings,
      async connect({ service }) {
        await service.service("identities").pair(`email/${ANN}`, "operator");
        await connected(service);
        const references: string[] = [];
        return async (text) => {
          const messageId = `<${references.length}@honest.test>`;
          const inReplyTo = references.at(-1);
          await servers.send({
            from: ANN,
            to: AGENT,
            subject: "Talk",
            text,
            messageId,
            inReplyTo,
            references,
          });
          const isAnswer = (mail: { readonly inReplyTo?: string | undefined }) =>
            mail.inReplyTo === messageId;
          const answer = await servers.find(ANN, isAnswer);
          references.push(messageId, answer.messageId ?? "");
        };
      },
    }));
});

async function holdTwentyTurns(channel: Channel): Promise<void> {
  const model = await twentyTurnModel();
  const variables = { TOOL_APPROVALS: "mission_create=allow", ...(await channel.settings?.()) };
  const { plugins = [] } = channel;
  const time = moveTime(afterThisTest);
  // The day changes once, also if the test runs at midnight.
  vi.useFakeTimers({ toFake: ["Date"], shouldAdvanceTime: true });
  vi.setSystemTime(new Date().setUTCHours(12, 0, 0, 0));
  const gateway = await openGateway({ model, tools: { clock: CLOCK }, plugins, variables });
  const say = await channel.connect(gateway);
  const { service } = gateway;
  const memory = service.service("memory");
  await memory.write("operator", "USER.md", "Ann likes trains.");
  for (let turn = 1; turn <= TURNS; turn++) {
    if (turn === 6) await memory.write("operator", "USER.md", "Ann likes boats.");
    if (turn === 11) vi.setSystemTime(Date.now() + 86_400_000);
    if (turn === 16) await memory.remove("operator", "USER.md");
    await say(`question ${turn}`);
    // A chat is sent one message a second.
    await time.advance(1000);
  }
  expectContinued(model.requests);
  const said = JSON.stringify(model.requests.at(-1)?.messages);
  for (const news of [
    "likes trains",
    "likes boats",
    "about USER.md no longer",
    "- m_",
    "about missions no longer",
  ])
    expect(said.split(news), news).toHaveLength(2);
  expect(said.match(/Today is/g)).toHaveLength(1);
}

test("each request of a thread continues the one before it: the terminal", async () => {
  const { model, terminal } = await openTerminalWithModel({
    env: { TOOL_APPROVALS: "mission_create=allow" },
  });
  await twentyTurnModel(model);
  for (let turn = 1; turn <= TURNS; turn++) {
    terminal.type(`question ${turn}`);
    terminal.press("enter");
    await terminal.until(`answer to question ${turn}`);
  }
  expectContinued(model.requests);
});

const CALLS: Readonly<Record<string, ScriptedCall>> = {
  "question 3": { name: "mission_create", arguments: { goal: "Learn to sail" } },
  "question 8": { name: "mission_complete", arguments: { mission: "Learn to sail" } },
};

/** Calls a tool for each question, and answers it then. */
async function twentyTurnModel(given?: ModelServer): Promise<ModelServer> {
  const model = given ?? (await scriptedModel());
  model.otherwise(({ messages }) => {
    const last = messages.at(-1);
    const question = messages.findLast(({ role }) => role === "user")?.content;
    const [asked = ""] = /question \d+/.exec(String(question)) ?? [];
    if (last?.role !== "user") return { reasoning: `thought of ${asked}`, text: `answer to ${asked}` };
    return {
      reasoning: `thought before ${asked}`,
      calls: [CALLS[asked] ?? { name: "clock", arguments: { at: messages.length } }],
    };
  });
  return model;
}

function expectContinued(requests: readonly ChatRequest[]): void {
  expect(requests).toHaveLength(TURNS * 2);
  for (const [at, request] of requests.entries()) {
    const next = requests[at + 1];
    if (next === undefined) break;
    expect(JSON.stringify(next.tools)).toBe(JSON.stringify(request.tools));
    const [before, after] = [request.messages, next.messages.slice(0, request.messages.length)];
    expect(JSON.stringify(after), `request ${at + 2}`).toBe(JSON.stringify(before));
  }
}
