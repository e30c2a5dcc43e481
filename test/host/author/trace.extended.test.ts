import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stop } from "esbuild";
import { afterAll, expect, test } from "vitest";
import { embedMap, readMap } from "../../../host/author/trace/source-map.ts";
import { postern } from "../../support/processes/postern.ts";
import { copyCode, fixture } from "../../support/tools/components.ts";
import { buildOnce, newProject } from "../../support/tools/projects.ts";

// The bundler leaves a process running for the next build.
afterAll(() => stop());

const TOOL = `import type { Tool } from "postern:tool/tool@0.1.0";
import { sink } from "./part.ts";

const note = (text: string): void => console.log(text);

export const tool: Tool = {
  description: () => "Sinks to the bottom, for a test.",
  schema: () => '{"type":"object"}',
  execute({ params }) {
    note("sinking");
    return { output: sink(JSON.parse(params).depth ?? 1) };
  },
};
`;
const PART = `interface Unused {
  readonly erased: true;
}

export function sink(depth: number): string {
  if (depth === 0) throw new RangeError("the bottom");
  return sink(depth - 1);
}
`;

test.each(["spidermonkey", "quickjs"] as const)(
  "with %s, a call that throws shows the author's lines once, in run, in the receipt and in check",
  async (engine) => {
    const folder = await newProject();
    writeFileSync(join(folder, "tool.ts"), TOOL);
    writeFileSync(join(folder, "part.ts"), PART);
    const file = await buildOnce(folder, engine);
    const cwd = dirname(folder);
    const home = join(cwd, "home");
    mkdirSync(home, { mode: 0o700 });
    await copyCode(readFileSync(file), home);
    const tool = (...args: string[]) => postern(["tool", ...args], { cwd, env: { POSTERN_HOME: home } });
    const capabilities = "countdown/capabilities.json";
    await tool("install", file, "--capabilities", capabilities, "--name", "sinker");

    const { code, stderr } = await tool("run", "sinker");
    expect(code).toBe(1);
    const column = engine === "quickjs" ? String.raw`\d+` : "26";
    expect(stderr).toMatch(
      new RegExp(
        String.raw`^info: sinking
sinker: The tool threw: the bottom
 {4}at sink \(part\.ts:6:${column}\)
 {4}at sink \(part\.ts:7:\d+\)
 {4}at execute \(tool\.ts:11:\d+\)
$`,
      ),
    );

    const json = JSON.parse((await tool("run", "sinker", '{"depth":20}', "--json")).stdout);
    expect(json.error).toMatch(/^The tool threw: the bottom \(part\.ts:6:\d+\)$/);
    expect(json.receipt).toMatchObject({ code: "threw", message: json.error });
    expect(json.receipt.logs).toEqual([
      { level: "info", message: "sinking" },
      {
        level: "error",
        message: expect.stringMatching(
          // QuickJS itself keeps ten.
          /^the bottom\n {4}at sink \(part\.ts:6:\d+\)(\n {4}at sink \(part\.ts:7:\d+\)){9}(\n {4}… and 12 more)?$/,
        ),
      },
    ]);
    const { receipts } = JSON.parse((await tool("log", "--json")).stdout);
    expect(receipts[0]).toEqual(json.receipt);

    const checked = await tool("check", "countdown");
    expect(checked.code).toBe(1);
    // It is installed, so its code need not be compiled again.
    expect(checked.stdout).toMatch(/ start +\d+ ms to the first answer; prepared before$/m);
    expect(checked.stdout).toMatch(
      /^FAIL +empty params +.*but it crashed: The tool threw: the bottom \(part\.ts:6:\d+\)$/m,
    );
  },
);

test("a component that throws while it describes itself is explained with the author's line", async () => {
  const folder = await newProject("js");
  const file = join(folder, "tool.js");
  const source = readFileSync(file, "utf8");
  writeFileSync(
    file,
    source.replace("schema: () => JSON", "schema: () => /** @type {any} */ (null).x ?? JSON"),
  );
  await buildOnce(folder, "quickjs");
  const line = source.slice(0, source.indexOf("schema: ()")).split("\n").length;
  const run = (...args: string[]) =>
    postern(["tool", ...args], { cwd: folder, env: { POSTERN_HOME: join(folder, "home") } });
  const told = `does not describe itself. The tool threw: cannot read property 'x' of null`;
  const checked = await run("check", ".");
  expect(checked.stdout).toMatch(
    new RegExp(String.raw`^FAIL +start +.*${told} +at schema \(tool\.js:${line}:\d+\)$`, "m"),
  );
  const wasm = ["dist/countdown.wasm", "--capabilities", "capabilities.json", "--name", "countdown"];
  const installed = await run("install", ...wasm);
  expect(installed.stderr).toMatch(new RegExp(String.raw`${told}\n +at schema \(tool\.js:${line}:\d+\)\n`));
});

test("a component holds its source map; one without a map, or with a broken one, has none", async () => {
  const component = await fixture("echo.js");
  expect(readMap(component)).toBeUndefined();
  const map = { version: 3, sources: ["tool.ts"], names: [], mappings: "AAAA;AACA,IAAI" };
  const origin = readMap(embedMap(component, JSON.stringify(map)));
  expect([origin?.(1, 1), origin?.(2, 1), origin?.(2, 9)]).toEqual([
    "tool.ts:1:1",
    "tool.ts:2:1",
    "tool.ts:2:5",
  ]);
  const hostile = { ...map, sources: [`\u001b[2J\n${"x".repeat(1000)}`] };
  expect(readMap(embedMap(component, JSON.stringify(hostile)))?.(1, 1)).toMatch(/^\[2Jx{197}:1:1$/);
  const huge = { ...map, mappings: ";".repeat(2 ** 23) };
  expect(readMap(embedMap(component, JSON.stringify(huge)))).toBeUndefined();
  for (const broken of ["", "null", "{", '{"version":3,"sources":5,"mappings":5}', '{"sections":[{}]}'])
    expect(readMap(embedMap(component, broken))?.(1, 1)).toBeUndefined();
  expect(readMap(component.subarray(0, 1000))).toBeUndefined();
});
