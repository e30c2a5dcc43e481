/** A tool that is switched off, as the API and the page show it. */
import { expect, test } from "vitest";
import tools from "../../../../../host/plugin.ts";
import type { AnyPlugin } from "../../../../../kernel/plugin.ts";
import { findFaults } from "../../../../support/processes/axe.ts";
import { describeInBrowser, openPage, useBrowser } from "../../../../support/processes/browser.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../../support/services/gateway.ts";
import { bombIn, install, NOTHING, switchOff } from "../../../../support/tools/tool-host.ts";

async function openWithTool() {
  const gateway = await openGateway({
    plugins: [tools as AnyPlugin],
    variables: { TOOLS_SHIPPED: "false", MEMORY_VECTORS: "false" },
  });
  const host = await gateway.service.service("toolHost").open();
  await switchOff(host, await install(host, "bomb", await bombIn(0), NOTHING));
  return { gateway, user: await gateway.addUser("alice") };
}

test("everybody sees that a tool is off, since when and why; only the operator switches it on", async () => {
  const { gateway, user } = await openWithTool();
  const off = {
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    why: "It took its process down 3 times within ten minutes; the last time it was ended by SIGKILL.",
  };
  for (const token of [OPERATOR_TOKEN, user]) {
    const { body } = await gateway.ask("/api/tools", { token });
    expect(body.tools).toMatchObject([{ name: "bomb", switched_off: off }]);
    expect((await gateway.ask("/api/tools/bomb", { token })).body.switched_off).toEqual(off);
  }
  const enable = (name: string, token = OPERATOR_TOKEN) =>
    gateway.ask(`/api/tools/${name}/enable`, { method: "POST", token });
  expect((await enable("bomb", user)).status).toBe(403);
  expect((await enable("nobody")).status).toBe(404);
  expect((await enable("bomb")).body).toEqual({ enabled: true });
  expect((await enable("bomb")).body).toEqual({ enabled: false });
  expect((await gateway.ask("/api/tools/bomb")).body).not.toHaveProperty("switched_off");
});

describeInBrowser("the tools page", () => {
  useBrowser();

  async function openTools(url: string, token: string, options: Parameters<typeof openPage>[0] = {}) {
    const page = await openPage(options);
    await page.goto(`${url}/?token=${token}`);
    // A link for anybody but the operator asks first.
    if (token !== OPERATOR_TOKEN) await page.getByRole("button", { name: "Use the link" }).click();
    await page.getByLabel("Message").waitFor();
    await page.goto(`${url}/#/tools`);
    await page.getByRole("heading", { name: "bomb" }).waitFor();
    return page;
  }

  test("says why a tool is off; the operator switches it on, others are told who can", async () => {
    const { gateway, user } = await openWithTool();
    for (const options of [{}, { dark: true }, { width: 390 }, { width: 390, dark: true }]) {
      const page = await openTools(gateway.url, OPERATOR_TOKEN, options);
      await page.getByRole("region", { name: "bomb is switched off" }).getByText("SIGKILL").waitFor();
      expect(await findFaults(page)).toEqual([]);
    }

    const theirs = await openTools(gateway.url, user);
    await theirs.getByText("The operator can switch it on again.").waitFor();
    expect(await theirs.getByRole("button", { name: "Switch on" }).count()).toBe(0);

    const page = await openTools(gateway.url, OPERATOR_TOKEN);
    await page.getByRole("button", { name: "Switch on" }).click();
    await page.getByRole("region", { name: "bomb is switched off" }).waitFor({ state: "detached" });
    expect(await page.getByText("switched off").count()).toBe(0);
    expect(page.complaints).toEqual([]);
  });
});
