/** The first view: small, still, and without a model the choice of one. */
import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { bundlePage } from "../../../../plugins/page/build.ts";
import { expectNoFaults, findFaults } from "../../../support/processes/axe.ts";
import {
  describeInBrowser,
  openPage,
  openSignedIn,
  openUserMenu,
  say,
  useBrowser,
} from "../../../support/processes/browser.ts";
import type { ModelServer } from "../../../support/servers/model-server.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway, type TestGateway } from "../../../support/services/gateway.ts";
import { afterThisFile } from "../../../support/undo.ts";

const MAX_FIRST_VIEW_BYTES = 120_000;

test("what the first view loads is less than 120 kB compressed", async () => {
  const files = await bundlePage();
  const importsOf = (name: string): string[] => {
    const code = Buffer.from(files.get(name) ?? []).toString();
    return [...code.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)].map(([, file]) => file as string);
  };
  const loaded = new Set(["index.html", "style.css", "icon.svg", "main.js"]);
  for (const name of loaded) for (const next of importsOf(name)) loaded.add(next);
  // One language is loaded, the largest in the worst case.
  const languages = [...files].filter(([, code]) => /\bsignInTitle:/.test(Buffer.from(code).toString()));
  const sizes = [...loaded].map((name) => gzipSync(files.get(name) ?? new Uint8Array()).length);
  const largest = Math.max(...languages.map(([, code]) => gzipSync(code).length));
  expect(languages.length).toBeGreaterThan(1);
  expect(sizes.reduce((sum, size) => sum + size, largest)).toBeLessThan(MAX_FIRST_VIEW_BYTES);
});

describeInBrowser("the first view", () => {
  useBrowser();
  const later = afterThisFile();
  let model: ModelServer;
  let gateway: TestGateway;
  beforeAll(async () => {
    model = await scriptedModel(later);
    gateway = await openGateway({ variables: { MODEL_PROVIDER: "", MEMORY_VECTORS: "false" } }, later);
  });

  test("without a model it is the choice; what the built-in one cannot answer leads there, until one is connected", async () => {
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    await page.getByRole("heading", { name: "Connect a model" }).waitFor();
    await page.getByRole("button", { name: "Use an API key" }).click();
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    const key = page.getByLabel("API key");
    await expect.poll(() => key.getAttribute("aria-invalid")).toBe("true");
    await expect.poll(() => key.evaluate((field) => field === document.activeElement)).toBe(true);
    await expectNoFaults(page);
    await key.pressSequentially("x");
    await expect.poll(() => key.getAttribute("aria-invalid")).toBe(null);

    await page.getByRole("button", { name: "Just look around" }).click();
    await page.getByRole("list", { name: "Suggestions" }).waitFor();
    await page.keyboard.type("Write me a poem");
    await page.keyboard.press("Enter");
    const way = page.getByRole("link", { name: "Connect a language model" });
    await way.waitFor();
    await page.reload();
    await way.click();

    await page.getByRole("button", { name: "Use a model on this machine" }).click();
    const address = page.getByLabel(/address/i);
    await address.fill("localhost:1");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page
      .getByRole("alert")
      .getByText(/127|localhost/)
      .waitFor();
    await expect.poll(() => address.evaluate((field) => field === document.activeElement)).toBe(true);
    model.script({ text: "ready" });
    await address.fill(model.url.replace(/^http:\/\//, ""));
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText(/^Connected\. .+ answers from now on\.$/).waitFor();
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    await expectNoFaults(page);
    model.script({ text: "Roses are red." });
    await say(page, "Write me a poem");
    await page.getByText("Roses are red.").waitFor();
    expect(await way.count()).toBe(0);
    expect(page.complaints).toEqual([]);
  });

  test("nothing moves by itself, an unknown address says so, and from right to left it is mirrored", async () => {
    const page = await openPage();
    await page.addInitScript(
      "window.moved = []; new PerformanceObserver((seen) => { for (const { value, hadRecentInput, sources } of seen.getEntries()) if (!hadRecentInput) moved.push([value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 90))]); }).observe({ type: 'layout-shift', buffered: true })",
    );
    await page.goto(`${gateway.url}/?token=${OPERATOR_TOKEN}`);
    await page.getByLabel("Message", { exact: true }).waitFor();
    for (const name of ["", "tools", "files", "memory", "routines", "jobs", "usage", "people", "settings"]) {
      await page.goto(`${gateway.url}/#/${name}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.waitForLoadState("networkidle");
      expect([name, await page.evaluate("moved.splice(0)")]).toEqual([name, []]);
    }
    await page.goto(`${gateway.url}/#/nowhere`);
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    expect(await findFaults(page)).toEqual([]);
    await page.getByRole("link", { name: "Go to the chat" }).click();

    await page.evaluate("document.documentElement.dir = 'rtl'");
    const side = await page.getByRole("complementary").boundingBox();
    expect((side?.x ?? 0) + (side?.width ?? 0)).toBe(1200);
    await openUserMenu(page);
    await page.getByRole("dialog", { name: "Your account" }).waitFor();
    await expectNoFaults(page);
    expect(page.complaints).toEqual([]);
  });
});
