/** What can be done without a mouse, and where the reader is kept. */
import { expect, test } from "vitest";
import { findBarriers } from "../../../support/processes/axe.ts";
import {
  describeInBrowser,
  openPage,
  openSignedIn,
  openUserMenu,
  say,
  useBrowser,
} from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

describeInBrowser("keys on the page", () => {
  useBrowser();

  test("do all that their sheet and the palette list, and nothing while somebody is typing", async () => {
    const model = await scriptedModel();
    const gateway = await openGateway({ model, variables: { MEMORY_VECTORS: "false" } });
    for (const message of ["First thread", "Second thread"])
      await gateway.ask("/api/chat", { method: "POST", body: { message } });
    const page = await openPage();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: gateway.url });
    const press = (...keys: string[]) =>
      keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
    const box = page.getByLabel("Message");
    const heading = page.getByRole("heading", { level: 1 });
    await page.goto(`${gateway.url}/?token=${OPERATOR_TOKEN}`);
    await page.getByRole("link", { name: "First thread" }).waitFor();

    // In the box for messages they are letters.
    await box.focus();
    await press("n", "?", "g", "t", "/");
    expect(await box.inputValue()).toBe("n?gt/");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await box.fill("");

    await press("Alt+ArrowDown");
    await heading.filter({ hasText: "Second thread" }).waitFor();
    await press("Alt+ArrowDown");
    await heading.filter({ hasText: "First thread" }).waitFor();
    await press("Alt+ArrowUp");
    await heading.filter({ hasText: "Second thread" }).waitFor();
    await page.getByText("ok", { exact: true }).waitFor();
    await page.getByRole("region", { name: "Conversation" }).focus();
    await press("c");
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe("ok");

    await press("?");
    const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await sheet.getByText("Copy the last answer").waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await sheet.getByLabel(/^Use keys without/).uncheck();
    await press("Escape", "?");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await openUserMenu(page);
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await sheet.getByLabel(/^Use keys without/).check();
    await press("Escape");
    await sheet.waitFor({ state: "detached" });

    // The second key has to come within a second and a half of the first.
    const goToTools = async () => {
      await press("g", "t");
      return heading.textContent();
    };
    await expect.poll(goToTools).toContain("Tools");
    await press("/");
    await expect.poll(() => page.evaluate("document.activeElement.type")).toBe("search");
    await press("Control+b");
    await page.getByRole("button", { name: "Menu" }).waitFor();
    await expect.poll(() => page.getByLabel("Search threads").isVisible()).toBe(false);
    await page.reload();
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByLabel("Search threads").waitFor();

    await press("Control+k");
    const search = page.getByRole("combobox", { name: "Search commands, pages and threads" });
    await search.fill("first thr");
    await page.getByRole("option", { name: "First thread" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await press("Enter");
    await heading.filter({ hasText: "First thread" }).waitFor();
    await press("Control+k");
    await search.fill("go to");
    await press("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp", "Enter");
    await expect.poll(() => page.url()).toMatch(/#\/\w+$/);
    await press("Control+k");
    await search.fill("zzz nothing");
    await page.getByText("Nothing matches.").waitFor();
    await press("Escape");
    await search.waitFor({ state: "detached" });

    await press("n");
    await page.getByText("What can I help with?").waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.ariaLabel")).toBe("Message");
    expect(page.complaints).toEqual([]);
  });

  test("Esc stops the answer, but not where it closes something; a reader who scrolled up is told of a new answer and taken to it", async () => {
    const model = await scriptedModel();
    const gateway = await openGateway({ model, variables: { MEMORY_VECTORS: "false" } });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    const box = page.getByLabel("Message");
    model.script({ text: ["word1 ", "word2 "], end: "stall" });
    await say(page, "Talk");
    await page.getByText("word2").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Options for “Talk”" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByLabel("Search threads").focus();
    await page.keyboard.press("Escape");
    expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(1);
    await box.focus();
    await page.keyboard.press("Escape");
    await page.getByText("stopped", { exact: true }).waitFor();

    model.script({ text: "A long story.\n\n".repeat(200) });
    await say(page, "Tell me a story");
    await expect.poll(() => page.getByText("A long story.").count()).toBe(200);
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    const talk = page.getByRole("region", { name: "Conversation" });
    await talk.evaluate((element) => element.scrollTo(0, 0));
    await page.getByRole("button", { name: "Latest" }).waitFor();
    const { id } = (await gateway.ask("/api/threads")).body.threads[0];
    await gateway.ask("/api/chat", { method: "POST", body: { message: "Another", thread_id: id } });
    const button = page.getByRole("button", { name: "New answer" });
    await button.waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await talk.evaluate((element) => element.scrollTop)).toBe(0);
    await button.click();
    await button.waitFor({ state: "detached" });
    const left = () => talk.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight);
    await expect.poll(left).toBeLessThan(2);
    expect(page.complaints).toEqual([]);
  });
});
