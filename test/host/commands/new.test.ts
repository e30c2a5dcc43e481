import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { installedToolchain } from "../../../host/author/build/toolchain.ts";
import { checkTypes } from "../../../host/author/build/types.ts";
import { openProject } from "../../../host/author/project.ts";
import { parseCapabilities } from "../../../host/catalog/capabilities-file.ts";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { newProject } from "../../support/tools/projects.ts";

const SHARED = [
  ".gitignore",
  "README.md",
  "capabilities.json",
  "package.json",
  "recordings",
  "tool.test.js",
  "wit",
];

test.each([
  ["ts", ["tool.ts", "tsconfig.json"], ["globals.d.ts", "guest.d.ts"]],
  ["js", ["tool.js", "tsconfig.json"], ["globals.d.ts", "guest.d.ts"]],
  ["rust", ["Cargo.toml", "src"], ["rust.wit"]],
] as const)("tool new --lang %s makes a project that is whole", async (lang, own, types) => {
  const folder = await newProject(lang);
  expect(readdirSync(folder).sort()).toEqual([...SHARED, ...own].sort());
  expect(readdirSync(join(folder, "wit")).sort()).toEqual(
    ["capabilities.schema.json", "tool.wit", ...types].sort(),
  );
  expect(openProject(folder)).toMatchObject({ name: "countdown", language: lang });
  const capabilities = readFileSync(join(folder, "capabilities.json"), "utf8");
  expect(parseCapabilities(capabilities).http?.allowlist).toHaveLength(1);
  expect(JSON.parse(capabilities).$schema).toBe("./wit/capabilities.schema.json");
  expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).name).toBe("countdown");
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  expect(readme).toContain(lang === "rust" ? "`src/lib.rs`" : `\`tool.${lang}\``);
  expect(readme).not.toContain("my-tool");
});

test.each(["ts", "js"] as const)("the types of the %s skeleton are sound, and are checked", async (lang) => {
  const folder = await newProject(lang);
  const project = openProject(folder);
  await checkTypes(project, installedToolchain());
  const source = readFileSync(project.entry, "utf8");
  writeFileSync(project.entry, source.replace('log("info"', 'log("loud"'));
  await expect(checkTypes(project, installedToolchain())).rejects.toThrow(/tool\.[tj]s:\d+:\d+: .*"loud"/);
});

test("a folder that holds something, and a name that no tool can have, are refused", async () => {
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
  expect(readdirSync(dirname(folder))).toEqual(["countdown"]);
});
