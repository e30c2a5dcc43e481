/** The same through the chat services that come with Postern, as people use them. */
import { expect, test } from "vitest";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import email from "../../../plugins/email/plugin.ts";
import messaging from "../../../plugins/messaging/plugin.ts";
import slack from "../../../plugins/slack/plugin.ts";
import store from "../../../plugins/store/plugin.ts";
import telegram from "../../../plugins/telegram/plugin.ts";
import telemetry from "../../../plugins/telemetry/plugin.ts";
import { describeWithMail } from "../../support/servers/mail-server.ts";
import { scriptedModel, toolsPlugin } from "../../support/services/agent.ts";
import { agentPlugins } from "../../support/services/agent-plugins.ts";
import { pairSender } from "../../support/services/chat.ts";
import { emailUnderKills } from "../../support/services/email-kills.ts";
import { bootKernel } from "../../support/services/kernel.ts";
import { slackUnderKills } from "../../support/services/slack-kills.ts";
import { telegramUnderKills } from "../../support/services/telegram-kills.ts";
import { afterThisTest } from "../../support/undo.ts";

async function steer(plugin: AnyPlugin, open: typeof telegramUnderKills) {
  const chat = await open();
  afterThisTest(chat.close);
  const [person = ""] = chat.people;
  const model = await scriptedModel();
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const tools = toolsPlugin({
    hold: {
      async run() {
        begun.resolve();
        await released.promise;
        return { status: "ok", output: "held" };
      },
    },
  });
  const all = [store, telemetry, tools, ...agentPlugins, messaging, plugin] as readonly AnyPlugin[];
  const named = { MODEL_BASE_URL: model.url, MODEL_NAME: "scripted", CHAT_TITLES: "false" };
  const kernel = await bootKernel(all, { ...named, ...chat.settings });
  await pairSender(kernel, `${chat.name}/${person}`);
  const isConnected = async () =>
    (await kernel.service("messaging").channels()).some((one) => one.name === chat.name && one.isConnected);
  await expect.poll(isConnected).toBe(true);
  model.script({ text: "Wait. ", calls: [{ name: "hold", arguments: {} }] }, { text: "Both are done." });
  await chat.say(person, "Begin");
  await begun.promise;
  const threads = kernel.service("threads");
  const [thread] = (await threads.list("ann")).items;
  const turns = async () => (await threads.turns("ann", thread?.id ?? "")).items;
  await chat.say(person, "Make it blue");
  await expect.poll(async () => (await turns()).map(({ status }) => status)).toEqual(["running", "queued"]);
  const [turn, waiting] = await turns();
  released.resolve();
  const answers = () => chat.shown(person).filter((text) => text.includes("Both are done."));
  await expect.poll(answers).toHaveLength(1);
  const said = model.requests.map(({ messages }) => messages.filter(({ role }) => role === "user"));
  expect(said.map(({ length }) => length)).toEqual([1, 2]);
  expect(JSON.stringify(said[1]?.[1])).toContain("Make it blue");
  expect(await turns()).toHaveLength(1);
  expect((await threads.turn("ann", waiting?.id ?? ""))?.id).toBe(turn?.id);
  await expect.poll(() => kernel.service("jobs").counts()).toEqual({ queued: 0, running: 0 });
  await expect.poll(() => kernel.service("messaging").list()).toEqual([]);
  expect(answers()).toHaveLength(1);
}

test("a message in Telegram is heard by the turn that runs, and one answer is for both", () =>
  steer(telegram as AnyPlugin, telegramUnderKills));

test("a message in Slack is heard by the turn that runs, and one answer is for both", () =>
  steer(slack as AnyPlugin, slackUnderKills));

describeWithMail("by mail", () => {
  test("a mail is heard by the turn that runs, and one answer is for both", () =>
    steer(email as AnyPlugin, emailUnderKills));
});
