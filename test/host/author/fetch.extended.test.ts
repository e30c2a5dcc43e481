/** Projects that use `fetch`, from their types to a call. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stop } from "esbuild";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { buildProject } from "../../../host/author/build/build.ts";
import { installedToolchain } from "../../../host/author/build/toolchain.ts";
import { openProject } from "../../../host/author/project.ts";
import type { ToolRequest } from "../../../host/broker/grant.ts";
import { inspect } from "../../../host/compile/component.ts";
import { createPool } from "../../../host/sandbox/pool.ts";
import { toComponent } from "../../support/tools/components.ts";
import { buildOnce, newProject } from "../../support/tools/projects.ts";
import { builtComponent } from "../../support/tools/shipped.ts";

// The bundler leaves a process running for the next build.
afterAll(() => stop());

const buildWithQuickJs = (folder: string) =>
  buildProject(openProject(folder), {
    engine: "quickjs",
    progress: () => {},
    openToolchain: async () => installedToolchain(),
  });

const EVERYTHING = `import type { Tool } from "postern:tool/tool@0.1.0";

interface Thing { readonly id: number }

async function load(base: URL, id: number): Promise<Thing> {
  const headers = new Headers({ Accept: "application/json" });
  headers.set("X-Id", String(id));
  const request = new Request(new URL(\`things/\${id}\`, base), { headers, signal: AbortSignal.timeout(5000) });
  const response: Response = await fetch(request);
  if (!response.ok || response.headers.get("x-answer") !== "yes") throw new Error(\`\${response.status}\`);
  return response.json();
}

export const tool: Tool = {
  description: () => "Loads things.",
  schema: () => '{"type":"object"}',
  async execute({ params }) {
    const { base, ids }: { base: string; ids: number[] } = JSON.parse(params);
    const things = await Promise.all(ids.map((id) => load(new URL(base), id)));
    return { output: JSON.stringify(things.map(({ id }) => id)) };
  },
};
`;

test("fetch, Headers, Request, Response, URL and an async execute have types, are built, and work", async () => {
  const folder = await newProject();
  writeFileSync(join(folder, "tool.ts"), EVERYTHING);
  const bytes = readFileSync(await buildOnce(folder, "spidermonkey"));
  const { imports } = await inspect(bytes);
  expect(imports).toContainEqual(expect.stringMatching(/^wasi:http\/outgoing-handler@0\.2\./));
  const pool = createPool({ size: 1 });
  onTestFinished(() => pool.close());
  const asked: ToolRequest[] = [];
  const outcome = await pool.call({
    component: toComponent(bytes),
    params: '{"base":"https://api.test/v1/","ids":[3,5]}',
    timeoutMs: 60_000,
    async http(request) {
      asked.push(request);
      const body = Buffer.from(`{"id":${request.url.split("/").at(-1)}}`);
      return { ok: true, status: 200, headers: [["x-answer", "yes"]], body };
    },
    secrets: [],
  });
  expect(outcome).toMatchObject({ ok: true, output: "[3,5]" });
  expect(asked[0]).toEqual({
    method: "GET",
    url: "https://api.test/v1/things/3",
    headersJson: '{"accept":"application/json","x-id":"3"}',
    body: undefined,
    timeoutMs: undefined,
  });
});

test("a tool that does not use fetch imports no HTTP", async () => {
  const { imports } = await inspect(await builtComponent("weather"));
  expect(imports.filter((name) => name.startsWith("wasi:http"))).toEqual([]);
});

test("with QuickJS, an async execute is built as one of the component model, and waits for what it asks", async () => {
  const folder = await newProject("js");
  writeFileSync(
    join(folder, "tool.js"),
    `import { httpRequest } from "postern:tool/host@0.1.0";
     export const tool = { description: () => "Adds up.", schema: () => "{}", async execute() {
       const later = async () => httpRequest("GET", "https://api.test/", "{}", undefined, undefined).status;
       const [one, two] = await Promise.all([later(), later()]);
       return { output: JSON.stringify(one + two) };
     } };`,
  );
  const component = toComponent(readFileSync((await buildWithQuickJs(folder)).file));
  const pool = createPool({ size: 1 });
  onTestFinished(() => pool.close());
  const http = async () => ({ ok: true, status: 200, headers: [], body: new Uint8Array() }) as const;
  const call = { component, params: "{}", timeoutMs: 60_000, secrets: [], http };
  expect(await pool.call(call)).toMatchObject({ ok: true, output: "400" });
  expect(await pool.call(call)).toMatchObject({ ok: true, output: "400" });
});

test("with QuickJS, fetch is refused in words", async () => {
  const folder = await newProject("js");
  const write = (execute: string, more = "") =>
    writeFileSync(
      join(folder, "tool.js"),
      `${more}export const tool = { description: () => "Tries to fetch.", schema: () => "{}", ${execute} };`,
    );
  write('execute() { globalThis.fetch("https://api.test/"); return { output: "1" }; }');
  await expect(buildWithQuickJs(folder)).rejects.toThrow(
    "tool.js: it uses fetch, which QuickJS does not have: use httpRequest of postern:tool/host, or build it without --engine quickjs",
  );
  // Neither a method nor a word of that name is the global, and a library may ask whether there is one.
  write(
    'execute: () => ({ output: JSON.stringify([cache.fetch("fetch"), typeof fetch]) })',
    "const cache = { fetch: (key) => key };",
  );
  await buildOnce(folder, "quickjs");
});
