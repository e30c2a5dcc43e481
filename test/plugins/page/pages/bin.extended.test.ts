/** The bin on the page. */
import { expect, test } from "vitest";
import { findBarriers } from "../../../support/processes/axe.ts";
import {
  describeInBrowser,
  openSignedIn,
  openUserMenu,
  useBrowser,
} from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

describeInBrowser("the bin", () => {
  useBrowser();

  async function withBinned(count: number) {
    const gateway = await openGateway({
      model: await scriptedModel(),
      variables: { CHAT_RATE_LIMIT: "1000" },
    });
    const ids: string[] = [];
    for (let at = 1; at <= count; at++) {
      const { body } = await gateway.ask("/api/chat", { method: "POST", body: { message: `Chat ${at}` } });
      await gateway.ask(`/api/threads/${body.thread_id}`, { method: "DELETE" });
      ids.push(body.thread_id);
    }
    return { gateway, ids };
  }

  test("is reached from the user menu; chats are restored and deleted for good there, by keyboard too", async () => {
    const { gateway, ids } = await withBinned(3);
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    await openUserMenu(page);
    await page.getByRole("dialog").getByRole("link", { name: "Bin" }).click();
    const rows = page.getByRole("table").getByRole("row");
    await expect.poll(() => rows.count()).toBe(4);
    expect(await rows.nth(1).textContent()).toMatch(/Chat 3/);
    expect(await findBarriers(page)).toEqual([]);
    const focused = () =>
      page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent");

    await page.getByRole("button", { name: "Restore “Chat 2”" }).press("Enter");
    await page.getByRole("status").getByText("“Chat 2” is restored").waitFor();
    await expect.poll(() => rows.count()).toBe(3);
    await expect.poll(focused).toBe("Restore “Chat 1”");
    await page.getByRole("navigation", { name: "Threads" }).getByRole("link", { name: "Chat 2" }).waitFor();

    await page.getByRole("button", { name: "Delete for good: “Chat 1”" }).press("Enter");
    const question = page.getByRole("alertdialog", { name: "Delete “Chat 1” for good?" });
    await question.getByRole("button", { name: "Cancel" }).click();
    expect(await rows.count()).toBe(3);
    await page.getByRole("button", { name: "Delete for good: “Chat 1”" }).press("Enter");
    await question.getByRole("button", { name: "Delete for good" }).click();
    await expect.poll(() => rows.count()).toBe(2);
    await expect.poll(focused).toBe("Restore “Chat 3”");
    expect((await gateway.ask("/api/bin")).body.threads).toMatchObject([{ id: ids[2] }]);

    await page.getByRole("button", { name: "Empty the bin" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete for good" }).press("Enter");
    await page.getByText("The bin is empty").waitFor();
    await expect.poll(focused).toBe("Go to the chat");
    expect((await gateway.ask("/api/bin")).body.threads).toEqual([]);
    expect(page.complaints).toEqual([]);
  });

  test("shows all that is in it, page by page, and empties it whole", async () => {
    const { gateway } = await withBinned(60);
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "bin");
    const rows = page.getByRole("table").getByRole("row");
    await expect.poll(() => rows.count()).toBe(51);
    await page.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => rows.count()).toBe(61);
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
    await page.getByRole("button", { name: "Empty the bin" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete for good" }).click();
    await page.getByRole("status").getByText("60 chats are deleted for good").waitFor();
    await page.getByText("The bin is empty").waitFor();
  });

  test("the message that offers Undo covers nothing: not the message box, and not the sidebar of a phone", async () => {
    const { gateway, ids } = await withBinned(2);
    for (const id of ids) await gateway.ask(`/api/bin/${id}/restore`, { method: "POST" });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, `chat/${ids[0]}`);
    const covered = () =>
      page.evaluate(`(() => {
        const box = document.querySelector(".toast").getBoundingClientRect();
        const shown = ".bar, .talk, .composer, .menu-open .side > *";
        return [...document.querySelectorAll(shown)].map((one) => [one.className, one.getBoundingClientRect()])
          .filter(([, { top, bottom, left, right }]) => top < box.bottom && bottom > box.top && left < box.right && right > box.left)
          .map(([name]) => name);
      })()`);
    const remove = async (title: string) => {
      await page.getByRole("button", { name: `Options for “${title}”` }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await page.getByRole("button", { name: "Undo" }).waitFor();
      await page.evaluate("Promise.all(document.getAnimations().map(({ finished }) => finished))");
    };
    await remove("Chat 1");
    expect(await covered()).toEqual([]);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("button", { name: "Menu" }).click();
    await page.locator(".menu-open").waitFor();
    await remove("Chat 2");
    await page.locator(".menu-open .toast").waitFor();
    // What lies under the open sidebar is the page itself.
    expect((await covered()) as string[]).not.toContain("side");
  });

  test("a chat that was deleted by mistake is back with Undo, or says where it is", async () => {
    const { gateway, ids } = await withBinned(1);
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, `chat/${ids[0]}`);
    await page.getByText("This chat is not here").waitFor();
    await page.getByRole("main").getByRole("link", { name: "Bin" }).click();
    await page.getByRole("button", { name: "Restore “Chat 1”" }).click();
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await page.getByRole("heading", { name: "Chat 1", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Options for “Chat 1”" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "New chat" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("heading", { name: "Chat 1", level: 1 }).waitFor();
    expect((await gateway.ask(`/api/threads/${ids[0]}`)).status).toBe(200);
  });
});
