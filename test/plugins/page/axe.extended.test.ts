/** Every view of the browser page, at every width and in both colour schemes, as axe sees it. */
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { findBarriers, findFaults } from "../../support/processes/axe.ts";
import { describeInBrowser, openPage, say, useBrowser } from "../../support/processes/browser.ts";
import { type Served, servePostern } from "../../support/processes/served.ts";
import { afterThisFile } from "../../support/undo.ts";

const PAGES =
  "tools jobs files memory routines usage people channels webhooks settings logs bin admin connect nowhere chat/none".split(
    " ",
  );

/** What is opened on a page, and what shows that it is there. */
const OPENED = [
  ["", (page: Page) => page.keyboard.press("Control+k"), "dialog"],
  [
    "tools",
    (page: Page) => page.getByRole("button", { name: "Add a tool" }).click(),
    "button:text-is('Close')",
  ],
  ["", (page: Page) => page.getByRole("button", { name: /^Model of this thread/ }).click(), "dialog"],
  ["bin", (page: Page) => page.getByRole("button", { name: "Empty the bin" }).click(), "dialog"],
] as const;

describeInBrowser("every page", () => {
  useBrowser();
  const later = afterThisFile();
  let served: Served;
  beforeAll(async () => {
    served = await servePostern({ CHAT_RATE_LIMIT: "1000" }, later);
    served.model.script({ text: "Gone" });
    const authorization = `Bearer ${new URL(served.link()).searchParams.get("token")}`;
    const headers = { authorization, "content-type": "application/json" };
    const body = JSON.stringify({ message: "A chat in the bin" });
    const said = await fetch(`${served.url}/api/chat`, { method: "POST", headers, body });
    const { thread_id } = (await said.json()) as { thread_id: string };
    await fetch(`${served.url}/api/threads/${thread_id}`, { method: "DELETE", headers });
  });

  test.each([
    ["light, wide", {}],
    ["dark, wide", { dark: true }],
    ["light, tablet", { width: 800 }],
    ["dark, tablet", { dark: true, width: 800 }],
    ["dark, phone", { dark: true, width: 390 }],
    ["light, phone", { width: 390 }],
  ])("axe finds nothing (%s), and nothing is wider than the screen", async (_name, options) => {
    const page = await openPage(options);
    await page.goto(served.link());
    served.model.script({
      text: "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nls -la\n```\n`inline` and [link](https://example.com)",
    });
    await say(page, "Show everything");
    await page.getByRole("button", { name: "Copy", exact: true }).waitFor();
    for (const hash of ["", ...PAGES.map((name) => `#/${name}`)]) {
      if (hash) await page.goto(`${served.url}/${hash}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect([hash, await findBarriers(page)]).toEqual([hash, []]);
      const wide = await page.evaluate(
        "document.documentElement.scrollWidth > innerWidth ? [...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 80)) : []",
      );
      expect([hash, wide]).toEqual([hash, []]);
    }
    for (const [hash, open, shown] of OPENED) {
      await page.goto(`${served.url}/#/${hash}`);
      await open(page);
      await page.locator(shown).first().waitFor();
      expect([hash, await findFaults(page)]).toEqual([hash, []]);
    }
  });
});
