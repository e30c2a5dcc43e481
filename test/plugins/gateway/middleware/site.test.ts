import { createServer } from "node:http";
import Koa from "koa";
import { expect, test } from "vitest";
import { createSite } from "../../../../plugins/gateway/middleware/site.ts";
import { listen } from "../../../support/servers/listening.ts";

const POLICY = { "script-src": ["'self'"] };

async function serve(files: Readonly<Record<string, string>>) {
  const site = createSite();
  const read = new Map(
    Object.entries(files).map(([name, text]) => [name, { contents: Buffer.from(text) }] as const),
  );
  const unmount = site.mount({ policy: POLICY, files: async () => read });
  const server = createServer(new Koa().use(site.serve).callback());
  const { url } = await listen(server);
  return { url, site, unmount };
}

test("a site's files are served with their type, compressed, and revalidated by a tag", async () => {
  const script = "console.log(1);".repeat(200);
  const { url } = await serve({ "index.html": "<!doctype html>Hello", "page.js": script });
  const index = await fetch(`${url}/`);
  expect(index.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(await index.text()).toContain("Hello");
  const answer = await fetch(`${url}/page.js`, { headers: { "accept-encoding": "br" } });
  expect(answer.headers.get("content-encoding")).toBe("br");
  expect(answer.headers.get("content-type")).toMatch(/^(text|application)\/javascript/);
  expect(await answer.text()).toBe(script);
  const again = await fetch(`${url}/page.js`, {
    // Without the second header fetch would ask for a fresh copy.
    headers: { "if-none-match": answer.headers.get("etag") as string, "cache-control": "max-age=0" },
  });
  expect(again.status).toBe(304);
  expect((await fetch(`${url}/`, { method: "POST" })).status).toBe(404);
});

test("nothing but a site's files can be reached", async () => {
  const { url } = await serve({ "index.html": "x" });
  for (const path of ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "/assets/", "/index.html%00"])
    expect((await fetch(url + path)).status).toBe(404);
});

test("one site is mounted, until its plugin stops", async () => {
  const { url, site, unmount } = await serve({ "index.html": "Hello" });
  expect(site.policy()).toBe(POLICY);
  expect(() => site.mount({ policy: {}, files: async () => new Map() })).toThrow(/Another plugin/);
  unmount();
  expect((await fetch(`${url}/`)).status).toBe(404);
  expect(site.policy()).toBeUndefined();
});

test("files that could not be read are read again with the next request", async () => {
  const { url, site, unmount } = await serve({});
  unmount();
  const tries = [
    () => Promise.reject(new Error("not built")),
    async () => new Map([["index.html", { contents: Buffer.from("Hello") }]]),
  ];
  site.mount({ policy: POLICY, files: () => (tries.shift() as () => Promise<never>)() });
  expect((await fetch(`${url}/`)).status).toBe(500);
  expect((await fetch(`${url}/`)).status).toBe(200);
});
