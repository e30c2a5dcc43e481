/** Calls, approvals and the words of an answer as the chat shows them, and that nothing moves meanwhile. */
import { expect, test } from "vitest";
import { findBarriers } from "../../../support/processes/axe.ts";
import {
  type BrowserPage,
  describeInBrowser,
  openPage,
  say,
  useBrowser,
} from "../../../support/processes/browser.ts";
import { scriptedModel, type TestTool } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

const TOOLS: Readonly<Record<string, TestTool>> = {
  weather: { run: () => ({ status: "ok", output: '{"sky":"clear","days":[{"high":22}]}' }) },
  issues: { writes: true, run: () => ({ status: "ok", output: "7" }) },
};

async function openChat(page: BrowserPage, variables: Readonly<Record<string, string>> = {}) {
  const model = await scriptedModel();
  const settings = {
    TOOL_APPROVALS: "weather=allow",
    PROVENANCE: "off",
    MEMORY_VECTORS: "false",
    ...variables,
  };
  const gateway = await openGateway({ model, tools: TOOLS, variables: settings });
  await page.goto(`${gateway.url}/?token=${OPERATOR_TOKEN}`);
  await page.getByLabel("Message", { exact: true }).waitFor();
  return { model, gateway, say: (text: string) => say(page, text) };
}

/** The layout shifts that no key or click explains, from now on. */
async function watchShifts(page: BrowserPage): Promise<() => Promise<unknown>> {
  await page.evaluate(`shifts = []; new PerformanceObserver((list) => shifts.push(
    ...list.getEntries().filter(({ hadRecentInput }) => !hadRecentInput).map(({ value, sources }) => [
      value, sources.map(({ node }) => node?.outerHTML ?? node?.textContent)])
  )).observe({ type: "layout-shift" })`);
  return () => page.evaluate("shifts");
}

