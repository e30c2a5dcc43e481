import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { describeInstallation } from "../../../../kernel/cli/operator/upgrade.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { postern } from "../../../support/processes/postern.ts";

test("what to type depends on how it was installed", () => {
  const folder = temporaryFolder();
  const at = (...path: string[]) => {
    const root = join(folder, ...path);
    mkdirSync(root, { recursive: true });
    return root;
  };
  const clone = at("clone");
  mkdirSync(join(clone, ".git"));
  const project = at("project", "node_modules", "postern");
  writeFileSync(join(folder, "project", "package.json"), "{}");
  const ways = [
    [clone, "clone", `cd ${clone} && git pull && npm install`],
    [at("_npx", "0a1b2c", "node_modules", "postern"), "npx", "npx postern@latest serve"],
    [project, "project", `cd ${join(folder, "project")} && npm install postern@latest`],
    [at("lib", "node_modules", "postern"), "global", "npm install --global postern@latest"],
  ] as const;
  for (const [root, how, step] of ways) {
    const found = describeInstallation(root);
    expect([found.how, found.steps.includes(step)]).toEqual([how, true]);
    expect(found.steps[0]).toContain("store backup");
  }
});

test("it checks schema, backup, disk and service, and reads the newest version only with --check", async () => {
  const cwd = temporaryFolder();
  const home = join(cwd, "home");
  let asked = 0;
  const registry = createServer((_request, response) => {
    asked++;
    response.end(JSON.stringify({ version: "99.1.2" }));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void registry.close());
  await once(registry, "listening");
  const env = {
    POSTERN_HOME: home,
    LOG_LEVEL: "error",
    NPM_CONFIG_REGISTRY: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
  };
  const upgrade = async (...args: string[]) => {
    const { code, stdout } = await postern(["upgrade", "--json", ...args], { env, cwd });
    const { checks, ...rest } = JSON.parse(stdout) as {
      checks: { name: string; ok: boolean; detail: string }[];
      newest: string | null;
      newest_problem: string | null;
    };
    return { code, ...rest, checks: Object.fromEntries(checks.map((check) => [check.name, check])) };
  };
  await postern(["job", "list"], { env, cwd });

  const without = await upgrade();
  expect(without).toMatchObject({ code: 1, newest: null, checks: { backup: { ok: false } } });
  expect(asked).toBe(0);
  await postern(["store", "backup", "all.backup"], { env, cwd });
  const ready = await upgrade("--check");
  expect(ready).toMatchObject({
    code: 0,
    newest: "99.1.2",
    checks: { service: { ok: true }, schema: { ok: true }, backup: { ok: true }, disk: { ok: true } },
  });
  expect((await postern(["upgrade", "--check"], { env, cwd })).stdout).toContain("The newest is 99.1.2");

  using store = new DatabaseSync(join(home, "store.sqlite"));
  store.exec("INSERT INTO migrations VALUES ('agent', 9999, '2030-01-01T00:00:00Z')");
  const newer = await upgrade();
  expect(newer.checks["schema"]).toMatchObject({
    ok: false,
    detail: expect.stringContaining("newer Postern (agent is at 9999"),
  });
  registry.close();
  await once(registry, "close");
  expect((await upgrade("--check")).newest_problem).toMatch(/cannot be reached/);
});
