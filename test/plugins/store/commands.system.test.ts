import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";

test("a backup ends with one line, and lists its tables with --verbose", async () => {
  const cwd = temporaryFolder();
  const env = { POSTERN_HOME: join(cwd, "home") };
  await postern(["job", "list"], { env, cwd });
  const backup = async (...args: string[]) => {
    const { stdout, code } = await postern(["store", "backup", "all.backup", ...args], { env, cwd });
    expect(code).toBe(0);
    return stdout;
  };
  const line =
    /^Wrote .*all\.backup, with \d+ files of the home\. All [\d,]+ rows were read again and are the same\.\n$/;
  expect(await backup()).toMatch(line);
  const [head = "", ...rows] = (await backup("--replace", "--verbose")).trimEnd().split("\n");
  expect(head).toMatch(/TABLE\s+ROWS\s+SHA-256/);
  expect(`${rows.at(-1)}\n`).toMatch(line);
  expect(rows.slice(0, -1).every((row) => /^\s+\S+\s+\d+\s+[0-9a-f]{16}$/.test(row))).toBe(true);
  expect(rows.length).toBeGreaterThan(20);
});