describeInBrowser("the cards of a chat", () => {
  useBrowser();

  test.each([1200, 390])("nothing moves while calls run and an answer grows, %i px wide", async (width) => {
    const page = await openPage({ width });
    const { model, say } = await openChat(page);
    await page.getByLabel("Message", { exact: true }).waitFor();
    const shifts = await watchShifts(page);
    const bin = () => page.locator(".threads .bin").evaluate((one) => one.getBoundingClientRect().top);
    const binAtStart = await bin();
    const words = "A sentence that grows. ".repeat(60).match(/.{1,30}/g) ?? [];
    model.script(
      { calls: [{ name: "weather", arguments: { city: "Berlin" } }], delay: 20 },
      {
        text: [
          ...words,
          "\n\n```mermaid\ngraph LR\n",
          "A-->B\n",
          "```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end.",
        ],
        delay: 10,
      },
    );
    await say("Go");
    await page.getByText("The end.").waitFor();
    await page.locator(".diagram.drawn").waitFor();
    expect(await shifts()).toEqual([]);
    // Nor does the list of chats push it down, which counts only where it takes longer than the browser gives a key.
    expect(await bin()).toBe(binAtStart);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });

  test("a call is a line with what it did; inside, its parameters and its result are tables", async () => {
    const page = await openPage();
    const { model, say } = await openChat(page);
    model.script({ calls: [{ name: "weather", arguments: { city: "Berlin" } }] }, { text: "Clear." });
    await say("Weather?");
    await page.getByText("Clear.").waitFor();
    const line = page.locator(".call > summary");
    expect(await line.textContent()).toMatch(/^succeededweather Berlin[\d.,]+m?s$/);
    await line.focus();
    await page.keyboard.press("Enter");
    await expect
      .poll(() => page.locator(".call dt").allTextContents())
      .toEqual(["city", "sky", "days", "1", "high"]);
    await page.getByRole("button", { name: "As JSON" }).first().click();
    await page
      .locator(".call pre", { hasText: '"city": "Berlin"' })
      .or(page.locator(".call pre", { hasText: '{"city":"Berlin"}' }))
      .waitFor();
    expect(await findBarriers(page)).toEqual([]);
  });

  test("an approval shows every character of what it asks about, and leaves a trace that outlives a reload", async () => {
    const page = await openPage();
    const { model, say } = await openChat(page);
    const params = {
      body: "- call Ann\n- **480** EUR\n\n[the bill](https://example.com/?all=secrets)",
      title: "# 1",
      amount: "AMOUNT",
    };
    const text = JSON.stringify(params).replace('"AMOUNT"', "12345678901234567890");
    model.script({ calls: [{ id: "i", name: "issues", arguments: text }] }, { text: "Opened." });
    await say("Open an issue");
    const card = page.getByRole("region", { name: "Approval" });
    // Values are data: nothing in them is taken for Markdown.
    await card.getByText("- call Ann").waitFor();
    expect(await card.locator("dd").allTextContents()).toEqual([
      params.body,
      params.title,
      "12345678901234567890",
    ]);
    expect(await findBarriers(page)).toEqual([]);
    await card.getByRole("button", { name: "Allow once" }).click();
    await page.getByText("Opened.").waitFor();
    for (const look of ["at once", "after a reload"]) {
      const trace = page.locator(".answered > summary");
      expect([look, await trace.textContent()]).toEqual([look, "You allowed issues once"]);
      await page.reload();
      await page.getByText("Opened.").waitFor();
    }
    await page.locator(".answered > summary").click();
    await page.locator(".answered").getByText("12345678901234567890").waitFor();
  });

  test("differences are coloured, footnotes are linked, and long lines wrap", async () => {
    const page = await openPage({ width: 390 });
    const { model, say } = await openChat(page);
    const long = "x".repeat(200);
    model.script({
      text: `See[^1] and[^b] and[^none].\n\n\`\`\`diff\n@@ -1 +1 @@\n-old\n+new ${long}\n\`\`\`\n\n[^1]: One <img src=x onerror=hacked=1>.\n[^b]: Two **bold**.\n\nEnd.`,
    });
    await say("Show");
    await page.getByText("End.").waitFor();
    expect(await page.locator(".line.old").textContent()).toBe("-old\n");
    expect(await page.locator(".line.new").textContent()).toBe(`+new ${long}\n`);
    await page.getByRole("button", { name: "Wrap long lines" }).click();
    const isWrapped = () =>
      page.locator("figure.code pre").evaluate((one: never) => one["scrollWidth"] <= one["clientWidth"]);
    await expect.poll(isWrapped).toBe(true);
    expect(await page.locator(".prose > p").first().textContent()).toBe("See1 and2 and[^none].");
    await page.getByRole("button", { name: "Footnote 2" }).click();
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toContain("Two bold.");
    await page.getByRole("button", { name: "Back to the text" }).nth(1).click();
    const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label')");
    await expect.poll(focused).toBe("Footnote 2");
    expect(await page.evaluate("'hacked' in window")).toBe(false);
    expect(new URL(page.url()).hash).toMatch(/^#\/chat\//);
    expect(await findBarriers(page)).toEqual([]);
  });

  test("the model's title arrives by itself, and the gauge says what takes the room", async () => {
    const page = await openPage();
    const { model, say } = await openChat(page, { MODEL_CONTEXT_TOKENS: "20000" });
    model.entitle({ text: "Weather in Berlin" });
    model.script({ text: "It is warm." });
    await say("How is it outside today, in Berlin?");
    await page.getByRole("heading", { level: 1, name: "Weather in Berlin" }).waitFor();
    await page.getByRole("button", { name: /^Context: \d+% full$/ }).click();
    const parts = page.getByRole("dialog", { name: "Context window" });
    await expect
      .poll(() => parts.locator("dt").allTextContents())
      .toEqual(["Instructions", "Tools", "Conversation", "Free"]);
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await parts.waitFor({ state: "hidden" });
  });

  test("a chat that is not there says so", async () => {
    const page = await openPage();
    const { gateway } = await openChat(page);
    await page.goto(`${gateway.url}/#/chat/0190a0a0-0000-7000-8000-000000000000`);
    await page.getByText("This chat is not here").waitFor();
    // It is asked for again, and said no louder.
    await page.goto(`${gateway.url}/#/usage`);
    await page.getByRole("heading", { level: 1, name: "Usage" }).waitFor();
    const answered = page.waitForResponse(/\/api\/threads\/0190a0a0/);
    await page.goBack();
    await (await answered).finished();
    await page.getByText("This chat is not here").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.getByRole("link", { name: "Start a new chat" }).click();
    await page.getByText("This chat is not here").waitFor({ state: "detached" });
  });
});
