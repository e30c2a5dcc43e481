/** The page where an operator sees chat channels, lets people in, and deals with what could not be sent. */
import { expect, test } from "vitest";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import messaging from "../../../../plugins/messaging/plugin.ts";
import slackPlugin from "../../../../plugins/slack/plugin.ts";
import telegramPlugin from "../../../../plugins/telegram/plugin.ts";
import { findFaults } from "../../../support/processes/axe.ts";
import { describeInBrowser, openPage, useBrowser } from "../../../support/processes/browser.ts";
import { directOf, startSlack } from "../../../support/servers/slack.ts";
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

    const page = await openPage({ width: 1280 });
    await page.goto(`${gateway.url}/?token=${OPERATOR_TOKEN}`);
    await page.getByLabel("Message").waitFor();
    await page.goto(`${gateway.url}/#/channels`);
    const request = page.getByRole("region", { name: "Request of U0ANN Name" });
    await request.getByText("It is me, Ann").waitFor();
    await page.getByText("@postern in The Team").waitFor();
    await page.getByText("postern channel add telegram").waitFor();
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
});
