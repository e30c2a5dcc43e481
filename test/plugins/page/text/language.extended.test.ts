/** The page in another language: the browser's preference, and what a person chose. */
import { expect, test } from "vitest";
import { describeInBrowser, openSignedIn, useBrowser } from "../../../support/processes/browser.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

describeInBrowser("the page's language", () => {
  useBrowser();

  test("is the person's choice on this browser, loaded alone, and another person's is the browser's", async () => {
    const gateway = await openGateway({ variables: { MEMORY_VECTORS: "false" } });
    const ann = await gateway.addUser("ann");
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "routines");
    await page.getByRole("heading", { name: "Routines" }).waitFor();
    expect(await page.evaluate("[document.documentElement.lang, document.documentElement.dir]")).toEqual([
      "en-US",
      "ltr",
    ]);
    await page.evaluate("localStorage.setItem('postern.language.operator', 'de')");
    await page.reload();
    await page.getByRole("heading", { name: "Routinen" }).waitFor();
    await page.getByText("Noch keine Routinen").waitFor();
    expect(await page.evaluate("document.documentElement.lang")).toBe("de");
    const loaded = await page.evaluate(
      "Promise.all(performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).map(async ({ name }) => (await fetch(name)).text()))",
    );
    expect((loaded as string[]).some((script) => script.includes("No routines yet"))).toBe(false);

    await page.context().clearCookies();
    await page.goto("about:blank");
    await page.goto(`${gateway.url}/?token=${ann}`);
    await page
      .getByRole("button", { name: "Link benutzen" })
      .or(page.getByRole("button", { name: "Use the link" }))
      .click();
    await page.getByLabel("Message", { exact: true }).waitFor();
    expect(await page.evaluate("document.documentElement.lang")).toBe("en-US");
  });

  test("a page that is written from right to left is as wide as the screen", async () => {
    const gateway = await openGateway({ variables: { MEMORY_VECTORS: "false" } });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, undefined, { width: 390 });
    for (const name of ["tools", "files", "memory", "routines", "usage", "people", "webhooks", "settings"]) {
      await page.goto(`${gateway.url}/#/${name}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.evaluate("document.documentElement.dir = 'rtl'");
      const wide =
        "[...document.querySelectorAll('main, .page')].some((one) => one.scrollWidth > one.clientWidth)";
      expect([name, await page.evaluate(wide)]).toEqual([name, false]);
    }
  });
});
