/** The shortest way through Files: a file is dropped and looked at, an answer removes it, and the answer is undone. */
import { expect, test } from "vitest";
import { describeInBrowser, openSignedIn, say, useBrowser } from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

/** In the page: drops a file as a person does. */
function drop({ name, text }: { name: string; text: string }): void {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}

describeInBrowser("files on the page", () => {
  useBrowser();

  test("a CSV is dropped, shown as a table, removed by an answer, and back after an undo", async () => {
    const model = await scriptedModel();
    const gateway = await openGateway({ model });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "files");
    await page.getByText("This folder is empty").waitFor();
    await page.evaluate(drop, { name: "sales.csv", text: 'month,amount\n"Jan, cold",60\nFeb,90\n' });
    await page.getByText("1 file is uploaded").waitFor();
    await page.getByRole("link", { name: "sales.csv" }).click();
    await page.getByRole("cell", { name: "Jan, cold" }).waitFor();
    expect(await page.getByRole("columnheader").allTextContents()).toEqual(["month", "amount"]);

    model.script(
      { calls: [{ name: "workspace_remove", arguments: { path: "/sales.csv" } }] },
      { text: "The file is gone." },
    );
    await page.goto(`${gateway.url}/#/`);
    await say(page, "Delete /sales.csv");
    await page.getByRole("button", { name: "Undo what this answer changed" }).click();
    await page.getByText("Undone.", { exact: true }).waitFor();
    await page.goto(`${gateway.url}/#/files`);
    await page.getByRole("link", { name: "sales.csv", exact: true }).waitFor();
    const box = page.getByLabel("Search names and contents");
    await box.fill("cold jan");
    const hit = page.getByRole("listitem").filter({ hasText: '"Jan, cold",60' });
    await hit.locator("time").waitFor();
    await box.fill("SALES");
    await expect.poll(() => page.locator(".hits li").count()).toBe(1);
    await page.getByRole("link", { name: "/sales.csv", exact: true }).click();
    await page.getByRole("cell", { name: "Jan, cold" }).waitFor();
    await page.getByRole("button", { name: "New chat" }).click();
    await page.getByRole("searchbox", { name: "Search threads" }).fill("gone");
    await page.locator(".threads .match", { hasText: "The file is gone." }).waitFor();
    expect(page.complaints).toEqual([]);
  });
});
