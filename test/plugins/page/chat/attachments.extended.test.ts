/** Files and images in the chat: by button, paste and drop, as a draft, in the thread, refused in words. */
import { expect, test } from "vitest";
import { findBarriers } from "../../../support/processes/axe.ts";
import { describeInBrowser, openSignedIn, say, useBrowser } from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

interface Given {
  readonly name: string;
  readonly type: string;
  readonly base64: string;
}

/** In the page: pastes or drops files as a person does. */
function give({ files, how }: { files: readonly Given[]; how: "paste" | "drop" | "dragover" }): void {
  const transfer = new DataTransfer();
  for (const { name, type, base64 } of files)
    transfer.items.add(new File([Uint8Array.fromBase64(base64)], name, { type }));
  const box = document.querySelector(".composer textarea");
  if (how === "paste")
    box?.dispatchEvent(
      new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }),
    );
  else
    document
      .querySelector(".talk")
      ?.dispatchEvent(new DragEvent(how, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}

const text = (name: string, content: string): Given => ({
  name,
  type: "",
  base64: Buffer.from(content).toString("base64"),
});

describeInBrowser("files on the chat page", () => {
  useBrowser();

  test("files come by button, paste and drop, stay with their draft, are sent, shown and opened; others are refused in words", async () => {
    const model = await scriptedModel();
    const gateway = await openGateway({
      model,
      variables: { MODEL_INPUTS: "text,image", ATTACHMENTS_MAX_MB: "1", MODEL_CONTEXT_TOKENS: "12000" },
    });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    // A picture as a person has one: with something to see in it.
    const png = await page.screenshot({ clip: { x: 0, y: 0, width: 300, height: 200 } });
    const chips = page.getByRole("list", { name: "Attached files" }).getByRole("listitem");

    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Attach files" }).click();
    await (await chooser).setFiles([
      { name: "notes.md", mimeType: "", buffer: Buffer.from("# Pears\n") },
      { name: "tools.zip", mimeType: "", buffer: Buffer.from("PK\x03\x04 and so on") },
    ]);
    await page.getByText(/"tools.zip" cannot be read: it is damaged/).waitFor();
    const image = { name: "view.png", type: "image/png", base64: png.toString("base64") };
    await page.evaluate(give, { files: [image], how: "paste" as const });
    await page.evaluate(give, { files: [text("rows.csv", "a,b\n".repeat(9000))], how: "dragover" as const });
    await page.getByText("Drop files here to attach them").waitFor();
    const dropped = [text("rows.csv", "a,b\n".repeat(9000)), text("big.txt", "a".repeat(1_000_001))];
    await page.evaluate(give, { files: dropped, how: "drop" as const });
    await page.getByText("Too large: 1.0 MB, and a file may have 1 MB.").waitFor();
    await page.getByText(/will be shown the first 4,800 of about 9,000 tokens/).waitFor();
    await expect.poll(() => chips.count()).toBe(5);
    expect(await page.getByText("Drop files here").count()).toBe(0);
    await page.locator(".chip img").waitFor();
    expect(await findBarriers(page)).toEqual([]);

    // What could not be attached stops the message, which stays.
    await say(page, "What is this?");
    await page.getByText("“tools.zip” could not be attached. Remove it, then send.").waitFor();
    expect(await page.getByLabel("Message").inputValue()).toBe("What is this?");
    await page.getByRole("button", { name: "Remove tools.zip" }).click();
    await page.getByRole("button", { name: "Remove big.txt" }).click();
    await page.evaluate(give, {
      files: Array.from({ length: 100 }, (_, at) => text(`${at}.txt`, "x")),
      how: "drop" as const,
    });
    await page.getByText("A message may have 10 files, so 93 of 100 were not attached.").waitFor();
    for (let at = 0; at < 7; at++) await page.getByRole("button", { name: `Remove ${at}.txt` }).click();

    // A draft survives a reload and a look at another thread.
    await page.reload();
    await expect.poll(() => chips.count()).toBe(3);
    model.otherwise(({ messages }) => {
      const said = JSON.stringify(messages.at(-1)?.content);
      const data = /base64,([^"]+)/.exec(said)?.[1] ?? "";
      return {
        text: `An image of ${Buffer.from(data, "base64").length} bytes; pears: ${said.includes("# Pears")}.`,
      };
    });
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(`An image of ${png.length} bytes; pears: true.`).waitFor();
    expect(JSON.stringify(model.requests[0])).toContain(png.toString("base64"));
    await page.getByText(/The model read the first .* of about 9,000 tokens/).waitFor();
    expect(await page.locator(".composer .chip").count()).toBe(0);
    await page.getByRole("img", { name: "view.png" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);

    // Also when the page is loaded again; the image opens in a tab, a file is downloaded.
    await page.reload();
    const shown = page.getByRole("img", { name: "view.png" });
    await expect.poll(() => shown.evaluate((img) => (img as HTMLImageElement).naturalWidth)).toBe(300);
    const opened = page.waitForEvent("popup");
    await shown.click();
    const tab = await opened;
    await tab.waitForLoadState();
    expect(await tab.locator("img").evaluate((img) => (img as HTMLImageElement).naturalWidth)).toBe(300);
    await tab.close();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: /notes.md/ }).click();
    expect((await download).suggestedFilename()).toBe("notes.md");
    await (await download).cancel();

    // Sending waits for what is on its way, and goes to its thread, whatever is looked at meanwhile.
    const held = Promise.withResolvers<void>();
    await page.route("**/api/attachments", async (route) => {
      if (route.request().method() === "POST") await held.promise;
      await route.continue();
    });
    await page.evaluate(give, { files: [text("late.txt", "late")], how: "paste" as const });
    await page.getByRole("progressbar", { name: "Uploading late.txt" }).waitFor();
    await say(page, "And this?");
    await page.getByText("The message is sent when its files are uploaded.").waitFor();
    const place = page.url();
    await page.getByRole("button", { name: "New chat" }).click();
    held.resolve();
    await expect.poll(() => JSON.stringify(model.requests.at(-1))).toContain("And this?");
    await page.goto(place);
    await page.getByRole("link", { name: /late.txt/ }).waitFor();
    expect(await page.getByLabel("Message").inputValue()).toBe("");
    await page.unrouteAll();

    // A phone.
    await page.setViewportSize({ width: 360, height: 740 });
    await page.evaluate(give, { files: [image, text("a.txt", "hello")], how: "paste" as const });
    await expect.poll(() => page.locator(".composer .chip .soft").count()).toBe(2);
    for (const button of await page.locator(".composer button").all()) {
      const { width = 0, height = 0 } = (await button.boundingBox()) ?? {};
      expect([await button.textContent(), width >= 44, height >= 44]).toEqual([
        expect.anything(),
        true,
        true,
      ]);
    }
    expect(page.complaints.filter((words) => !words.includes("400"))).toEqual([]);
  });
});
