/** The settings page, on one service. */
import { beforeAll, expect, test } from "vitest";
import { expectNoFaults, findFaults } from "../../../support/processes/axe.ts";
import { describeInBrowser, openPage, openSignedIn, useBrowser } from "../../../support/processes/browser.ts";
import type { ModelServer } from "../../../support/servers/model-server.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway, type TestGateway } from "../../../support/services/gateway.ts";
import { afterThisFile } from "../../../support/undo.ts";

describeInBrowser("the settings page", () => {
  useBrowser();
  const later = afterThisFile();
  let model: ModelServer;
  let gateway: TestGateway;
  beforeAll(async () => {
    model = await scriptedModel(later);
    const variables = { MODEL_PROVIDER: "", MEMORY_VECTORS: "false", TURN_IDLE_SECS: "300" };
    gateway = await openGateway({ variables }, later);
  });

  test("the operator is led to it, tries a model out, sees each error at its field, and saves", async () => {
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    await page.getByRole("heading", { name: "Connect a model" }).waitFor();
    await page.getByRole("link", { name: "Admin" }).click();
    await page.getByRole("heading", { name: "Admin" }).waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("heading", { name: "Spending and limits" }).waitFor();
    // The way back stands in the header.
    expect(await page.locator(".bar").getByRole("link", { name: "Admin" }).getAttribute("href")).toBe(
      "#/admin",
    );

    await page.getByLabel("Provider", { exact: true }).selectOption("openai-compatible");
    await page.getByLabel("Messages a minute").fill("none");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Server URL: got nothing, expected the server's URL").waitFor();
    await page.getByText('Messages a minute: got "none", expected a whole number').waitFor();
    await page.getByText("Not saved: fix what is marked above.").waitFor();
    expect(await page.getByRole("textbox", { name: "Messages a minute" }).getAttribute("aria-invalid")).toBe(
      "true",
    );
    expect(await findFaults(page)).toEqual([]);

    // What is not saved is still there after a look elsewhere.
    await page.getByLabel("Messages a minute").fill("12");
    await page.goto(`${gateway.url}/#/jobs`);
    await page.getByRole("heading", { name: "Jobs" }).waitFor();
    await page.goto(`${gateway.url}/#/settings`);
    await page.getByText("2 changes are not saved.").waitFor();
    expect(await page.getByLabel("Messages a minute").inputValue()).toBe("12");

    await page.getByLabel("Server URL").first().fill(model.url);
    await page.getByLabel("Key of the server").fill("key-of-the-loopback-server");
    model.script({ text: "ready" });
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByText("answered: ready").waitFor();
    await expect.poll(() => page.locator("datalist option").count()).toBe(1);
    await page.getByLabel("Model", { exact: true }).fill("scripted");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("A change holds from the next message on").waitFor();
    expect(gateway.service.service("agent").model().name).toBe("scripted");
    const key = page.getByRole("textbox", { name: "Key of the server" });
    await expect.poll(() => key.getAttribute("placeholder")).toBe("set, ends in rver");

    // The stored key does not follow to another server.
    await page.getByLabel("Server URL").first().fill(`${model.url}/elsewhere`);
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByText("Key of the server: got (hidden), expected the secret once more").waitFor();
    await page.getByRole("button", { name: "Discard" }).click();

    expect(await page.getByLabel("Longest silence").isDisabled()).toBe(true);
    await page.getByText("It is set in the environment of the service").waitFor();
    await expectNoFaults(page);

    await page.getByRole("button", { name: "Reset Messages a minute" }).click();
    await page.getByRole("button", { name: "Remove Key of the server" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("A change holds from the next message on").waitFor();
    const stored = async () => {
      const { body } = await gateway.ask("/api/settings");
      return (body.settings as { name: string; source: string }[])
        .filter(({ source }) => source === "stored")
        .map(({ name }) => name);
    };
    // What was said at the first saving may still be shown.
    await expect.poll(stored).toEqual(["MODEL_PROVIDER", "MODEL_NAME", "MODEL_BASE_URL"]);
  });

  test("somebody else sees the theme and nothing more", async () => {
    const page = await openPage();
    await page.goto(`${gateway.url}/?token=${await gateway.addUser("ann")}`);
    await page.getByRole("button", { name: "Use the link" }).click();
    await page.getByLabel("Message").waitFor();
    expect(await page.getByRole("link", { name: "Settings" }).count()).toBe(0);
    await page.goto(`${gateway.url}/#/settings`);
    await page.getByRole("heading", { name: "Theme" }).waitFor();
    expect(await page.getByRole("heading", { name: "Model" }).count()).toBe(0);
    await page.locator(".page").getByRole("radio", { name: "Dark" }).check({ force: true });
    await expect.poll(() => page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
    expect(await findFaults(page)).toEqual([]);
  });
});
