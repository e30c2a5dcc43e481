import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import { expect, onTestFinished, test } from "vitest";
import { servePage, toFiles } from "../../../../plugins/gateway/middleware/site.ts";

async function serve(files: Readonly<Record<string, string>>): Promise<string> {
  const bundle = new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]));
  const app = new Koa().use(servePage(async () => toFiles(bundle)));
  const server = createServer(app.callback()).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("the page's files are served with their type, compressed, and revalidated by a tag", async () => {
  const script = "console.log(1);".repeat(200);
  const url = await serve({ "index.html": "<!doctype html>Hello", "page.js": script });
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

test("nothing outside of the page's folder can be reached", async () => {
  const url = await serve({ "index.html": "x" });
  for (const path of ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "/assets/", "/index.html%00"])
    expect((await fetch(url + path)).status).toBe(404);
});

test("a clone bundles the page from its sources, its first view small enough to load at once", async () => {
  const app = new Koa().use(servePage());
  const server = createServer(app.callback()).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sizeOf = (path: string) =>
    new Promise<number>((resolve, reject) => {
      get(`${url}${path}`, { headers: { "accept-encoding": "br" } }, (answer) => {
        let size = 0;
        answer.on("data", (chunk: Buffer) => {
          size += chunk.length;
        });
        answer.on("end", () => resolve(answer.statusCode === 200 ? size : Number.NaN));
      }).on("error", reject);
    });
  // With the parts that the script cannot begin without; `import()` fetches others later, but for the texts of one language.
  const needed = new Set(["/", "/style.css", "/icon.svg", "/main.js"]);
  const sources = new Map<string, string>();
  for (const path of needed) {
    if (!path.endsWith(".js")) continue;
    const script = await (await fetch(url + path)).text();
    sources.set(path, script);
    for (const [, part] of script.matchAll(/(?:from|import)"\.(\/[\w-]+\.js)"/g)) needed.add(part as string);
    const [, language] = /\ben:async\(\)=>\(await import\("\.(\/[\w-]+\.js)"\)/.exec(script) ?? [];
    if (language) needed.add(language);
  }
  expect([...needed].some((path) => sources.get(path)?.includes("Loading…"))).toBe(true);
  let bytes = 0;
  for (const path of needed) bytes += await sizeOf(path);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(120_000);
});
