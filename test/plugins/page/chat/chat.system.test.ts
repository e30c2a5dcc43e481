import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import {
  describeInBrowser,
  openLink,
  openPage,
  say,
  useBrowser,
} from "../../../support/processes/browser.ts";
import { type Served, servePostern } from "../../../support/processes/served.ts";
import { fixture } from "../../../support/tools/components.ts";
import { afterThisFile } from "../../../support/undo.ts";

const CAPABILITIES = JSON.stringify({
  version: "1.2.3",
  wit_version: "0.1.0",
  http: {
    allowlist: [{ host: "api.example.com", path_prefix: "/v1/", methods: ["POST"] }],
    rate_limit: { requests_per_minute: 60, requests_per_hour: 500 },
    timeout_secs: 10,
  },
  setup: { required_secrets: [{ name: "probe_key", prompt: "Probe key" }] },
});

describeInBrowser("the page in a browser", () => {
  useBrowser();
  const later = afterThisFile();
  let served: Served;
  beforeAll(async () => {
    served = await servePostern({ CHAT_RATE_LIMIT: "1000" }, later);
  });

  test("the link signs in, the token leaves the address bar, and nothing in the page holds it", async () => {
    const page = await openLink(served.link());
    const token = new URL(served.link()).searchParams.get("token") ?? "none";
    expect(page.url()).toBe(`${served.url}/`);
    expect(await page.content()).not.toContain(token);
    expect(await page.evaluate("document.cookie + JSON.stringify(localStorage)")).not.toContain(token);
    expect(served.process.stderr()).not.toContain(token);
    expect(page.complaints).toEqual([]);
  });

  test("without a token it asks for one, refuses a wrong one, and takes the right one", async () => {
    const page = await openPage();
    await page.goto(served.url);
    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Invalid or missing auth token").waitFor();
    await page.getByLabel("Token").fill(readFileSync(`${served.home}/webui-token`, "utf8").trim());
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Message").waitFor();
  });

  test("an answer streams in as Markdown, and is there again after a reload", async () => {
    const page = await openLink(served.link());
    served.model.script({ text: ["Some **bold**", " text\n\n```js\nconst a", " = 1;\n```\n"], delay: 40 });
    await say(page, "Show me code");
    await page.locator("strong", { hasText: "bold" }).waitFor();
    await page.getByRole("button", { name: "Copy", exact: true }).waitFor();
    await expect.poll(() => page.locator("figure.code code").textContent()).toBe("const a = 1;");
    await page.reload();
    await page.locator("strong", { hasText: "bold" }).waitFor();
    expect(await page.locator(".asked").textContent()).toContain("Show me code");
    expect(await page.locator("strong", { hasText: "bold" }).count()).toBe(1);
    expect(page.complaints).toEqual([]);
  });

  test("an answer that is complete before its own request was answered is shown", async () => {
    const page = await openLink(served.link());
    await page.route("**/api/chat/send", async (route) => {
      // The page reads the list of threads when it learns that a turn has ended.
      const ended = page.waitForRequest(/\/api\/threads\?/);
      const response = await route.fetch();
      await ended;
      await route.fulfill({ response });
    });
    served.model.script({ text: "Quick as that" });
    await say(page, "Hello");
    await page.getByText("Quick as that").waitFor();
  });

  test("stop ends a turn in the middle and says so", async () => {
    const page = await openLink(served.link());
    served.model.script({ text: ["word1 ", "word2 ", "word3 "], end: "stall" });
    await say(page, "Talk for long");
    await page.getByText("word3 ").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("stopped", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
  });

  test("a failed turn stays with its reason and can be tried again", async () => {
    const page = await openLink(served.link());
    served.model.script({ status: 400 }, { text: "Better now" });
    await say(page, "Go");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Better now").waitFor();
  });

  test("a tool call is a card that tells what was called, with what and what came back", async () => {
    const page = await openLink(served.link());
    served.model.script(
      { calls: [{ name: "memory_write", arguments: { path: "notes/bike.md", text: "The bike is red" } }] },
      { text: "Noted." },
    );
    await say(page, "Remember my bike");
    await page.getByText("Noted.").waitFor();
    await page.locator(".call summary").click();
    await page.locator(".call .inside").getByText("The bike is red").first().waitFor();
    await page.goto(`${served.url}/#/memory`);
    await page.getByRole("listitem").filter({ hasText: "The bike is red" }).waitFor();
    await page.getByRole("button", { name: "notes/bike.md" }).click();
    expect(await page.getByLabel("Text of notes/bike.md").inputValue()).toContain("The bike is red");
  });

  test("a tool is installed from two dropped files, its grants shown first; a secret too short to hide is warned of; a call that may write asks, and runs once allowed", async () => {
    const page = await openLink(served.link());
    await page.goto(`${served.url}/#/tools`);
    await page.getByRole("button", { name: "Add a tool" }).click();
    await page.getByLabel("The component and its capabilities file").setInputFiles([
      { name: "prober.wasm", mimeType: "application/wasm", buffer: Buffer.from(await fixture("prober.js")) },
      { name: "capabilities.json", mimeType: "application/json", buffer: Buffer.from(CAPABILITIES) },
    ]);
    await page.getByText("may POST https://api.example.com/v1/*").waitFor();
    await page.getByRole("button", { name: "Install", exact: true }).click();
    await page.getByRole("heading", { name: /prober 1\.2\.3/ }).waitFor();
    await page.getByRole("article", { name: "prober" }).getByText("Details", { exact: true }).click();

    await page.getByText("Sign-in and secrets").click();
    const warning = page.getByText("`probe_key` is too short to be hidden");
    await page.getByLabel("Probe key").fill("12345");
    await page.getByRole("button", { name: "Save" }).click();
    await warning.waitFor();
    await page.getByLabel("Probe key").fill("123456");
    await page.getByRole("button", { name: "Save" }).click();
    await warning.waitFor({ state: "detached" });

    served.model.script({ calls: [{ name: "prober", arguments: {} }] }, { text: "Probed." });
    await page.goto(`${served.url}/#/`);
    await say(page, "Probe it");
    await page.getByText("May prober run?").waitFor();
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.getByText("Probed.").waitFor();
    await page.locator(".call.succeeded > summary", { hasText: "prober" }).click();
    await page.getByText(/^Receipt /).waitFor();
    expect(await page.getByText("May prober run?").count()).toBe(0);
    expect(page.complaints).toEqual([]);
  });

  test("markup in an answer, a tool's output or a title does nothing", async () => {
    const attack =
      '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>[x](javascript:window.hacked=1)';
    const page = await openLink(served.link());
    served.model.script(
      { calls: [{ name: "memory_write", arguments: { path: "x.md", text: attack } }] },
      { calls: [{ name: "memory_read", arguments: { path: "x.md" } }] },
      {
        text: `${attack}\n\n<svg onload="window.hacked=1"></svg> <a href="javascript:window.hacked=1">y</a> done`,
      },
    );
    await say(page, attack);
    await page.getByText("done").first().waitFor();
    for (const summary of await page.locator(".call summary").all()) await summary.click();
    for (const link of await page.locator(".prose a").all()) await link.click({ trial: true });
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.locator(".prose img, .prose script, .prose svg, .prose [onerror]").count()).toBe(0);
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
  });
});
