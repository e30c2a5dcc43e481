/** An author's first minutes: a tool is made, built, installed and called. */
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { postern } from "../../../support/processes/postern.ts";
import { newProject } from "../../../support/tools/projects.ts";

test("what tool new made is built, installed and called", async () => {
  const folder = await newProject("js", "blank");
  const cwd = dirname(folder);
  const env = { POSTERN_HOME: join(cwd, "home") };
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await postern(args, { cwd, env });
    expect(code, stderr).toBe(0);
    return stdout;
  };
  await run("tool", "build", folder, "--engine", "quickjs");
  await run("tool", "install", join(folder, "dist", "countdown.wasm"), "--yes");
  expect(await run("tool", "list")).toContain("countdown");
  expect(await run("tool", "run", "countdown", '{"text":"hello"}')).toContain("hello");
});
