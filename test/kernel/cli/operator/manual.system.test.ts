import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../support/home.ts";
import { postern } from "../../../support/processes/postern.ts";

test("the manual has every command with its options and examples, as --help, and is valid troff", async () => {
  const folder = temporaryFolder();
  const { code, stdout } = await postern(["man"], { env: { POSTERN_HOME: join(folder, "none") } });
  expect(code).toBe(0);
  for (const part of [
    '.SS "postern thread export <thread_id>"',
    '.SS "postern tool install <what>"',
    ".B \\-\\-home <folder>",
    "$ postern logs \\-f",
    "$ postern doctor",
  ])
    expect(stdout).toContain(part);
  expect(stdout).not.toContain("postern complete ");

  const file = join(folder, "postern.1");
  writeFileSync(file, stdout);
  const lint = (command: string, ...args: string[]) => {
    const { status, stdout: said, stderr, error } = spawnSync(command, [...args, file], { encoding: "utf8" });
    // Not every machine has it.
    return error === undefined ? [status, command === "mandoc" ? said : "", stderr] : [0, "", ""];
  };
  expect(lint("groff", "-man", "-ww", "-Tutf8")).toEqual([0, "", ""]);
  expect(lint("mandoc", "-T", "lint", "-W", "warning")).toEqual([0, "", ""]);
});
