import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../support/home.ts";
import { runHere } from "../../../support/processes/in-process.ts";

test("doctor --fix closes files, removes what crashes left and nothing that a person wrote, and says each", async () => {
  const home = temporaryFolder();
  const at = (name: string) => join(home, name);
  const run = (...args: string[]) =>
    runHere({
      args: ["doctor", ...args],
      env: { POSTERN_HOME: home, GATEWAY_PORT: "0" },
      cwd: undefined,
      input: undefined,
    });
  chmodSync(home, 0o700);
  writeFileSync(at("notes.txt"), "mine", { mode: 0o644 });
  chmodSync(at("notes.txt"), 0o644);
  writeFileSync(at("running.json"), "{}", { mode: 0o600 });
  writeFileSync(at("webui-token"), "\n", { mode: 0o600 });
  writeFileSync(at("a.backup.partial"), "", { mode: 0o600 });
  writeFileSync(at("young.backup.partial"), "", { mode: 0o600 });
  mkdirSync(at(".files-abc123"), { mode: 0o700 });
  const long = new Date(Date.now() - 7_200_000);
  for (const name of ["a.backup.partial", ".files-abc123"]) utimesSync(at(name), long, long);
  const before = readdirSync(home).sort();

  const dry = JSON.parse((await run("--fix", "--dry-run", "--json")).stdout);
  expect(readdirSync(home).sort()).toEqual(before);
  expect(statSync(at("notes.txt")).mode & 0o777).toBe(0o644);
  const states = (fixes: { name: string; state: string }[]) =>
    fixes.map(({ name, state }) => `${name}: ${state}`).sort();
  expect(states(dry.fixes)).toEqual([
    "home permissions: would fix",
    "leftover: would fix",
    "leftover: would fix",
    "operator token: needs --yes",
    "running.json: would fix",
  ]);

  const fixed = (await run("--fix")).stdout;
  expect(fixed).toContain(`fixed: home permissions: close ${at("notes.txt")} to others`);
  expect(fixed).toContain("needs --yes: operator token");
  expect(statSync(at("notes.txt")).mode & 0o777).toBe(0o600);
  expect(existsSync(at("webui-token"))).toBe(true);
  expect(
    ["running.json", "a.backup.partial", ".files-abc123", "young.backup.partial"].map((name) =>
      existsSync(at(name)),
    ),
  ).toEqual([false, false, false, true]);

  const agreed = JSON.parse((await run("--fix", "--yes", "--json")).stdout);
  expect(states(agreed.fixes)).toEqual(["operator token: fixed"]);
  expect(existsSync(at("webui-token"))).toBe(false);
  expect(readdirSync(home).some((name) => name.startsWith("webui-token.unusable-"))).toBe(true);
});
