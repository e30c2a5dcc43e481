/** Finding a tool on the page, and installing it by its name after a look at what it may do. */
import { expect, test } from "vitest";
import { findFaults } from "../../../../support/processes/axe.ts";
import { describeInBrowser, openPage, useBrowser } from "../../../../support/processes/browser.ts";
import { servePostern } from "../../../../support/processes/served.ts";

describeInBrowser("the tools page", () => {
  useBrowser();

  test("searches the indexes, shows what a tool may do, and installs it by name", async () => {
    const served = await servePostern({ TOOLS_SHIPPED: "false" });
    const page = await openPage();
    await page.goto(served.link());
    await page.getByLabel("Message").waitFor();
    await page.goto(`${served.url}/#/tools`);
    await page.getByRole("button", { name: "Add a tool" }).click();
    const where = page.getByLabel("Where the tool is");
    await where.fill("units of length");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    const listed = page.getByRole("region", { name: "Tools that can be installed" });
    await listed.getByText("Converts between units").waitFor();
    expect(await listed.getByRole("button").count()).toBe(1);
    expect(await findFaults(page)).toEqual([]);

    await listed.getByRole("button", { name: "Install convert" }).click();
    await page.getByText("may not use the network").waitFor();
    await page.getByRole("button", { name: "Install", exact: true }).click();
    await page.getByRole("article", { name: "convert" }).waitFor();
    await where.fill("convert");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await listed.getByText("installed", { exact: true }).waitFor();

    await where.fill("no-such-tool");
    await page.getByRole("button", { name: "Look at it" }).click();
    await page.getByRole("alert").getByText("No index lists a tool named no-such-tool.").waitFor();
    expect(page.complaints.filter((words) => !words.includes("404"))).toEqual([]);
  });
});
