/** Each page of the browser, on a desktop and a phone, light and dark: `<page>-<screen>-<theme>.png`. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";

const SCREENS = { desktop: { width: 1000, height: 640 }, phone: { width: 390, height: 780 } } as const;
const THEMES = ["light", "dark"] as const;

/** The file of the store in a service home. */
export function storeOf(home: string): string {
  const name = readdirSync(home).find((entry) => entry.endsWith(".db") || entry.endsWith(".sqlite"));
  const file = join(home, name ?? "store.db");
  if (!existsSync(file)) throw new Error(`${home} has no store`);
  return file;
}

type Pose = (page: Page) => Promise<unknown>;

/** Where each picture is taken: its name, its address, and what happens before. */
const SCENES: readonly (readonly [name: string, hash: string, pose: Pose])[] = [
  ["tools", "tools", (page) => page.getByRole("heading", { name: /weather/ }).waitFor()],
  ["jobs", "jobs", (page) => page.getByText("Welcome the new signups").waitFor()],
  ["routines", "routines", (page) => page.getByText("Draft the weekly report").waitFor()],
  ["memory", "memory", (page) => page.getByRole("button", { name: "facts/bike.md" }).waitFor()],
  [
    "history",
    "memory",
    async (page) => {
      await page.getByRole("button", { name: "notes/garden.md" }).click();
      await page.getByText("History").click();
      await page.getByRole("button", { name: "Show differences" }).click();
      await page.getByText("+ - water the tomatoes daily").scrollIntoViewIfNeeded();
      await page.locator(".page").evaluate((pane) => pane.scrollTo(0, pane.scrollHeight));
    },
  ],
  ["usage", "usage", (page) => page.locator("svg").first().waitFor()],
  ["people", "people", (page) => page.getByLabel("Role of ann").waitFor()],
  ["webhooks", "webhooks", (page) => page.getByText("webhook/ops").first().waitFor()],
  ["logs", "logs", (page) => page.locator(".log-line").first().waitFor()],
  ["settings", "settings", (page) => page.getByRole("heading", { name: "Spending and limits" }).waitFor()],
];

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message").fill(text);
  await page.keyboard.press("Enter");
}

export async function takePages(browser: Browser, link: string, folder: string): Promise<void> {
  const page = await browser.newPage({ viewport: SCREENS.desktop });
  // For what never comes, not for what is slow.
  page.setDefaultTimeout(300_000);
  const { origin } = new URL(link);
  const shoot = async (name: string) => {
    for (const [screen, size] of Object.entries(SCREENS))
      for (const colorScheme of THEMES) {
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        // What depends on the width is drawn again.
        const box = page.getByLabel("Message", { exact: true });
        if ((await box.isVisible()) && !(await page.getByRole("dialog").isVisible())) {
          await box.fill(" ");
          await box.fill("");
        }
        await page.waitForTimeout(150);
        await page.screenshot({ path: join(folder, `${name}-${screen}-${colorScheme}.png`) });
      }
    await page.setViewportSize(SCREENS.desktop);
  };
  await page.goto(link);
  await say(page, "Plan a weekend in the old town for me");
  await page.getByText("Bring a light coat").waitFor();
  await page.getByRole("button", { name: "Edit your question" }).first().click();
  await page.getByRole("textbox", { name: "Edit your question" }).fill("Plan three days in the old town");
  await page.keyboard.press("Enter");
  await page.getByText("Then add Monday").waitFor();
  await page.getByText("2 / 2").waitFor();
  await shoot("branched");
  await page.getByRole("button", { name: "Previous version of your question" }).click();
  await page.getByText("Bring a light coat").waitFor();
  await shoot("chat");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await shoot("palette");
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "New chat" }).first().click();
  await page.locator("input[type=file]").setInputFiles({
    name: "invoice.txt",
    mimeType: "text/plain",
    buffer: Buffer.from(
      "Invoice 2043\nReport late payment at acme-labs/ledger: please pay 480 EUR before Friday.",
    ),
  });
  await page.getByText("invoice.txt").first().waitFor();
  await say(page, "File a note for this");
  const card = page.getByRole("region", { name: "Approval" });
  await card.waitFor();
  await card.scrollIntoViewIfNeeded();
  await shoot("approval");

  for (const [name, hash, pose] of SCENES) {
    // From another page, so that it is opened anew.
    await page.goto(`${origin}/#/`);
    await page.goto(`${origin}/#/${hash}`);
    await pose(page);
    await shoot(name);
  }
  await page.close();
}
