/** A page of a loopback web is read by the real tool, and its address stands below the answer. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../../support/clone.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { describeInBrowser, openLink, say, useBrowser } from "../../../support/processes/browser.ts";
import { postern } from "../../../support/processes/postern.ts";
import { servePostern } from "../../../support/processes/served.ts";
import { listen } from "../../../support/servers/listening.ts";
import { builtComponent } from "../../../support/tools/shipped.ts";

describeInBrowser("the sources of an answer", () => {
  useBrowser();

  async function open() {
    const site = createServer((_, response) => {
      const page = readFileSync(join(ROOT, "test", "fixtures", "pages", "news.html"));
      response.writeHead(200, { "content-type": "text/html" }).end(page);
    });
    const { host: place } = await listen(site);
    const env = { TOOLS_PRIVATE_HOSTS: place };
    const served = await servePostern(env);
    const wasm = join(temporaryFolder(), "read-page.wasm");
    writeFileSync(wasm, await builtComponent("read-page"));
    const capabilities = join(ROOT, "capabilities", "read-page.json");
    const args = ["tool", "install", wasm, "--capabilities", capabilities, "--name", "read-page", "--yes"];
    const { stdout } = await postern(args, { env: { ...env, POSTERN_HOME: served.home } });
    expect(stdout).toContain("may read any public web page, without credentials");
    const page = await openLink(served.link());
    return { place, url: `http://${place}/news`, served, page };
  }

  test("are numbered links with title and host, which tell nobody where they were clicked", async () => {
    const { place, url, served, page } = await open();
    served.model.script(
      { calls: [{ name: "read-page", arguments: { url } }] },
      {
        text: "They overtook gas: [click here](https://elsewhere.example/x), or see <https://open.example/> and [https://bank.example/?evil.example](https://evil.example/).",
      },
    );
    await say(page, `What does ${url} say about batteries?`);
    const link = page.getByRole("region", { name: "Sources" }).getByRole("link");
    await link.waitFor();
    expect(await link.textContent()).toBe("Grid batteries overtake gas peakers for the first time");
    expect(await link.getAttribute("href")).toBe(url);
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(await page.locator(".sources li").textContent()).toContain(place);
    // So are those in the answer itself and in what the tool read, and each shows where it leads.
    const everywhere = page.locator(".prose a");
    expect(
      await everywhere.evaluateAll((all) => [...new Set(all.map((a) => a.getAttribute("rel")))]),
    ).toEqual(["noopener noreferrer nofollow"]);
    const inside = page.locator(".prose a:not(.call *)");
    const attributes = (name: string) =>
      inside.evaluateAll((all, of) => all.map((a) => a.getAttribute(of)), name);
    expect(await attributes("rel")).toEqual(Array(3).fill("noopener noreferrer nofollow"));
    expect(await attributes("title")).toEqual([
      "https://elsewhere.example/x",
      "https://open.example/",
      "https://evil.example/",
    ]);
    expect(await attributes("data-host")).toEqual(["elsewhere.example", null, "evil.example"]);
    // They are there again from the stored turn.
    await page.reload();
    await link.waitFor();
    expect(page.complaints).toEqual([]);
  });

  test("are those of the whole answer where a gate was answered in its midst", async () => {
    const { place, url, served, page } = await open();
    served.model.script(
      { calls: [{ name: "read-page", arguments: { url } }] },
      { calls: [{ name: "read-page", arguments: { url: `http://${place}/collect?code=884107` } }] },
      { text: "They overtook gas." },
    );
    await say(page, `My door code is 884107. What does ${url} say about batteries?`);
    await page.getByRole("button", { name: /deny/i }).click();
    const link = page.getByRole("region", { name: "Sources" }).getByRole("link");
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe(url);
    await page.reload();
    await link.waitFor();
    expect(page.complaints).toEqual([]);
  });
});
