/** The page where an operator sees who talks by the webhook, and answers. */
import { expect, test } from "vitest";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import webhookPlugin from "../../../../plugins/webhook/plugin.ts";
import { findFaults } from "../../../support/processes/axe.ts";
import { describeInBrowser, openSignedIn, useBrowser } from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";
import { client, completed } from "../../../support/services/webhook.ts";
import { WEBHOOK_SETTINGS } from "../../../support/services/webhook-plugins.ts";

describeInBrowser("the webhooks page", () => {
  useBrowser();

  test("pairs an unknown user, answers a tool's gate, adds and removes an integration", async () => {
    const model = await scriptedModel();
    const sent: unknown[] = [];
    const { MODEL_PROVIDER: _, ...settings } = WEBHOOK_SETTINGS;
    const gateway = await openGateway({
      model,
      tools: {
        mail: {
          writes: true,
          run: (params) => {
            sent.push(params);
            return { status: "ok", output: "sent" };
          },
        },
      },
      plugins: [webhookPlugin] as readonly AnyPlugin[],
      variables: { ...settings, HTTP_PAIRING: "required", MEMORY_VECTORS: "false" },
    });
    await gateway.addUser("ann");
    const webhook = client(gateway.service.states.find(({ name }) => name === "webhook")?.detail ?? "");
    const held = (await webhook.post({ user_id: "ann", message: "It is me, ann" })).json.job_id;

    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "webhooks", { width: 390 });
    const card = page.getByRole("region", { name: "Pairing" });
    await card.getByText("It is me, ann").waitFor();
    await card.getByLabel("Account of webhook/ann").selectOption("ann");
    model.script({ text: "Hello ann." });
    await card.getByRole("button", { name: "Pair" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Pair" }).click();
    await page.getByRole("button", { name: "Unpair webhook/ann" }).waitFor();
    expect((await completed(webhook, held)).response).toBe("Hello ann.");

    await page.getByRole("button", { name: "Add integration" }).click();
    await page.getByLabel("Name of the integration").fill("robot");
    await page.getByLabel("User of the integration").fill("webhook/robot");
    await page.getByLabel("Message template").fill("A {{action}}");
    await page.getByRole("button", { name: "Add integration" }).click();
    const secret = (await page.getByText(/^whsec_/).textContent()) ?? "";
    model.script({ calls: [{ name: "mail", arguments: { to: "bob" } }] });
    const event = await webhook.send({
      method: "POST",
      path: "/webhook/robot",
      headers: { "content-type": "application/json", "x-webhook-secret": secret },
      body: '{"action":"push"}',
    });
    expect(event.status).toBe(200);
    await expect.poll(() => gateway.service.service("approvals").pendingOfIdentities()).toHaveLength(1);
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText("Mail to bob?").waitFor();
    expect(await findFaults(page)).toEqual([]);
    const wide =
      "[...document.querySelectorAll('.page *')].filter((e) => e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML.slice(0, 80))";
    expect(await page.evaluate(wide)).toEqual([]);
    await page.getByRole("button", { name: "Allow once" }).click();
    await expect.poll(() => sent).toEqual([{ to: "bob" }]);

    await page.getByRole("button", { name: "Delete webhook/robot" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await expect
      .poll(async () => (await gateway.service.service("threads").list("webhook/robot")).items)
      .toEqual([]);
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
    await expect.poll(() => gateway.service.service("integrations").list()).toEqual([]);
  });
});
