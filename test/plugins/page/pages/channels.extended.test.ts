/** The page where an operator sees chat channels, lets people in, and deals with what could not be sent. */
import { expect, onTestFinished, test } from "vitest";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import messaging from "../../../../plugins/messaging/plugin.ts";
import slackPlugin from "../../../../plugins/slack/plugin.ts";
import telegramPlugin from "../../../../plugins/telegram/plugin.ts";
import { findFaults } from "../../../support/processes/axe.ts";
import { describeInBrowser, openSignedIn, useBrowser } from "../../../support/processes/browser.ts";
import { directOf, startSlack } from "../../../support/servers/slack.ts";
import { startTelegram } from "../../../support/servers/telegram.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

const ANN = "U0ANN";

describeInBrowser("the channels page", () => {
  useBrowser();

  test("shows their state, pairs a sender, and sends again what could not be sent", async () => {
    const slack = await startSlack();
    const model = await scriptedModel();
    model.otherwise({ text: "Hello Ann." });
    const gateway = await openGateway({
      model,
      plugins: [messaging, slackPlugin, telegramPlugin] as readonly AnyPlugin[],
      variables: { ...slack.settings, MEMORY_VECTORS: "false" },
    });
    await gateway.addUser("ann");
    await slack.connected();
    slack.say(ANN, "It is me, Ann");
    await slack.until(() => slack.answers(directOf(ANN))[0]);

    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "channels", { width: 1280 });
    const request = page.getByRole("region", { name: "Request of U0ANN Name" });
    await request.getByText("It is me, Ann").waitFor();
    await page.getByText("@postern in The Team").waitFor();
    await page.getByText("Set Telegram up…").waitFor();
    slack.spoil("chat.postMessage", { error: "is_archived" }, { error: "is_archived" });
    await request.getByLabel("Account of slack/T0TEAM.U0ANN").selectOption("ann");
    await request.getByRole("button", { name: "Pair" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Pair" }).click();
    const row = page.getByRole("row", { name: /Hello Ann\./ });
    await row.getByText("not sent").waitFor();
    await row.getByText("is_archived").waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await findFaults(page)).toEqual([]);
    await row.getByRole("button", { name: "Send again" }).click();
    await slack.until(() => slack.answers(directOf(ANN)).some(({ text }) => text === "Hello Ann."));
    await page
      .getByRole("row", { name: /You are let in/ })
      .getByRole("button", { name: /^Drop/ })
      .click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Drop" }).click();
    await page.getByText("Everything is sent.").waitFor();
  });

  test("a channel is set up on it: the service is asked first, and the token is never shown again", async () => {
    const telegram = await startTelegram();
    onTestFinished(() => telegram.close());
    const gateway = await openGateway({
      model: await scriptedModel(),
      plugins: [messaging, telegramPlugin] as readonly AnyPlugin[],
      variables: { TELEGRAM_API_URL: telegram.url, MEMORY_VECTORS: "false" },
    });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "channels", { width: 1280 });
    await page.getByText("Set Telegram up…").click();
    const form = page.getByRole("form", { name: "Set Telegram up" });
    await form.getByText("@BotFather").first().waitFor();
    expect(await findFaults(page)).toEqual([]);
    const token = form.locator("input[name=TELEGRAM_BOT_TOKEN]");
    await token.fill("123456:of-nobody");
    await form.getByRole("button", { name: "Check and save" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByText("not set up", { exact: true }).waitFor();
    await token.fill(telegram.token);
    await form.getByRole("button", { name: "Check and save" }).click();
    await page.getByText("connected", { exact: true }).waitFor();
    await page.getByRole("link", { name: /^https:\/\/t\.me\// }).waitFor();
    const { body } = await gateway.ask("/api/channels/telegram/setup");
    expect(JSON.stringify(body)).not.toContain(telegram.token);
    expect(await page.content()).not.toContain(telegram.token);
    await page.getByText("Change the secrets…").click();
    await form.getByRole("button", { name: "Remove Telegram" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("not set up", { exact: true }).waitFor();
    // Only operators may.
    const ann = await gateway.addUser("ann");
    const refused = await gateway.ask("/api/channels/telegram/setup", { token: ann });
    expect(refused.status).toBe(403);
  });
});
