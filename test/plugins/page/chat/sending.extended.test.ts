/** What is sent is seen, whenever it is sent; what is stopped is what runs; what went wrong is said once. */
import { expect, test } from "vitest";
import { findBarriers } from "../../../support/processes/axe.ts";
import {
  type BrowserPage,
  describeInBrowser,
  openPage,
  say,
  useBrowser,
} from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

const MARKDOWN = `# Plan

#### Today

- [x] buy pears
- [ ] eat them

| left | right |
| :--- | ----: |
| a | 1 |

5. five

\`\`\`js
${"const long = 1; ".repeat(20)}
\`\`\``;

describeInBrowser("on the chat page", () => {
  useBrowser();

  async function open(
    options: Parameters<typeof openPage>[0] = {},
    prepare?: (page: BrowserPage) => Promise<void>,
  ) {
    const model = await scriptedModel();
    const gateway = await openGateway({ model, variables: { CHAT_RATE_LIMIT: "1000" } });
    const page = await openPage(options);
    await prepare?.(page);
    await page.goto(`${gateway.url}/?token=${OPERATOR_TOKEN}`);
    await page.getByLabel("Message").waitFor();
    return { model, page, say: (text: string) => say(page, text) };
  }

  test("a message sent before the socket is open gets its answer shown", async () => {
    let connect = () => {};
    const { page, model } = await open({}, (page) =>
      page.routeWebSocket(/\/api\/chat\/ws/, async (socket) => {
        await new Promise<void>((resolve) => {
          connect = resolve;
        });
        socket.connectToServer();
      }),
    );
    model.script({ text: "Hello there." });
    await page.getByRole("button", { name: "What can you do?" }).click();
    await expect.poll(() => model.requests.length).toBe(1);
    connect();
    await page.getByText("Hello there.").waitFor();
    await expect.poll(() => page.getByText("working").count()).toBe(0);
    // Its sockets would stay held up in the next test.
    await page.close();
  });

  test("until an answer has words, a line pulses where they will be; on a phone a new chat begins in the header", async () => {
    const { page, model, say } = await open({ width: 390 });
    const words = Promise.withResolvers<string>();
    model.script({ text: [words.promise] });
    await say("one");
    const working = page.locator(".working");
    await working.waitFor();
    const asked = await page.locator(".asked").boundingBox();
    const line = await working.boundingBox();
    expect((line?.y ?? 900) - (asked?.y ?? 0) - (asked?.height ?? 0)).toBeLessThan(80);
    words.resolve("First words.");
    await page.getByText("First words.").waitFor();
    await expect.poll(() => working.count()).toBe(0);
    await page.getByRole("button", { name: "New chat" }).click();
    await page.getByRole("button", { name: "What can you do?" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
  });

  test("a failure is said without its code; one that a setting ends leads to the settings", async () => {
    const { page, model, say } = await open();
    model.script({ status: 401, error: { message: "no such key" } });
    await say("one");
    const alert = page.getByRole("alert");
    await alert.getByRole("button", { name: "Try again" }).waitFor();
    expect(await alert.textContent()).not.toMatch(/[a-z]_[a-z]/);
    expect(await findBarriers(page)).toEqual([]);
    await alert.getByRole("link", { name: "Open Settings" }).click();
    await page.getByRole("heading", { name: "Spending and limits" }).waitFor();
  });

  test("Stop ends the answer that runs, and the message behind it is answered; that one can be taken back too", async () => {
    const { page, model, say } = await open();
    const more = Promise.withResolvers<string>();
    model.script({ text: ["First ", more.promise] }, { text: ["Second ", more.promise] });
    await say("one");
    await page.getByText("First").waitFor();
    await say("two");
    await say("three");
    await page.getByText("will be read next").first().waitFor();
    await page.getByRole("button", { name: "Take back" }).last().click();
    await page.locator(".asked", { hasText: "three" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("stopped", { exact: true }).waitFor();
    await page.getByText("Second").waitFor();
    more.resolve("answer.");
    await page.getByText("Second answer.").waitFor();
    expect(model.requests).toHaveLength(2);
  });

  test("who sends while reading further up is brought to the message, and to what came of it", async () => {
    const { page, model, say } = await open();
    model.script({ text: "line\n\n".repeat(80) }, { status: 400, error: { message: "no such model" } });
    await say("long");
    await page.locator(".meta", { hasText: "scripted" }).waitFor();
    await page.locator(".talk").evaluate((talk) => {
      (talk as unknown as { scrollTop: number }).scrollTop = 0;
    });
    await say("next");
    const failed = page.getByRole("alert");
    await failed.waitFor();
    const own = page.locator(".asked", { hasText: "next" });
    await expect
      .poll(() =>
        own.evaluate((one) => {
          const { top, bottom } = (one as unknown as Element).getBoundingClientRect();
          return top >= 0 && bottom <= innerHeight;
        }),
      )
      .toBe(true);
    await expect
      .poll(() =>
        failed.evaluate((one) => (one as unknown as Element).getBoundingClientRect().bottom <= innerHeight),
      )
      .toBe(true);
  });

  test("a list of tasks has ticks, a table its alignment, and long code can be scrolled by keyboard", async () => {
    const { page, model, say } = await open();
    model.script({ text: MARKDOWN });
    await say("plan");
    await page.getByText("buy pears").waitFor();
    expect(await page.locator(".prose input").count()).toBe(0);
    expect(await page.locator(".prose li").allInnerTexts()).toEqual(["☑ buy pears", "☐ eat them", "five"]);
    await page.getByRole("img", { name: "to do" }).waitFor();
    expect(
      await page
        .getByRole("cell", { name: "1" })
        .evaluate((cell) => getComputedStyle(cell as never).textAlign),
    ).toMatch(/right$/);
    expect(await page.locator(".prose ol").getAttribute("start")).toBe("5");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await findBarriers(page)]).toEqual([colorScheme, []]);
    }
  });

  test("what went wrong keeps its lines, and goes with the next success or on another page", async () => {
    const { page, say } = await open();
    const refuse = () =>
      page.route("**/api/chat/send", (route) =>
        route.fulfill({
          status: 400,
          contentType: "application/json",
          body: JSON.stringify({ error: { message: "first line\nsecond line", code: "bad" } }),
        }),
      );
    const alert = page.getByRole("alert");
    await refuse();
    await say("hello");
    await alert.waitFor();
    const words = alert.locator("span").first();
    expect(await words.textContent()).toBe("first line\nsecond line");
    expect(await words.evaluate((one) => getComputedStyle(one as never).whiteSpace)).toBe("pre-line");
    await page.getByRole("link", { name: "Tools" }).click();
    await page.getByRole("heading", { name: "Tools", exact: true }).waitFor();
    await expect.poll(() => alert.count()).toBe(0);
    await page.goBack();
    await expect.poll(() => page.getByLabel("Message").inputValue()).toBe("hello");
    await page.getByLabel("Message").focus();
    await page.keyboard.press("Enter");
    await alert.waitFor();
    await page.unroute("**/api/chat/send");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("ok", { exact: true }).waitFor();
    await expect.poll(() => alert.count()).toBe(0);
  });
});
