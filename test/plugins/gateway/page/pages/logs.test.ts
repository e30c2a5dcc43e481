/** The page where an operator sees the nodes and their log. */
import axe from "axe-core";
import { expect, test } from "vitest";
import { describeInBrowser, openPage, useBrowser } from "../../../../support/processes/browser.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../../support/services/gateway.ts";

describeInBrowser("the logs page", () => {
  useBrowser();

  test("lists the nodes above the newest log lines, also on a narrow screen", async () => {
    const gateway = await openGateway();
    const { nodes } = (await gateway.ask("/api/status")).body;
    const page = await openPage({ width: 390 });
    await page.goto(`${gateway.url}/?token=${OPERATOR_TOKEN}`);
    await page.getByLabel("Message").waitFor();
    await page.goto(`${gateway.url}/#/logs`);
    await page.getByRole("cell", { name: nodes[0].id.slice(0, 8) }).waitFor();
    expect(await page.getByRole("row").count()).toBe(1 + nodes.length);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate("axe.run()")) as axe.AxeResults;
    expect(violations.map(({ id, nodes: found }) => [id, found.map(({ html }) => html)])).toEqual([]);
  });
});
