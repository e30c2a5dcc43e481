/** The page as an app: what installs it, what it shows without the service, and what it tells somebody who is elsewhere. */
import { expect, test } from "vitest";
import { findBarriers } from "../../../support/processes/axe.ts";
import {
  describeInBrowser,
  openPage,
  openUserMenu,
  say,
  useBrowser,
} from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

describeInBrowser("the page as an app", () => {
  useBrowser();

  test("has a manifest with icons; without the service it says so, and runs no old code and keeps no answer; signing out removes it", async () => {
    const gateway = await openGateway({ variables: { MEMORY_VECTORS: "false" } });
    const manifest = await (await fetch(`${gateway.url}/manifest.webmanifest`)).json();
    expect(manifest).toMatchObject({ name: "Postern", start_url: "/", display: "standalone" });
    for (const { src, type, sizes } of manifest.icons) {
      const answer = await fetch(gateway.url + src);
      expect(answer.headers.get("content-type")).toBe(type);
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (type !== "image/png") continue;
      expect(bytes.subarray(0, 4)).toEqual(PNG);
      expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`).toBe(sizes);
    }

    const page = await openPage();
    const visit = async () => {
      await page.goto(`${gateway.url}/?token=${OPERATOR_TOKEN}`);
      await page.getByLabel("Message").waitFor();
      expect(page.url()).toBe(`${gateway.url}/`);
    };
    await visit();
    // A look at the registrations always ends; `serviceWorker.ready` never does once a worker was removed.
    const active =
      "navigator.serviceWorker.getRegistrations().then((all) => all.map((one) => one.active !== null))";
    await expect.poll(() => page.evaluate(active)).toEqual([true]);
    const kept =
      "caches.keys().then((names) => Promise.all(names.map((name) => caches.open(name)))).then((all) => Promise.all(all.map((one) => one.keys()))).then((all) => all.flat().map(({ url }) => new URL(url).pathname).sort())";
    // The link works also through the worker, and nothing but the offline page is kept.
    await visit();
    await expect.poll(() => page.evaluate(kept)).toEqual(["/icon.svg", "/offline.html", "/style.css"]);
    expect(page.complaints).toEqual([]);

    await openUserMenu(page);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    await expect.poll(() => page.evaluate(active)).toEqual([]);
    await expect.poll(() => page.evaluate(kept)).toEqual([]);
    await page.getByLabel("Token").fill(OPERATOR_TOKEN);
    await page.keyboard.press("Enter");
    await page.getByLabel("Message").waitFor();
    await visit();
    await expect.poll(() => page.evaluate(active)).toEqual([true]);
    await expect.poll(() => page.evaluate(kept)).toHaveLength(3);

    await gateway.service.stop();
    await page.reload();
    await page.getByRole("heading", { name: "Postern cannot be reached" }).waitFor();
    expect(await page.evaluate("getComputedStyle(document.querySelector('main')).display")).toBe("grid");
    expect(await findBarriers(page)).toEqual([]);
  });

  test("tells of a long answer and of a question while the tab is hidden, only where it was asked to, and without a word of what was said", async () => {
    const model = await scriptedModel();
    let finish = () => {};
    const gateway = await openGateway({
      model,
      tools: {
        slow: {
          run: () =>
            new Promise((resolve) => {
              finish = () => resolve({ status: "ok", output: "the secret result" });
            }),
        },
        mail: { writes: true, run: () => ({ status: "ok", output: "sent" }) },
      },
      variables: { MEMORY_VECTORS: "false" },
    });
    const page = await openPage();
    await page.clock.install();
    await page.addInitScript(`
      window.shown = []; window.asked = 0; window.isHidden = false;
      window.Notification = class { static permission = "default";
        static async requestPermission() { window.asked++; return (Notification.permission = "granted"); }
        constructor(title, { body }) { window.shown.push([title, body]); } close() {} };
      Object.defineProperty(document, "hidden", { get: () => window.isHidden });`);
    await page.goto(`${gateway.url}/?token=${OPERATOR_TOKEN}`);
    const answerSlowly = async (text: string, seconds: number) => {
      model.script({ calls: [{ name: "slow", arguments: {} }] }, { text });
      await say(page, "Take your time");
      await page.locator(".call", { hasText: "running" }).waitFor();
      await page.clock.fastForward(seconds * 1000);
      finish();
      await page.getByText(text, { exact: true }).waitFor();
      await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    };
    await page.getByLabel("Message").waitFor();
    await page.evaluate("window.isHidden = true");
    await answerSlowly("first", 25);
    expect(await page.evaluate("window.asked")).toBe(0);
    await openUserMenu(page);
    await page.getByLabel("Notifications").check();
    await page.keyboard.press("Escape");
    await answerSlowly("second", 2);
    expect(await page.evaluate("window.shown")).toEqual([]);
    await answerSlowly("third", 25);
    await expect
      .poll(() => page.evaluate("window.shown"))
      .toEqual([["The answer is ready", "Take your time"]]);
    model.script({ calls: [{ name: "mail", arguments: { to: "bob" } }] });
    await say(page, "Write to bob");
    await page.getByText("Mail? You did not ask for this, or not again.").waitFor();
    await expect.poll(() => page.evaluate("window.shown[1]")).toEqual(["Waiting for you", "Take your time"]);
    model.script({ text: "not sent" });
    await page.getByRole("button", { name: "Deny" }).first().click();
    await page.getByText("not sent", { exact: true }).waitFor();
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    await page.evaluate("window.isHidden = false");
    await answerSlowly("fourth", 25);
    expect(await page.evaluate("window.shown.length")).toBe(2);
    expect(page.complaints).toEqual([]);
    await page.context().close();
  });
});
