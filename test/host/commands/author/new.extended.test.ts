import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { installedToolchain } from "../../../../host/author/build/toolchain.ts";
import { checkTypes } from "../../../../host/author/build/types.ts";
import { openProject } from "../../../../host/author/project.ts";
import { parseCapabilities } from "../../../../host/catalog/catalog.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { postern } from "../../../support/processes/postern.ts";
import { newProject, pathWithPostern } from "../../../support/tools/projects.ts";

const SHARED = [
  ".gitignore",
  "README.md",
  "capabilities.json",
  "package.json",
  "recordings",
  "tool.test.js",
  "wit",
];

const LANGUAGES = [
  ["ts", ["tool.ts", "tsconfig.json"], ["globals.d.ts", "guest.d.ts"]],
  ["js", ["jsconfig.json", "tool.js"], ["globals.d.ts", "guest.d.ts"]],
  ["rust", ["Cargo.toml", "src"], ["rust.wit"]],
  ["c", ["postern", "tool.c"], []],
  ["python", ["requirements.txt", "tool.py"], []],
  ["go", ["export_postern_tool_tool"], []],
] as const;

const TEMPLATES = [
  ["blank", "repeats a text", ["example.json"], undefined],
  ["http", "counts the days", ["date.json", "next-holiday.json"], "date.nager.at"],
  ["auth", "lists your GitHub repositories", ["repositories.json"], "api.github.com"],
] as const;

test.each(
  LANGUAGES.flatMap(([lang, own, types]) =>
    TEMPLATES.map(([template, about, recordings, host]) => ({
      lang,
      own,
      types,
      template,
      about,
      recordings,
      host,
    })),
  ),
)(
  "tool new --lang $lang --template $template makes a project that is whole",
  async ({ lang, own, types, template, about, recordings, host }) => {
    const folder = await newProject(lang, template);
    expect(readdirSync(folder).sort()).toEqual([...SHARED, ...own].sort());
    expect(readdirSync(join(folder, "wit")).sort()).toEqual(
      ["capabilities.schema.json", "tool.wit", ...types].sort(),
    );
    expect(readdirSync(join(folder, "recordings"))).toEqual(recordings);
    const project = openProject(folder);
    expect(project).toMatchObject({ name: "countdown", language: lang });
    const capabilities = readFileSync(join(folder, "capabilities.json"), "utf8");
    expect(parseCapabilities(capabilities).http?.allowlist[0]?.host).toBe(host);
    expect(JSON.parse(capabilities).$schema).toBe("./wit/capabilities.schema.json");
    expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).name).toBe("countdown");
    const readme = readFileSync(join(folder, "README.md"), "utf8");
    expect(readme).toContain(`\`${relative(folder, project.entry)}\``);
    expect(readme).toContain(`A Postern tool that ${about}`);
    expect(readme).toMatch(new RegExp(`^postern tool run .*--record recordings/${recordings[0]}$`, "m"));
    expect(readme).not.toMatch(/my-tool|ABOUT|EXAMPLE/);
    expect(parseCapabilities(capabilities).limits.memoryMb).toBe(lang === "python" ? 256 : 64);
    if (lang === "ts" || lang === "js") await checkTypes(project, installedToolchain());
  },
);

test("the types of the TypeScript skeleton are checked", async () => {
  const folder = await newProject("ts");
  const project = openProject(folder);
  const source = readFileSync(project.entry, "utf8");
  writeFileSync(project.entry, source.replace('log("info"', 'log("loud"'));
  await expect(checkTypes(project, installedToolchain())).rejects.toThrow(/tool\.ts:\d+:\d+: .*"loud"/);
});

test("a JavaScript project is plain JavaScript: untyped code is built, with a warning for a name that no tool has", async () => {
  const folder = await newProject("js", "blank");
  writeFileSync(
    join(folder, "tool.js"),
    `const seen = {};
function count(key, by) { seen[key] = (seen[key] || 0) + by; return seen; }
export const tool = {
  description: () => "Counts.",
  schema: () => '{"type":"object"}',
  execute(request) {
    const params = JSON.parse(request.params);
    if (params.env) return { output: process.env.HOME };
    return { output: JSON.stringify(count(params.key, 1)) };
  },
};
`,
  );
  const env = { POSTERN_HOME: join(folder, "home") };
  const built = await postern(["tool", "build", folder, "--engine", "quickjs"], { env });
  expect(built).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/warning: tool\.js:8:\d+: .*process/),
  });
});

