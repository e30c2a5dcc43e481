import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stop } from "esbuild";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { buildProject } from "../../../host/author/build/build.ts";
import type { Engine } from "../../../host/author/build/engines.ts";
import { installedToolchain } from "../../../host/author/build/toolchain.ts";
import { openProject } from "../../../host/author/project.ts";
import { createPool } from "../../../host/sandbox/pool.ts";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { toComponent } from "../../support/tools/components.ts";
import { newProject } from "../../support/tools/projects.ts";

// The bundler leaves a process running for the next build.
afterAll(() => stop());

function build(folder: string, engine: Engine = "quickjs", progress: (line: string) => void = () => {}) {
  return buildProject(openProject(folder), {
    engine,
    progress,
    openToolchain: async () => installedToolchain(),
  });
}

/** Calls the built component; every request is answered with these bytes. */
async function call(file: string, params: object, body: Uint8Array = new Uint8Array()) {
  const pool = createPool({ size: 1 });
  onTestFinished(() => pool.close());
  return pool.call({
    component: toComponent(readFileSync(file)),
    params: JSON.stringify(params),
    timeoutMs: 60_000,
    http: async () => ({ ok: true, status: 200, body }),
    secrets: [],
  });
}

test.each(["spidermonkey", "quickjs"] as const)(
  "what tool new made is built with %s, and runs",
  async (engine) => {
    const folder = await newProject();
    const said: string[] = [];
    const given = readdirSync(folder);
    const { file, bytes } = await build(folder, engine, (line) => {
      // Whatever kills a build, the author's folder holds no half of one.
      if (!line.includes("MB in")) expect(readdirSync(folder)).toEqual(given);
      said.push(line);
    });
    expect(said.join("\n")).toMatch(/checking types[\s\S]*with (spidermonkey|quickjs)[\s\S]*MB in [\d.]+ s/);
    expect(readdirSync(join(folder, "dist"))).toEqual(["countdown.build.json", "countdown.wasm"]);
    if (engine === "quickjs") expect(bytes).toBeLessThan(2.5e6);
    const body = Buffer.from('[{"date":"2099-05-05","name":"Tag der Größe 🎉","global":true}]');
    const outcome = await call(file, { country: "DE" }, body);
    expect(outcome).toMatchObject({ ok: true, logs: [{ message: expect.stringContaining("DE") }] });
    expect(JSON.parse(outcome.ok ? outcome.output : "")).toMatchObject({ name: "Tag der Größe 🎉" });
  },
);

test.each([
  ["without execute", 'schema: () => "{}" };', 'tool.js:2:1: "tool" has no function execute'],
  [
    "whose schema has a mistake",
    'schema: () => JSON.stringify({ type: "object", properties: { a: { type: "strin" } } }),\n  execute: () => ({ output: "" }) };',
    /tool\.js:3:3: schema\(\) did not return a usable JSON Schema: .*properties\/a\/type/,
  ],
  [
    "that holds more than its limit of memory",
    'schema: () => JSON.stringify({ type: "object" }),\n  execute: () => ({ output: String(kept.length) }) };',
    /capabilities\.json:5:\d+: .*needs \d+ MiB of memory to start.*limits\.memory_mb/,
  ],
])("tool build refuses a script %s, and leaves nothing to install", async (_title, rest, words) => {
  const cwd = temporaryFolder();
  const folder = join(cwd, "mine");
  mkdirSync(folder);
  const limits = { version: "0.1.0", wit_version: "0.1.0", limits: { memory_mb: 16 } };
  writeFileSync(join(folder, "capabilities.json"), JSON.stringify(limits, undefined, 1));
  const kept = rest.includes("kept") ? "40e6" : "4";
  const script = `const kept = new Uint8Array(${kept}).fill(1);\nexport const tool = { description: () => "Says nothing of use.",\n  ${rest}\n`;
  writeFileSync(join(folder, "tool.js"), script);
  const built = await postern(["tool", "build", "mine", "--engine", "quickjs"], {
    cwd,
    env: { POSTERN_HOME: join(cwd, "home") },
  });
  expect(built).toMatchObject({ code: 1, stderr: expect.stringMatching(words) });
  expect(existsSync(join(folder, "dist", "mine.wasm"))).toBe(false);
});

test("npm packages are bundled in; without tsconfig.json, a missing name is a warning", async () => {
  const folder = await newProject("js");
  const dependency = join(folder, "node_modules", "shout");
  mkdirSync(dependency, { recursive: true });
  writeFileSync(join(dependency, "package.json"), '{"name":"shout","version":"1.0.0","main":"main.cjs"}');
  writeFileSync(
    join(dependency, "main.cjs"),
    'module.exports = (text) => text.toUpperCase() + (typeof process === "undefined" ? "!" : "");',
  );
  writeFileSync(
    join(folder, "tool.js"),
    `import shout from "shout";
     export const tool = {
       description: () => "Shouts.", schema: () => '{"type":"object"}',
       execute: ({ params }) => ({ output: JSON.stringify(shout(JSON.parse(params).text)) }),
     };
     const encode = (text) => typeof Buffer === "undefined" ? text : Buffer.from(text);`,
  );
  const said: string[] = [];
  const { file } = await build(folder, "quickjs", (line) => said.push(line));
  expect(said.filter((line) => line.startsWith("warning: "))).toEqual([
    expect.stringMatching(/^warning: tool\.js:6:38: Cannot find name 'Buffer': use Uint8Array/),
    expect.stringMatching(/^warning: tool\.js:6:70: /),
  ]);
  expect(await call(file, { text: "hello" })).toMatchObject({ ok: true, output: '"HELLO!"' });
});

