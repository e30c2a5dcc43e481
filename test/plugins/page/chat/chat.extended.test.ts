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

/** A thread of that many turns, each with a question of its own. */
async function talkAtLength(served: Served, turns: number): Promise<string> {
  const token = readFileSync(`${served.home}/webui-token`, "utf8").trim();
  let thread: string | undefined;
  for (let turn = 1; turn <= turns; turn++) {
    const answer = await fetch(`${served.url}/api/chat`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ message: `question ${turn}`, thread_id: thread }),
    });
    thread = ((await answer.json()) as { thread_id: string }).thread_id;
  }
  return thread ?? "";
}

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

describeInBrowser("the page at length", () => {
  useBrowser();
  const later = afterThisFile();
  let served: Served;
  beforeAll(async () => {
    served = await servePostern({ CHAT_RATE_LIMIT: "1000" }, later);
  });

  test("two gateways on one machine do not sign each other's users out, though their ports share one jar of cookies", async () => {
    const [one, other] = await Promise.all([servePostern(), servePostern()]);
    const page = await openLink(one.link());
    await page.goto(other.link());
    await page.getByLabel("Message").waitFor();
    await page.goto(one.url);
    await page.getByLabel("Message").waitFor();
    await page.goto(other.url);
    await page.getByLabel("Message").waitFor();
  });

  test("a link of somebody else's asks first, and says who is signed in and who the link is for", async () => {
    const token = readFileSync(`${served.home}/webui-token`, "utf8").trim();
    const make = async (path: string, body: object) =>
      (
        await fetch(`${served.url}${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        })
      ).json() as Promise<{ token: string }>;
    await make("/api/users", { id: "eve" });
    const eve = await make("/api/tokens", { user: "eve", name: "link" });

    const page = await openLink(served.link());
    await page.goto(`${served.url}/?token=${eve.token}`);
    await page.getByText("You are signed in as operator. This link is for eve.").waitFor();
    expect(page.url()).toBe(`${served.url}/`);
    await page.getByRole("button", { name: "Stay signed in as I am" }).click();
    await page.getByRole("button", { name: /^Your account: operator\b/ }).waitFor();
    await page.goto(`${served.url}/?token=${eve.token}`);
    await page.getByRole("button", { name: "Use the link" }).click();
    await page.getByRole("button", { name: /^Your account: eve\b/ }).waitFor();

    const stranger = await openPage();
    await stranger.goto(`${served.url}/?token=${eve.token}`);
    await stranger.getByText("This link signs you in as eve.").waitFor();
    await stranger.getByRole("button", { name: "Do not sign in" }).click();
    await stranger.getByLabel("Token").waitFor();
  });

  test("people are added, given another role and removed, and browsers signed out, on one page", async () => {
    const page = await openLink(served.link());
    const other = await openLink(served.link());
    await page.goto(`${served.url}/#/people`);
    await page.getByRole("button", { name: "Invite" }).click();
    await page.getByLabel("Name", { exact: true }).fill("zoe");
    await page.getByRole("button", { name: "Make the link" }).click();
    await page.getByLabel("Role of zoe").selectOption("operator");
    await expect.poll(() => page.getByLabel("Role of zoe").inputValue()).toBe("operator");
    const row = page.getByRole("row").filter({ hasText: "zoe" });
    await row.getByRole("button", { name: "Actions for zoe" }).click();
    await page.getByRole("menuitem", { name: "Remove with data" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove with data" }).click();
    await row.waitFor({ state: "detached" });
    // Newest first.
    await page.getByRole("row").getByRole("button", { name: "Sign out" }).first().click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Sign out" }).click();
    await other.getByLabel("Token").waitFor();
    expect(page.complaints).toEqual([]);
  });

  test("after a restart of the server the page comes back by itself, with no message lost or doubled", async () => {
    const served = await servePostern({ GATEWAY_AUTH_TOKEN: "stays-the-same-over-restarts" });
    const page = await openLink(served.link());
    served.model.otherwise((request) => ({ text: `answer ${request.messages.length}` }));
    await say(page, "one");
    await page
      .getByText(/^answer \d+$/)
      .first()
      .waitFor();
    await page.getByLabel("Message").fill("a draft that must stay");
    await served.restart();
    await page.getByText("The connection is down").waitFor({ state: "detached" });
    expect(await page.getByLabel("Message").inputValue()).toBe("a draft that must stay");
    await say(page, "two");
    await expect.poll(() => page.getByText(/^answer \d+$/).count()).toBe(2);
    expect(await page.locator(".asked").allInnerTexts()).toEqual(
      ["one", "two"].map((text) => expect.stringContaining(text)),
    );
  });

  test("by keyboard alone: sign in, install a tool, chat and approve", async () => {
    const page = await openPage();
    // Until the one that is meant has the focus, as somebody would who cannot point.
    const tabTo = async (words: RegExp) => {
      const focused = () =>
        page.evaluate(
          "((one) => one.ariaLabel ?? one.labels?.[0]?.textContent ?? one.textContent)(document.activeElement)",
        );
      for (let tabs = 0; tabs < 80; tabs++) {
        await page.keyboard.press("Tab");
        if (words.test(String(await focused()))) return;
      }
      throw new Error(`${words} is not reached by Tab`);
    };
    await page.goto(served.url);
    await page.getByLabel("Token").waitFor();
    await tabTo(/^Token$/);
    await page.keyboard.type(readFileSync(`${served.home}/webui-token`, "utf8").trim());
    await page.keyboard.press("Enter");
    await page.getByLabel("Message").waitFor();

    await page.getByRole("region", { name: "Conversation" }).waitFor();
    await tabTo(/^Command palette$/);
    await page.keyboard.press("Enter");
    await page.getByRole("combobox", { name: /^Search commands/ }).waitFor();
    await page.keyboard.type("go to tools");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
    await tabTo(/^Add a tool$/);
    await page.keyboard.press("Enter");
    // Before the way there: the browser is told to wait for it, and nothing says when it has heard.
    const chooser = page.waitForEvent("filechooser");
    await tabTo(/^Choose files$/);
    await page.keyboard.press("Enter");
    await (await chooser).setFiles([
      { name: "keyed.wasm", mimeType: "application/wasm", buffer: Buffer.from(await fixture("prober.js")) },
      { name: "capabilities.json", mimeType: "application/json", buffer: Buffer.from(CAPABILITIES) },
    ]);
    await page.getByText("may POST https://api.example.com/v1/*").last().waitFor();
    await tabTo(/^Install$/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: /keyed 1\.2\.3/ }).waitFor();

    served.model.script({ calls: [{ name: "keyed", arguments: {} }] }, { text: "Done by keys." });
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("n");
    await page.getByText("What can I help with?").waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.ariaLabel")).toBe("Message");
    await page.keyboard.type("Use it");
    await page.keyboard.press("Enter");
    await page.getByText("May keyed run?").waitFor();
    await tabTo(/^Allow once$/);
    await page.keyboard.press("Enter");
    await page.getByText("Done by keys.").waitFor();
    // The session was not there yet.
    expect(page.complaints.filter((words) => !words.includes("401"))).toEqual([]);
  });

  test("earlier turns of a long thread come in above, by keyboard too, and what is read stays where it is", async () => {
    const thread = await talkAtLength(served, 203);
    const page = await openLink(served.link());
    const asked = page.locator(".asked");
    await page.goto(`${served.url}/#/chat/${thread}`);
    await expect.poll(() => asked.count()).toBe(200);
    expect(await asked.first().textContent()).toContain("question 4");

    await say(page, "one more");
    await expect.poll(() => asked.last().textContent()).toContain("one more");
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    expect(await asked.last().textContent()).toContain("one more");

    const oldest = asked.filter({ hasText: "question 4" }).first();
    const button = page.getByRole("button", { name: "Show earlier" });
    await page.getByRole("region", { name: "Conversation" }).focus();
    await page.keyboard.press("Tab");
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
    const before = await oldest.boundingBox();
    await page.keyboard.press("Enter");
    await expect.poll(() => asked.count()).toBe(204);
    const moved = async () => ((await oldest.boundingBox())?.y ?? Number.NaN) - (before?.y ?? Number.NaN);
    await expect.poll(async () => Math.abs(await moved())).toBeLessThan(2);
    const questions = (await asked.allInnerTexts()).map((text) => /question \d+|one more/.exec(text)?.[0]);
    expect(questions).toEqual([...Array.from({ length: 203 }, (_, i) => `question ${i + 1}`), "one more"]);

    // The button is gone with the last page; the keyboard goes on from the conversation.
    await expect.poll(() => button.count()).toBe(0);
    await expect.poll(() => page.evaluate("document.activeElement.className")).toBe("talk");
    expect(page.complaints).toEqual([]);
  });

  test.each([
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ])("of a long chat at $width × $height only the conversation scrolls", async (size) => {
    const thread = await talkAtLength(served, 30);
    const page = await openLink(served.link());
    await page.setViewportSize(size);
    await page.goto(`${served.url}/#/chat/${thread}`);
    await expect.poll(() => page.locator(".asked").count()).toBe(30);
    const heights = (selector: string) =>
      page.locator(selector).evaluate((one) => [one.scrollHeight, one.clientHeight] as const);
    const [talk = 0, shown = 0] = await heights(".talk");
    expect(talk).toBeGreaterThan(shown);
    const [whole, visible] = await heights("html");
    expect(whole).toBe(visible);
  });

  test("threads can be searched, renamed and deleted", async () => {
    const page = await openLink(served.link());
    await say(page, "apples are good");
    await page.getByText("ok", { exact: true }).waitFor();
    await page.getByRole("button", { name: "New chat" }).click();
    await page.getByText("What can I help with?").waitFor();
    await say(page, "pears are better");
    await page.getByRole("link", { name: "pears are better" }).waitFor();
    await page.getByLabel("Search threads").fill("apples");
    await page.getByRole("link", { name: "pears are better" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "apples are good" }).click();
    await page.getByRole("button", { name: "Options for “apples are good”" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByLabel("Title").fill("Fruit & <b>more</b>");
    await page.keyboard.press("Enter");
    await page.getByLabel("Search threads").fill("");
    await page.getByRole("link", { name: "Fruit & <b>more</b>" }).waitFor();
    await page.getByRole("button", { name: /Options for “Fruit/ }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("link", { name: /Fruit/ }).waitFor({ state: "detached" });
  });
});
