/** The list of threads beside the chat. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findBarriers } from "../../../support/processes/axe.ts";
import { describeInBrowser, openSignedIn, useBrowser } from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

describeInBrowser("the sidebar", () => {
  useBrowser();

  test("has all threads, page by page; each is renamed, pinned, exported and deleted by its menu, also by keyboard", async () => {
    const model = await scriptedModel();
    const variables = { MEMORY_VECTORS: "false", CHAT_RATE_LIMIT: "1000" };
    const gateway = await openGateway({ model, variables });
    for (let at = 1; at <= 120; at++)
      await gateway.ask("/api/chat", { method: "POST", body: { message: `Thread ${at}` } });

    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    const threads = page.getByRole("navigation", { name: "Threads" });
    const links = threads.getByRole("link");
    await expect.poll(() => links.count()).toBe(50);
    expect(await threads.getByRole("heading").allInnerTexts()).toEqual(["Today"]);
    // All are loaded, and then the bin is below them.
    for (const count of [100, 121]) {
      await links.last().scrollIntoViewIfNeeded();
      await expect.poll(() => links.count()).toBe(count);
    }

    const menuOf = (title: string) => page.getByRole("button", { name: `Options for “${title}”` });
    const focused = () => page.evaluate("document.activeElement.textContent");
    await menuOf("Thread 3").focus();
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("Rename");
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press("ArrowUp");
    await expect.poll(focused).toBe("Delete");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await expect.poll(focused).toBe("Pin");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("menuitem").count()).toBe(0);
    await expect
      .poll(() => menuOf("Thread 3").evaluate((button) => button === document.activeElement))
      .toBe(true);
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Pin" }).press("Enter");
    await threads.getByRole("heading", { name: "Pinned" }).waitFor();
    await expect.poll(() => links.first().textContent()).toBe("Thread 3");

    // What is loaded stays, also when the list is read again.
    await menuOf("Thread 2").click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByLabel("Title").fill("Renamed <b>");
    await page.keyboard.press("Enter");
    await threads.getByRole("link", { name: "Renamed <b>" }).waitFor();
    expect(await links.count()).toBe(121);
    await menuOf("Renamed <b>").click();
    const download = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: "Export as Markdown" }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe("Renamed b.md");
    expect(readFileSync(await file.path(), "utf8")).toContain("# Renamed \\<b\\>");

    await menuOf("Thread 1").click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("status").getByText("Moved to the bin").waitFor();
    await expect.poll(() => links.count()).toBe(120);
    await links.filter({ hasText: "Bin" }).waitFor();
    await menuOf("Thread 3").click();
    await page.getByRole("menuitem", { name: "Unpin" }).click();
    await threads.getByRole("heading", { name: "Pinned" }).waitFor({ state: "detached" });
    await expect.poll(() => links.nth(-3).textContent()).toBe("Thread 3");

    // By keyboard Undo has the focus, and then what was restored: the chat in the list, or the composer of the open one.
    const deleteByKey = async (title: string) => {
      await menuOf(title).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("menuitem", { name: "Delete" }).press("Enter");
      await expect.poll(focused).toBe("Undo");
      expect(await threads.getByRole("link", { name: title }).count()).toBe(0);
    };
    await deleteByKey("Thread 119");
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("Thread 119");
    await links.first().click();
    await page.getByRole("heading", { name: "Thread 120", level: 1 }).waitFor();
    await deleteByKey("Thread 120");
    await page.getByRole("heading", { name: "New chat", level: 1 }).waitFor();
    await expect.poll(focused).toBe("Undo");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Thread 120", level: 1 }).waitFor();
    expect(page.complaints).toEqual([]);
  });
});