describe("building and publishing", () => {
  const run = (folder: string, ...args: readonly string[]) =>
    postern(["tool", ...args], {
      cwd: dirname(folder),
      env: { POSTERN_HOME: join(dirname(folder), "home") },
    });
  const build = (folder: string) => run(folder, "build", "countdown", "--engine", "quickjs");
  const publish = (folder: string) => run(folder, "publish", "countdown", "oci://127.0.0.1:9/x/countdown");
  const rewrite = (file: string, from: string, to: string) =>
    writeFileSync(file, readFileSync(file, "utf8").replace(from, to));

  test("what has not changed is not built again, and what has changed is not published as it was", async () => {
    const folder = await newProject("ts", "blank");
    expect(await build(folder)).toMatchObject({ code: 0, stdout: "Built countdown/dist/countdown.wasm\n" });
    const again = await build(folder);
    expect(again.stdout).toBe("Already built: countdown/dist/countdown.wasm\n");
    expect(again.stderr).toBe("dist/countdown.wasm: nothing has changed since it was built\n");
    // Neither tests nor recordings are part of it.
    writeFileSync(join(folder, "recordings", "another.json"), "{}");
    rewrite(join(folder, "tool.test.js"), "assert", "assert");
    expect((await build(folder)).stdout).toContain("Already built");
    expect((await run(folder, "build", "countdown")).stdout).toContain("Built");

    rewrite(join(folder, "tool.ts"), "Repeats a text.", "Says a text again.");
    expect(await publish(folder)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('dist/countdown.wasm is older than tool.ts. Run "postern tool build"'),
    });
    expect((await build(folder)).stdout).toContain("Built");
    rewrite(join(folder, "capabilities.json"), '"version": "0.1.0"', '"version": "0.2.0"');
    expect(await publish(folder)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("was built as version 0.1.0, and capabilities.json says 0.2.0"),
    });
    writeFileSync(join(folder, "helper.ts"), "export const unused = 1;");
    expect((await build(folder)).stdout).toContain("Built");
  });

  test("capabilities that can never be installed are refused before anything is built", async () => {
    const folder = await newProject("ts", "http");
    rewrite(join(folder, "capabilities.json"), '"wit_version": "0.1.0"', '"wit_version": "9.9.9"');
    const refused = await build(folder);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /not built, 1 mistake:\n {2}capabilities\.json: wit_version is "9\.9\.9"/,
      ),
    });
    expect(readdirSync(folder)).not.toContain("dist");
  });
});

test("tool new says how the tool is built, installed and run", async () => {
  const cwd = temporaryFolder();
  const env = { POSTERN_HOME: join(cwd, "home") };
  const { stdout } = await postern(["tool", "new", "hello", "--template", "blank"], { cwd, env });
  for (const line of [
    "build hello",
    "check hello",
    "install ./hello",
    `run hello '{"text":"Hello"}'`,
    "dev hello",
  ])
    expect(stdout).toContain(`  postern tool ${line}`);
});

describe("the test of a new project", () => {
  async function testEdited(
    template: "blank" | "auth",
    lang: "ts" | "js",
    edit: (source: string) => string,
  ): Promise<string> {
    const folder = await newProject(lang, template);
    const change = (file: string, by: (source: string) => string) =>
      writeFileSync(file, by(readFileSync(file, "utf8")));
    change(openProject(folder).entry, edit);
    // As an author would who wants the engine that builds in less time; the authors' page runs it with the other.
    change(join(folder, "tool.test.js"), (source) =>
      source.replace('"build", "."', '"build", ".", "--engine", "quickjs"'),
    );
    const env = { PATH: pathWithPostern(), HOME: folder, POSTERN_HOME: join(folder, "unused") };
    return new Promise((resolve) => {
      execFile("node", ["--test"], { cwd: folder, env }, (_, stdout) => resolve(stdout));
    });
  }

  test("passes after an edit of what it says and answers", async () => {
    const said = await testEdited("auth", "js", (source) =>
      source
        .replace("url: html_url,", "link: html_url,")
        .replace(/description: \(\) => .*/, 'description: () => "Another one.",'),
    );
    expect(said).toMatch(/it keeps the contract[\s\S]*repositories\.json succeeds[\s\S]*fail 0/);
  });

  test("fails where a recorded call crashes, with the author's line", async () => {
    const said = await testEdited("blank", "ts", (source) =>
      source.replace("    try {", '    if (params.length > 2) throw new Error("no");\n    try {'),
    );
    expect(said).toMatch(/fail 2[\s\S]*example\.json succeeds[\s\S]*The tool threw: no \(tool\.ts:24:\d+\)/);
  });
});

test("a folder that holds something, a name that no tool can have and an unknown template are refused", async () => {
  const folder = await newProject();
  const run = (...args: readonly string[]) =>
    postern(["tool", "new", ...args], {
      cwd: dirname(folder),
      env: { POSTERN_HOME: join(temporaryFolder(), "home") },
    });
  const taken = await run(basename(folder));
  expect(taken.stderr).toContain("is not empty; choose a new folder");
  expect(taken.code).toBe(1);
  const named = await run("memory_x");
  expect(named.stderr).toContain("names starting with memory_ are reserved for the agent");
  const crate = await run("3d", "--lang", "rust");
  expect(crate.stderr).toContain("cargo does not accept the crate name 3d: start it with a letter");
  const unknown = await run("other", "--template", "soap");
  expect(unknown.stderr).toContain("'soap' is invalid. Allowed choices are blank, http, auth.");
  expect(unknown.code).toBe(2);
  expect(readdirSync(dirname(folder))).toEqual(["countdown"]);
});
