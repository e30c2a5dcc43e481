/** Diagrams that a model wrote are drawn in a frame that can do nothing but draw. */
import { expect, test } from "vitest";
import {
  type BrowserPage,
  describeInBrowser,
  openPage,
  say,
  useBrowser,
} from "../../../support/processes/browser.ts";
import { openUpstream } from "../../../support/servers/upstream.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";
import { afterThisTest } from "../../../support/undo.ts";

const fence = (source: string) => `\`\`\`mermaid\n${source}\n\`\`\`\n`;
const FLOW = "graph LR\n  A[Message] --> B[Answer]";

async function openChat(page: BrowserPage) {
  const model = await scriptedModel();
  const gateway = await openGateway({ model, variables: { MEMORY_VECTORS: "false" } });
  await page.goto(`${gateway.url}/?token=${OPERATOR_TOKEN}`);
  const draw = async (answer: string) => {
    model.script({ text: answer });
    await say(page, "Draw");
  };
  const frame = async () => {
    await page.locator(".diagram.drawn").first().waitFor();
    const found = page.frames().find((one) => one.url().endsWith("/diagram.html"));
    if (!found) throw new Error("there is no frame");
    return found;
  };
  return { gateway, draw, frame };
}

/** Attempts to reach the page or the network from inside of the frame; each returns what it got. */
const REACHES = (url: string) => [
  "parent.document.title",
  "document.cookie",
  "localStorage.length",
  "top.location.href",
  `fetch("${url}/fetch").then(({ status }) => status)`,
  `new Promise((done, fail) => Object.assign(new Image(), { onload: done, onerror: () => fail(new Error("img")), src: "${url}/img" }))`,
  `new Promise((done, fail) => Object.assign(new WebSocket("${url.replace("http", "ws")}/socket"), { onopen: done, onerror: () => fail(new Error("ws")) }))`,
  `import("${url}/module.js")`,
  `open("${url}/popup")?.name ?? Promise.reject(new Error("no popup"))`,
];

describeInBrowser("diagrams", () => {
  useBrowser();

  test("are drawn when they are shown, and nothing is loaded for them before", async () => {
    const page = await openPage();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const { draw, frame } = await openChat(page);
    expect(asked).not.toContain("/diagram.html");
    await draw(fence(FLOW));
    expect(await (await frame()).locator("svg").textContent()).toContain("Message");
    expect(await page.locator("iframe").getAttribute("sandbox")).toBe("allow-scripts");
    await page.getByRole("button", { name: "Source" }).click();
    await page.getByText("A[Message] --> B[Answer]").waitFor();
    // What cannot be drawn is shown as it was written.
    await draw(fence("graph LR\n  A --> --> B"));
    await page.locator(".diagram.undrawn").getByText("A --> --> B").waitFor();
    expect(page.complaints).toEqual([]);
  });

  test("their frame reaches neither the page nor the network, also where the library lets a stranger in", async () => {
    const page = await openPage();
    const upstream = await openUpstream();
    afterThisTest(upstream.close);
    const { gateway, draw, frame } = await openChat(page);
    await draw(fence(FLOW));
    const inside = await frame();
    expect(await inside.evaluate("origin")).toBe("null");
    for (const attempt of REACHES(`http://127.0.0.1:${upstream.port}`)) {
      const got = await inside
        .evaluate(`(async () => ${attempt})().then((value) => ["got", String(value)], () => "refused")`)
        .catch(() => "refused");
      expect([attempt, got]).toEqual([attempt, "refused"]);
    }
    await inside.evaluate("top.location = 'about:blank'").catch(() => {});
    await inside.evaluate("parent.postMessage({ html: '<img src=x onerror=hacked=1>' }, '*')");
    expect(upstream.requests).toEqual([]);
    expect(page.url()).toContain(gateway.url);
    expect(await page.evaluate("'hacked' in window")).toBe(false);
    // The same where somebody is sent to the document itself.
    await page.goto(`${gateway.url}/diagram.html`);
    expect(await page.evaluate("origin")).toBe("null");
  });

  test.each([
    ["a click", 'graph LR\n  A-->B\n  click A href "javascript:parent.hacked=1"\n  click B call alert()'],
    [
      "markup",
      'graph LR\n  A["<img src=x onerror=parent.hacked=1>"] --> B["<iframe src=javascript:parent.hacked=1>"]',
    ],
    [
      "settings",
      '%%{init: {"securityLevel": "loose", "themeCSS": "*{background:url(UPSTREAM/x)}"}}%%\ngraph LR\n  A["<script>parent.hacked=1</script>"]',
    ],
    ["the end of the script", "graph LR\n  A[</script><script>parent.hacked=1</script>]"],
  ])("%s in a source does nothing", async (_, source) => {
    const page = await openPage();
    const { draw } = await openChat(page);
    const upstream = await openUpstream();
    afterThisTest(upstream.close);
    await draw(fence(source.replace("UPSTREAM", `http://127.0.0.1:${upstream.port}`)));
    await page.locator(".diagram:is(.drawn, .undrawn)").waitFor();
    for (const node of (await page.frames().at(-1)?.locator(".node").all()) ?? [])
      await node.click({ timeout: 2000 }).catch(() => {});
    expect(await page.evaluate("'hacked' in window")).toBe(false);
    expect(upstream.requests).toEqual([]);
  });
});
