/** A question of a tool's server, and images that tools return, as the page shows them. */
import { expect, test } from "vitest";
import type { Reply } from "../../../../kernel/plugin.ts";
import { findBarriers } from "../../../support/processes/axe.ts";
import {
  describeInBrowser,
  type openPage,
  openSignedIn,
  say,
  useBrowser,
} from "../../../support/processes/browser.ts";
import { scriptedModel, type TestTool } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const FORM = {
  key: "0",
  message: "How shall we send it?",
  schema: {
    type: "object",
    properties: {
      name: { type: "string", title: "Recipient", description: "As on the parcel", maxLength: 40 },
      count: { type: "integer", title: "How many", minimum: 1, maximum: 9, default: 2 },
      gift: { type: "boolean", title: "It is a gift" },
      speed: {
        type: "string",
        title: "Speed",
        oneOf: [
          { const: "s", title: "Slow" },
          { const: "f", title: "Fast" },
        ],
      },
      extras: {
        type: "array",
        title: "Extras",
        items: { type: "string", enum: ["card", "bow"] },
        default: ["bow"],
      },
      note: { type: "string", title: "Note" },
    },
    required: ["name", "speed"],
  },
};
const URL_OF_BANK = "https://bank.example/pay?order=7&return=https://shop.example.evil.example/";

/** A tool that asks for a form, then for a visit, and then returns a picture. */
function shop(heard: (readonly Reply[])[]): Readonly<Record<string, TestTool>> {
  return {
    shop_order: {
      run: () => ({ status: "question", server: "shop", questions: [FORM], resume: "1" }),
      resume(resume, replies) {
        heard.push(replies);
        if (replies[0]?.action === "decline")
          return { status: "error", code: "declined", message: "Declined." };
        if (resume === "2")
          return {
            status: "ok",
            output: "ordered",
            attached: [
              {
                attachment: { id: "x", kind: "image", mime: "image/png", size: 1, name: "receipt" },
                data: PNG,
              },
            ],
          };
        const pay = { key: "0", message: "Please pay.", url: URL_OF_BANK };
        return { status: "question", server: "shop", questions: [pay], resume: "2" };
      },
    },
  };
}

describeInBrowser("a question of a tool's server", () => {
  useBrowser();

  async function ask(heard: (readonly Reply[])[], options: Parameters<typeof openPage>[0] = {}) {
    const model = await scriptedModel();
    model.script(
      { calls: [{ name: "shop_order", arguments: { item: "pears" } }] },
      { text: "That is done." },
    );
    const gateway = await openGateway({ model, tools: shop(heard) });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, undefined, options);
    await say(page, "Order pears");
    const form = page.getByRole("form", { name: "A question from shop" });
    await form.waitFor();
    return { page, form };
  }

  test("is a form with its defaults, then a page to visit, and the picture is on the tool's card", async () => {
    const heard: (readonly Reply[])[] = [];
    const { page, form } = await ask(heard);
    await page.getByText("waiting for you").waitFor();
    await form.getByText("The words below are the server's").waitFor();
    await form.getByLabel("Recipient").fill("Ann");
    await form.getByLabel("Speed").selectOption("Fast");
    await form.getByLabel("card").check();
    await page.keyboard.press("Tab");
    await form.getByRole("button", { name: "Send answer" }).focus();
    await page.keyboard.press("Enter");

    const link = form.getByRole("link", { name: "Open bank.example in a new window" });
    await link.waitFor();
    expect(await page.getByText("waiting for you").count()).toBe(1);
    expect(heard.splice(0)).toEqual([
      [
        {
          key: "0",
          action: "accept",
          content: { name: "Ann", count: 2, gift: false, speed: "f", extras: ["card", "bow"] },
        },
      ],
    ]);
    expect(await form.getByText(URL_OF_BANK).count()).toBe(1);
    expect(await link.getAttribute("href")).toBe(URL_OF_BANK);
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
    await form.getByRole("button", { name: "I have done it" }).click();
    await page.getByText("That is done.").waitFor();
    const image = page.getByRole("img", { name: "receipt" });
    await expect
      .poll(() => image.evaluate((shown) => (shown as { naturalWidth?: number }).naturalWidth))
      .toBe(1);
    expect(await page.getByText("waiting for you").count()).toBe(0);
    await page.reload();
    await page.getByText("name: Ann").waitFor();
    await page.getByRole("img", { name: "receipt" }).waitFor();
    expect(page.complaints).toEqual([]);
  });

  test("is accessible in light and dark and at a phone's width, and can be declined", async () => {
    const heard: (readonly Reply[])[] = [];
    const { page, form } = await ask(heard, { width: 390 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await findBarriers(page)]).toEqual([colorScheme, []]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    }
    await form.getByRole("button", { name: "Decline" }).click();
    await page.getByText("That is done.").waitFor();
    expect(heard).toEqual([[{ key: "0", action: "decline" }]]);
  });
});