test.each([
  [
    "a type error",
    "const count: number = 'many';\ntool.schema(count);\n",
    ["tool.ts:72:7: Type 'string' is not assignable to type 'number'", "tool.ts:73:13: Expected 0 arguments"],
  ],
  ["a syntax error", "const = 1;\n", ["tool.ts:72:7: Expected identifier but found"]],
  [
    "a package that is not there",
    'import "nowhere";\n',
    ['tool.ts:72:8: Could not resolve "nowhere": is it installed?'],
  ],
  [
    "one of Node's modules",
    'import "node:fs";\nimport "crypto";\nimport "node:zlib";\n',
    [
      'tool.ts:72:8: Could not resolve "node:fs": a tool has no files: import data at build time',
      'tool.ts:73:8: Could not resolve "crypto": use the global crypto',
      'tool.ts:74:8: Could not resolve "node:zlib": a tool has none of Node\'s modules',
    ],
  ],
  [
    "a name that no tool has",
    'process.exit(1);\nBuffer.from("x");\nrequire.main;\nlocalStorage.x();\nfs.x();\n',
    [
      "tool.ts:72:1: Cannot find name 'process': a tool has no process and no environment: take settings as params",
      "tool.ts:73:1: Cannot find name 'Buffer': use Uint8Array",
      "tool.ts:74:1: Cannot find name 'require': use import",
      "tool.ts:75:1: Cannot find name 'localStorage': a tool keeps nothing between calls",
      "tool.ts:76:1: Cannot find name 'fs': a tool has no files",
    ],
  ],
])("%s is told with the author's line and column, and nothing is left", async (_what, more, told) => {
  const folder = await newProject();
  const lines = readFileSync(join(folder, "tool.ts"), "utf8").split("\n").length;
  appendFileSync(join(folder, "tool.ts"), `${"\n".repeat(72 - lines)}${more}`);
  const { code, stderr } = await postern(["tool", "build", folder], {
    env: { POSTERN_HOME: join(temporaryFolder(), "home") },
  });
  expect(code).toBe(1);
  for (const line of told) expect(stderr).toContain(line);
  expect(existsSync(join(folder, "dist"))).toBe(false);
});

test.each(["spidermonkey", "quickjs"] as const)(
  "with %s, a script that throws while it starts is told with the author's places",
  async (engine) => {
    const folder = await newProject();
    const lines = readFileSync(join(folder, "tool.ts"), "utf8").split("\n").length;
    const more = 'function start(): never {\n  throw new Error("no such luck");\n}\nstart();\n';
    appendFileSync(join(folder, "tool.ts"), `${"\n".repeat(72 - lines)}${more}`);
    await expect(build(folder, engine)).rejects.toThrow(
      /^not built: the top level of the script threw\n {2}Error: no such luck\n {6}at start \(tool\.ts:73:\d+\)\n {6}at tool\.ts:75:1$/,
    );
    expect(existsSync(join(folder, "dist"))).toBe(false);
  },
);

test("types are checked by our compiler: one in the project's node_modules is not run", async () => {
  const folder = await newProject();
  const theirs = join(folder, "node_modules", "typescript");
  mkdirSync(join(theirs, "bin"), { recursive: true });
  writeFileSync(join(theirs, "package.json"), JSON.stringify({ name: "typescript", version: "5.9.0" }));
  writeFileSync(join(theirs, "bin", "tsc"), 'require("node:fs").writeFileSync("loot", "ran");');
  appendFileSync(join(folder, "tool.ts"), 'export const count: number = "one";\n');
  await expect(build(folder)).rejects.toThrow("not assignable to type 'number'");
  expect(existsSync(join(folder, "loot"))).toBe(false);
});

test("a module that does not export a tool, and a folder that is no project, are told so", async () => {
  const folder = await newProject("js");
  writeFileSync(join(folder, "tool.js"), "export const tools = 1;\n");
  await expect(build(folder)).rejects.toThrow(
    'tool.js: it must export "tool", an object with description, schema and execute; it exports tools',
  );
  expect(() => openProject(temporaryFolder())).toThrow(/is not a tool project.*"postern tool new <dir>"/);
});

test("where Rust is not there, building a Rust project says so plainly", async () => {
  const folder = await newProject("rust");
  const { code, stdout, stderr } = await postern(["tool", "build", folder], {
    env: { POSTERN_HOME: join(temporaryFolder(), "home"), PATH: "" },
  });
  expect(stderr).toMatch(
    /the tool cannot be built here: rustc cannot be run.*rustup\.rs, then: rustup target add wasm32-/,
  );
  expect([code, stdout]).toEqual([1, ""]);
});
