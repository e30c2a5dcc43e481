import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { findBarriers } from "../../../../support/processes/axe.ts";
import {
  type BrowserPage,
  describeInBrowser,
  openPage,
  useBrowser,
} from "../../../../support/processes/browser.ts";
import { type Served, servePostern } from "../../../../support/processes/served.ts";
import { fixture } from "../../../../support/tools/components.ts";
import { afterThisFile } from "../../../../support/undo.ts";

async function signedIn(served: Served, options: Parameters<typeof openPage>[0] = {}): Promise<BrowserPage> {
  const page = await openPage(options);
  await page.goto(served.link());
  await page.getByLabel("Message").waitFor();
  return page;
}

async function say(page: BrowserPage, text: string): Promise<void> {
  await page.getByLabel("Message").fill(text);
  await page.keyboard.press("Enter");
}

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

const PAGES = "tools jobs memory routines usage people webhooks settings logs".split(" ");

describeInBrowser("the page in a browser", () => {
  useBrowser();
  const later = afterThisFile();
  let served: Served;
  beforeAll(async () => {
    served = await servePostern({ CHAT_RATE_LIMIT: "1000" }, later);
  });

  test("the link signs in, the token leaves the address bar, and nothing in the page holds it", async () => {
    const page = await signedIn(served);
    const token = new URL(served.link()).searchParams.get("token") ?? "none";
    expect(page.url()).toBe(`${served.url}/`);
    expect(await page.content()).not.toContain(token);
    expect(await page.evaluate("document.cookie + JSON.stringify(localStorage)")).not.toContain(token);
    expect(served.process.stderr()).not.toContain(token);
    expect(page.complaints).toEqual([]);
  });

  test("two gateways on one machine do not sign each other's users out, though their ports share one jar of cookies", async () => {
    const [one, other] = await Promise.all([servePostern(), servePostern()]);
    const page = await signedIn(one);
    await page.goto(other.link());
    await page.getByLabel("Message").waitFor();
    await page.goto(one.url);
    await page.getByLabel("Message").waitFor({ timeout: 10_000 });
    await page.goto(other.url);
    await page.getByLabel("Message").waitFor({ timeout: 10_000 });
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

    const page = await signedIn(served);
    await page.goto(`${served.url}/?token=${eve.token}`);
    await page.getByText("You are signed in as operator. This link is for eve.").waitFor();
    expect(page.url()).toBe(`${served.url}/`);
    await page.getByRole("button", { name: "Stay signed in as I am" }).click();
    await page.getByText("operator · ").waitFor();
    await page.goto(`${served.url}/?token=${eve.token}`);
    await page.getByRole("button", { name: "Use the link" }).click();
    await page.getByText("eve · ").waitFor();

    const stranger = await openPage();
    await stranger.goto(`${served.url}/?token=${eve.token}`);
    await stranger.getByText("This link signs you in as eve.").waitFor();
    await stranger.getByRole("button", { name: "Do not sign in" }).click();
    await stranger.getByLabel("Token").waitFor();
  });

  test("people are added, given another role and removed, and browsers signed out, on one page", async () => {
    const page = await signedIn(served);
    const other = await signedIn(served);
    await page.goto(`${served.url}/#/people`);
    await page.getByLabel("Name of the new user").fill("zoe");
    await page.getByRole("button", { name: "Add user" }).click();
    await page.getByLabel("Role of zoe").selectOption("operator");
    await expect.poll(() => page.getByLabel("Role of zoe").inputValue()).toBe("operator");
    const row = page.getByRole("row").filter({ hasText: "zoe" });
    await row.getByRole("button", { name: "Remove with data" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove with data" }).click();
    await row.waitFor({ state: "detached" });
    // Newest first.
    await page.getByRole("button", { name: "Sign out" }).nth(1).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Sign out" }).click();
    await other.getByLabel("Token").waitFor();
    expect(page.complaints).toEqual([]);
  });

  test("without a token it asks for one, refuses a wrong one, and takes the right one", async () => {
    const page = await openPage();
    await page.goto(served.url);
    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Invalid or missing auth token").waitFor();
    await page.getByLabel("Token").fill(readFileSync(`${served.home}/webui-token`, "utf8").trim());
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Message").waitFor();
  });

  test("an answer streams in as Markdown, and is there again after a reload", async () => {
    const page = await signedIn(served);
    served.model.script({ text: ["Some **bold**", " text\n\n```js\nconst a", " = 1;\n```\n"], delay: 40 });
    await say(page, "Show me code");
    await page.locator("strong", { hasText: "bold" }).waitFor();
    await page.getByRole("button", { name: "Copy", exact: true }).waitFor();
    await expect.poll(() => page.locator("figure.code code").textContent()).toBe("const a = 1;");
    await page.reload();
    await page.locator("strong", { hasText: "bold" }).waitFor();
    expect(await page.locator(".asked").textContent()).toContain("Show me code");
    expect(await page.locator("strong", { hasText: "bold" }).count()).toBe(1);
    expect(page.complaints).toEqual([]);
  });

  test("an answer that is complete before its own request was answered is shown", async () => {
    const page = await signedIn(served);
    await page.route("**/api/chat/send", async (route) => {
      // The page reads the list of threads when it learns that a turn has ended.
      const ended = page.waitForRequest(/\/api\/threads\?/);
      const response = await route.fetch();
      await ended;
      await route.fulfill({ response });
    });
    served.model.script({ text: "Quick as that" });
    await say(page, "Hello");
    await page.getByText("Quick as that").waitFor({ timeout: 10_000 });
  });

  test("stop ends a turn in the middle and says so", async () => {
    const page = await signedIn(served);
    served.model.script({ text: ["word1 ", "word2 ", "word3 "], end: "stall" });
    await say(page, "Talk for long");
    await page.getByText("word3 ").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("stopped", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
  });

  test("a failed turn stays with its reason and can be tried again", async () => {
    const page = await signedIn(served);
    served.model.script({ status: 400 }, { text: "Better now" });
    await say(page, "Go");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Better now").waitFor();
  });

  test("a tool call is a card that tells what was called, with what and what came back", async () => {
    const page = await signedIn(served);
    served.model.script(
      { calls: [{ name: "memory_write", arguments: { path: "notes/bike.md", text: "The bike is red" } }] },
      { text: "Noted." },
    );
    await say(page, "Remember my bike");
    await page.getByText("Noted.").waitFor();
    await page.locator(".call summary").click();
    await page.locator(".call .inside").getByText("The bike is red").first().waitFor();
    await page.goto(`${served.url}/#/memory`);
    await page.getByRole("button", { name: "notes/bike.md" }).click();
    expect(await page.getByLabel("Text of notes/bike.md").inputValue()).toContain("The bike is red");
  });

  test("after a restart of the server the page comes back by itself, with no message lost or doubled", async () => {
    const served = await servePostern({ GATEWAY_AUTH_TOKEN: "stays-the-same-over-restarts" });
    const page = await signedIn(served);
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

  test("a tool is installed from two dropped files, its grants shown first; a secret too short to hide is warned of; a call that may write asks, and runs once allowed", async () => {
    const page = await signedIn(served);
    await page.goto(`${served.url}/#/tools`);
    await page.getByLabel("The component and its capabilities file").setInputFiles([
      { name: "prober.wasm", mimeType: "application/wasm", buffer: Buffer.from(await fixture("prober.js")) },
      { name: "capabilities.json", mimeType: "application/json", buffer: Buffer.from(CAPABILITIES) },
    ]);
    await page.getByText("may POST https://api.example.com/v1/*").waitFor();
    await page.getByRole("button", { name: "Install", exact: true }).click();
    await page.getByRole("heading", { name: /^prober 1\.2\.3/ }).waitFor();

    await page.getByText("Sign-in and secrets").click();
    const warning = page.getByText("`probe_key` is too short to be hidden");
    await page.getByLabel("Probe key").fill("12345");
    await page.getByRole("button", { name: "Save" }).click();
    await warning.waitFor();
    await page.getByLabel("Probe key").fill("123456");
    await page.getByRole("button", { name: "Save" }).click();
    await warning.waitFor({ state: "detached" });

    served.model.script({ calls: [{ name: "prober", arguments: {} }] }, { text: "Probed." });
    await page.goto(`${served.url}/#/`);
    await say(page, "Probe it");
    await page.getByText("May prober run?").waitFor();
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.getByText("Probed.").waitFor();
    await page.locator(".call summary", { hasText: "prober" }).click();
    await page.getByText(/^Receipt /).waitFor();
    expect(await page.getByText("May prober run?").count()).toBe(0);
    expect(page.complaints).toEqual([]);
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
    await page.getByRole("heading", { name: /^keyed 1\.2\.3/ }).waitFor();

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
    // Of the session that was not there yet.
    expect(page.complaints.filter((words) => !words.includes("401"))).toEqual([]);
  });

  test("earlier turns of a long thread come in above, by keyboard too, and what is read stays where it is", async () => {
    const thread = await talkAtLength(served, 203);
    const page = await signedIn(served);
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
    const moved = ((await oldest.boundingBox())?.y ?? Number.NaN) - (before?.y ?? Number.NaN);
    expect(Math.abs(moved)).toBeLessThan(2);
    const questions = (await asked.allInnerTexts()).map((text) => /question \d+|one more/.exec(text)?.[0]);
    expect(questions).toEqual([...Array.from({ length: 203 }, (_, i) => `question ${i + 1}`), "one more"]);

    // The button is gone with the last page; the keyboard goes on from the conversation.
    expect(await button.count()).toBe(0);
    expect(await page.evaluate("document.activeElement.className")).toBe("talk");
    expect(page.complaints).toEqual([]);
  });

  test("threads can be searched, renamed and deleted", async () => {
    const page = await signedIn(served);
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
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("link", { name: /Fruit/ }).waitFor({ state: "detached" });
  });

  test("markup in an answer, a tool's output or a title does nothing", async () => {
    const attack =
      '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>[x](javascript:window.hacked=1)';
    const page = await signedIn(served);
    served.model.script(
      { calls: [{ name: "memory_write", arguments: { path: "x.md", text: attack } }] },
      { calls: [{ name: "memory_read", arguments: { path: "x.md" } }] },
      {
        text: `${attack}\n\n<svg onload="window.hacked=1"></svg> <a href="javascript:window.hacked=1">y</a> done`,
      },
    );
    await say(page, attack);
    await page.getByText("done").first().waitFor();
    for (const summary of await page.locator(".call summary").all()) await summary.click();
    for (const link of await page.locator(".prose a").all()) await link.click({ trial: true });
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.locator(".prose img, .prose script, .prose svg, .prose [onerror]").count()).toBe(0);
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
  });

  test.each([
    ["light, wide", {}],
    ["dark, wide", { dark: true }],
    ["light, tablet", { width: 800 }],
    ["dark, tablet", { dark: true, width: 800 }],
    ["dark, phone", { dark: true, width: 390 }],
    ["light, phone", { width: 390 }],
  ])("axe finds nothing (%s), and nothing is wider than the screen", async (_name, options) => {
    const page = await signedIn(served, options);
    served.model.script({
      text: "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nls -la\n```\n`inline` and [link](https://example.com)",
    });
    await say(page, "Show everything");
    await page.getByRole("button", { name: "Copy", exact: true }).waitFor();
    for (const hash of ["", ...PAGES.map((name) => `#/${name}`)]) {
      if (hash) await page.goto(`${served.url}/${hash}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect([hash, await findBarriers(page)]).toEqual([hash, []]);
      const wide = await page.evaluate(
        "document.documentElement.scrollWidth > innerWidth ? [...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 80)) : []",
      );
      expect([hash, wide]).toEqual([hash, []]);
    }
  });
});
