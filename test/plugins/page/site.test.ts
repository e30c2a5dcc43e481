import { get } from "node:http";
import { expect, test } from "vitest";
import { openGateway } from "../../support/services/gateway.ts";

test("a clone bundles the page from its sources, its first view small enough to load at once", async () => {
  const { url } = await openGateway();
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
    const [, language] = /\ben:\(\)=>import\("\.(\/[\w-]+\.js)"\)/.exec(script) ?? [];
    if (language) needed.add(language);
  }
  expect([...needed].some((path) => sources.get(path)?.includes("Loading…"))).toBe(true);
  let bytes = 0;
  for (const path of needed) bytes += await sizeOf(path);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(120_000);
});

const POLICY = [
  "base-uri 'none'",
  "connect-src 'self'",
  "default-src 'none'",
  "font-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "frame-src 'self'",
  "img-src 'self' data:",
  "manifest-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
];

test("with the page, every answer allows what its own files are and nothing else", async () => {
  const { url } = await openGateway();
  for (const path of ["/", "/health", "/api/status"]) {
    const { headers } = await fetch(`${url}${path}`);
    expect((headers.get("content-security-policy") ?? "").split(";").sort()).toEqual(POLICY);
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("cache-control")).toBe(path === "/" ? "no-cache" : "no-store");
  }
});
