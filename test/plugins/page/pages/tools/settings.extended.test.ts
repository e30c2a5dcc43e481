/** The form of a tool's settings on the Tools page. */
import { expect, test } from "vitest";
import tools from "../../../../../host/plugin.ts";
import type { AnyPlugin } from "../../../../../kernel/plugin.ts";
import { findFaults } from "../../../../support/processes/axe.ts";
import { describeInBrowser, openSignedIn, useBrowser } from "../../../../support/processes/browser.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../../support/services/gateway.ts";
import { fixture } from "../../../../support/tools/components.ts";
import { install } from "../../../../support/tools/tool-host.ts";

const CAPABILITIES = JSON.stringify({
  version: "1.0.0",
  wit_version: "0.1.0",
  settings: [
    { name: "base_url", description: "The server to ask.", format: "url", required: true },
    { name: "language", description: "The language of answers.", format: "text", default: "en" },
  ],
  http: {
    allowlist: [
      { host: { setting: "base_url" }, path_prefix: "/v1/", methods: ["GET"] },
      { host: "notes.example.com", path_prefix: "/v1/", methods: ["GET"] },
    ],
    credentials: {
      key: {
        ...{ secret_name: "notes_key", optional: true, location: { type: "bearer" } },
        host_patterns: ["notes.example.com"],
      },
    },
  },
  secrets: { allowed_names: ["notes_key"] },
});

describeInBrowser("the tools page", () => {
  useBrowser();

  test("asks for a tool's settings, and before it goes somewhere else", async () => {
    const gateway = await openGateway({
      plugins: [tools as AnyPlugin],
      variables: { TOOLS_SHIPPED: "false", MEMORY_VECTORS: "false" },
    });
    const host = await gateway.service.service("toolHost").open();
    const component = await fixture("settings.js");
    await install(host, "notes", component, CAPABILITIES);
    const settingsOf = async () => (await host.catalog.find("notes"))?.choices.settings;

    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "tools", { width: 390 });
    await page.getByText("needs base_url", { exact: true }).waitFor();
    await page.getByText("Details", { exact: true }).first().click();
    await page.getByText("It does not work until you give that below.").waitFor();
    await page.getByText("Settings, sign-in and secrets (incomplete)").click();
    // The menu of the person has a language, too.
    const field = (name: string) => page.getByRole("main").getByLabel(name);
    const form = (name: string) => page.locator("form", { has: page.getByLabel(name) });
    const save = async (name: string, value: string) => {
      await field(name).fill(value);
      await form(name).getByRole("button", { name: "Save" }).click();
    };
    await form("base_url").getByText("missing").waitFor();
    await form("base_url").getByText("The server to ask.").waitFor();
    await form("language").getByText("default").waitFor();
    await form("notes_key").getByText("not set").waitFor();
    expect(await field("language").inputValue()).toBe("en");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findFaults(page)).toEqual([]);
    }

    await save("base_url", "https://a.test\\@b.test/");
    await page.getByText("The setting base_url must be an address such as").first().waitFor();
    expect(await settingsOf()).toEqual({});

    await save("base_url", "http://10.0.0.7:8888");
    const dialog = page.getByRole("alertdialog");
    await dialog.getByText("may reach 10.0.0.7:8888, also if it is private").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(await settingsOf()).toEqual({});

    await save("base_url", "http://10.0.0.7:8888");
    await dialog.getByRole("button", { name: "Let it" }).click();
    await expect.poll(settingsOf).toEqual({ base_url: "http://10.0.0.7:8888" });
    await page.getByText("Settings, sign-in and secrets", { exact: true }).waitFor();
    expect(await page.getByText("needs base_url").count()).toBe(0);

    // Other words need no agreement.
    await save("language", "de");
    await expect.poll(settingsOf).toEqual({ base_url: "http://10.0.0.7:8888", language: "de" });
    expect(await dialog.count()).toBe(0);
    await form("language").getByText("default").waitFor({ state: "detached" });
    expect(page.complaints.filter((line) => !line.includes("400"))).toEqual([]);
  });
});
