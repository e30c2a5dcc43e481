/** The page's own questions, where a browser's would stop it. */
import { expect, test } from "vitest";
import { findBarriers } from "../../../support/processes/axe.ts";
import { describeInBrowser, openSignedIn, useBrowser } from "../../../support/processes/browser.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

describeInBrowser("a dialog of the page", () => {
  useBrowser();

  test("asks before something is deleted: Esc and Cancel leave it, the keyboard stays inside, and the focus goes back", async () => {
    const gateway = await openGateway({ variables: { MEMORY_VECTORS: "false" } });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "memory");
    const focused = () => page.evaluate("document.activeElement.textContent || document.activeElement.name");

    await page.getByRole("button", { name: "New file" }).click();
    const asks = page.getByRole("dialog", { name: "New file" });
    await asks.getByRole("button", { name: "Create" }).click();
    expect(await asks.isVisible()).toBe(true);
    await asks.getByLabel("Path").fill("notes/garden.md");
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByLabel("Text of notes/garden.md").fill("Water the tomatoes");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "notes/garden.md" }).click();

    const at = "/api/memory/file?path=notes/garden.md";
    await gateway.ask(at, { method: "PUT", body: { text: "Water the tomatoes\nCut the roses" } });
    await page.getByText("History").click();
    await page.getByText("written with a token").waitFor();
    await page.getByText("written on the page").waitFor();
    await page.getByRole("button", { name: "Show differences" }).click();
    await page.getByText("+ Cut the roses").waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole("button", { name: "Back" }).click();
    await page.getByRole("button", { name: "notes/garden.md" }).click();
    await page.getByText("History").click();
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByRole("button", { name: "Restore", exact: true }).click();
    await page.getByRole("button", { name: "New file" }).waitFor();
    await expect
      .poll(async () => (await gateway.ask(at)).body)
      .toMatchObject({ text: "Water the tomatoes", version: 3 });
    await page.getByRole("button", { name: "notes/garden.md" }).click();

    const question = page.getByRole("alertdialog", { name: "Delete notes/garden.md?" });
    const forget = page.getByRole("button", { name: "Forget" });
    await forget.click();
    await expect.poll(focused).toBe("Cancel");
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press("Tab");
    await expect.poll(focused).toBe("Delete");
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "detached" });
    await expect.poll(focused).toBe("Forget");
    await forget.click();
    await question.getByRole("button", { name: "Cancel" }).click();
    await forget.click();
    // A press beside the dialog.
    await page.mouse.click(5, 5);
    await question.waitFor({ state: "detached" });
    await forget.click();
    await page.evaluate("location.hash = '#/jobs'");
    await question.waitFor({ state: "detached" });
    expect((await gateway.ask("/api/memory/file?path=notes/garden.md")).status).toBe(200);

    await page.evaluate("location.hash = '#/memory'");
    await page.getByRole("button", { name: "notes/garden.md" }).click();
    await forget.click();
    await question.getByRole("button", { name: "Delete" }).click();
    await page.getByText("Nothing is remembered yet").waitFor();
    expect(page.complaints).toEqual([]);
  });
});
