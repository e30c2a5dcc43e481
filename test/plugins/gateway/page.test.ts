import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import Koa from "koa";
import { expect, onTestFinished, test } from "vitest";
import { servePage } from "../../../plugins/gateway/page.ts";
import { temporaryFolder } from "../../support/home.ts";

async function serve(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "assets"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const app = new Koa().use(servePage(folder));
  const server = createServer(app.callback()).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("the page's files are served with their type, compressed, and revalidated by a tag", async () => {
  const script = "console.log(1);".repeat(200);
  const url = await serve({ "index.html": "<!doctype html>Hello", "assets/page.js": script });
  const index = await fetch(`${url}/`);
  expect(index.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(await index.text()).toContain("Hello");
  const answer = await fetch(`${url}/assets/page.js`, { headers: { "accept-encoding": "br" } });
  expect(answer.headers.get("content-encoding")).toBe("br");
  expect(answer.headers.get("content-type")).toMatch(/^(text|application)\/javascript/);
  expect(await answer.text()).toBe(script);
  const again = await fetch(`${url}/assets/page.js`, {
    // Without the second header fetch would ask for a fresh copy.
    headers: { "if-none-match": answer.headers.get("etag") as string, "cache-control": "max-age=0" },
  });
  expect(again.status).toBe(304);
  expect((await fetch(`${url}/`, { method: "POST" })).status).toBe(404);
});

test("nothing outside of the page's folder can be reached", async () => {
  const url = await serve({ "index.html": "x" });
  for (const path of ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "/assets/", "/index.html%00"])
    expect((await fetch(url + path)).status).toBe(404);
});

test("where the page was not built the service says so and still answers", async () => {
  const url = await serve({});
  expect(await (await fetch(`${url}/`)).text()).toContain("has not been built");
});
