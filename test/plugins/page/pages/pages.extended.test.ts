/** The pages beside the chat, on one service. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, expect, test } from "vitest";
import { expectNoFaults } from "../../../support/processes/axe.ts";
import {
  type BrowserPage,
  describeInBrowser,
  openPage,
  openSignedIn,
  useBrowser,
} from "../../../support/processes/browser.ts";
import type { ModelServer } from "../../../support/servers/model-server.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway, type TestGateway } from "../../../support/services/gateway.ts";
import { afterThisFile } from "../../../support/undo.ts";

/** Nor may a script have thrown, or the console have complained. */
async function expectSound(page: BrowserPage): Promise<void> {
  await expectNoFaults(page);
  expect(page.complaints).toEqual([]);
}

describeInBrowser("the pages", () => {
  useBrowser();
  const later = afterThisFile();
  let model: ModelServer;
  let gateway: TestGateway;
  beforeAll(async () => {
    model = await scriptedModel(later);
    gateway = await openGateway({ model, variables: { MEMORY_VECTORS: "false" } }, later);
  });

  const open = (hash: string) => openSignedIn(gateway, OPERATOR_TOKEN, hash);

  test("a job shows its question and answer, follows what happens, and is run again", async () => {
    const page = await open("jobs");
    await page.getByText("No jobs yet").waitFor();
    await expectSound(page);
    const jobs = gateway.service.service("jobs");
    model.script({ status: 400 });
    await jobs.submit({ user: "operator", channel: "webhook", message: "Count the sheep" });
    // Without a click: the page follows the queue.
    await page.getByText("failed", { exact: true }).last().waitFor();
    await expectSound(page);
    model.otherwise({ text: "Seven **sheep**." });
    await page.getByRole("cell").getByRole("link", { name: "Count the sheep" }).click();
    await page.getByText("Attempts").waitFor();
    await expectSound(page);
    await page.getByRole("button", { name: "Run again" }).click();
    await page.getByText("Seven sheep.").waitFor();
    await page.getByRole("link", { name: "Open the thread" }).waitFor();
    await page.getByRole("link", { name: "All jobs" }).click();
    await page.getByLabel("Status").selectOption("failed");
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    await page.getByLabel("Status").selectOption("queued");
    await page.getByText("No job has this status.").waitFor();
  });

  test("usage is drawn over time by model, tool or channel, with the numbers in tables", async () => {
    await gateway.ask("/api/chat", { method: "POST", body: { message: "Hi" } });
    const all = await open("usage");
    await all.getByRole("img", { name: /^Turns over time/ }).waitFor();
    const ends = all.getByRole("img", { name: /^Turns over time/ }).locator("text");
    // Seven days are today and the six before it.
    const dates = (await ends.allTextContents()).slice(1).map((shown) => Date.parse(shown));
    expect(Math.round(((dates[1] as number) - (dates[0] as number)) / 86_400_000)).toBe(6);
    await all.getByText("Turns as a table", { exact: true }).click();
    await all.getByRole("heading", { name: "Turns by model" }).waitFor();
    await expectSound(all);
    await all.getByLabel("By", { exact: true }).selectOption("tool");
    await all.getByRole("heading", { name: "Time of a tool call" }).waitFor();
    await all.getByLabel("Time", { exact: true }).selectOption("24 hours");
    await expectSound(all);
  });

  test("the log is followed, newest line first, without requests unless asked for, and filtered; the nodes are folded above it", async () => {
    const { nodes } = (await gateway.ask("/api/status")).body;
    const page = await open("logs");
    await page.getByText("1 node, store").click();
    await page.getByText(/^Store: .*on the disk/).waitFor();
    await page.getByRole("cell", { name: nodes[0].id.slice(0, 8) }).waitFor();
    expect(await page.getByRole("row").count()).toBe(1 + nodes.length);
    await gateway.ask("/api/jobs/first");
    await gateway.ask("/api/jobs/second");
    expect(await page.getByText("GET /api/").count()).toBe(0);
    await page.getByLabel("Level").selectOption("debug");
    const lines = page.getByRole("listitem").filter({ hasText: "debug" });
    await lines.getByText("GET /api/jobs/second 404").waitFor();
    await lines.getByText("GET /api/jobs/second 404").click();
    await page.getByText("status: 404").first().waitFor();
    await expectSound(page);
    await page.getByLabel("Text").fill("GET /api/jobs/");
    await expect
      .poll(async () =>
        (await lines.locator("summary").allTextContents()).filter((line) => /404$/.test(line)),
      )
      .toEqual(["GET /api/jobs/second 404", "GET /api/jobs/first 404"]);
    expect(await page.getByText("GET /api/status 200").count()).toBe(0);
    await page.getByLabel("User").fill("nobody");
    await page.getByText("No line matches").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("listitem").filter({ hasText: "info" }).first().waitFor();
    await expect.poll(() => page.getByText("GET /api/").count()).toBe(0);
  });

  test("a disk that fills and a sign-in that ends are said at the top of every page, until dismissed", async () => {
    const db = new DatabaseSync(join(gateway.service.home, "store.sqlite"));
    const [table] = db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%store_sizes'").all();
    // Beside a file of a few megabytes, as if it had grown by petabytes since.
    db.prepare(`INSERT INTO ${table?.["name"]} (day, at, bytes) VALUES ('2000-01-01', ?, ?)`).run(
      Date.now() - 2 * 86_400_000,
      -1e15,
    );
    db.close();
    const { body } = await gateway.ask("/api/tokens", {
      method: "POST",
      body: { user: "operator", name: "short", expires_in_days: 2 },
    });
    const page = await openPage();
    await page.goto(`${gateway.url}/#/jobs`);
    await page.getByLabel("Token").fill(body.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    const store = page.getByRole("status").filter({ hasText: "the disk is full in about a day" });
    await store.waitFor();
    const signIn = page.getByRole("status").filter({ hasText: "Your sign-in ends" });
    await signIn.getByRole("link", { name: "People" }).waitFor();
    // That nobody was signed in at first.
    expect(page.complaints.splice(0)).toEqual([expect.stringContaining("401")]);
    await expectSound(page);
    await store.getByRole("button", { name: "Dismiss" }).click();
    await signIn.getByRole("button", { name: "Dismiss" }).click();
    await expect.poll(() => page.locator(".banner").count()).toBe(0);
    await page.getByRole("link", { name: "Memory" }).click();
    await page.getByRole("heading", { name: "Memory" }).waitFor();
    expect(await page.locator(".banner").count()).toBe(0);
  });
});
