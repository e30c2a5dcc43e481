import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runApart } from "../../../host/author/build/apart.ts";
import { ROOT } from "../../support/clone.ts";
import { temporaryFolder } from "../../support/home.ts";

/** Stands in the place of the toolchain, as if the script had broken out of it. */
const HOSTILE = `
const { readFileSync, writeFileSync } = require("node:fs");
const tries = {
  read: () => readFileSync("/etc/passwd"),
  ours: () => readFileSync(${JSON.stringify(join(ROOT, "README.md"))}),
  write: () => writeFileSync(${JSON.stringify(join(ROOT, "written"))}, ""),
  spawn: () => require("node:child_process").execFileSync("true"),
  thread: () => new (require("node:worker_threads").Worker)("", { eval: true }),
  connect: () => new Promise((_, reject) => require("node:net").connect(1, "127.0.0.1").on("error", reject)),
};
exports.componentize = async () => {
  const codes = {};
  for (const [name, attempt] of Object.entries(tries))
    codes[name] = await Promise.try(attempt).then(() => "done", (error) => error.code);
  throw new Error(JSON.stringify({ ...codes, env: Object.keys(process.env) }));
};
`;

test("the process of a build can read its folder and the toolchain, and do nothing else", async () => {
  const [folder, place] = [temporaryFolder(), temporaryFolder()];
  const files = { "tool.ts": "export const tool = {};", "tool.wit": "", "before.js": "", "after.js": "" };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const toolchain = join(place, "node_modules", "componentize-qjs");
  mkdirSync(toolchain, { recursive: true });
  writeFileSync(join(toolchain, "index.js"), HOSTILE);
  await runApart(folder, join(place, "load.js"));
  const denied = "ERR_ACCESS_DENIED";
  expect(JSON.parse(readFileSync(join(folder, "problem"), "utf8"))).toEqual({
    ...{ read: denied, ours: denied, write: denied, spawn: denied, thread: denied, connect: denied },
    env: [],
  });
});

test("a turn that is stopped stops its build", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "tool.ts"), "");
  const stopped = AbortSignal.abort();
  await expect(runApart(folder, join(folder, "load.js"), stopped)).rejects.toThrow("aborted");
});
