import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../support/home.ts";
import { postern } from "../../../support/processes/postern.ts";
import { servePostern } from "../../../support/processes/served.ts";
import { openUpstream } from "../../../support/servers/upstream.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { afterThisTest } from "../../../support/undo.ts";

const model = (id: string, input: number) => ({
  id,
  tool_call: true,
  modalities: { input: ["text"], output: ["text"] },
  limit: { context: 500_000, output: 64_000 },
  cost: { input, output: 10 },
});

test("models lists what can be used here, with price, window and retirement", async () => {
  const server = await scriptedModel();
  server.offer("gpt-5-mini", "nomic-embed-text", "home-made");
  const env = { POSTERN_HOME: temporaryFolder(), MODEL_BASE_URL: server.url, MODEL_NAME: "gpt-5-mini" };
  const { stdout } = await postern(["models"], { env });
  expect(stdout).toMatch(
    /^gpt-5-mini +openai-compatible +400,000 +0\.25 +2 +2026-12-11, then gpt-6\.1-terra +configured$/m,
  );
  expect(stdout).toMatch(/^home-made +openai-compatible$/m);
  expect(stdout).not.toContain("embed");
  const { models } = JSON.parse((await postern(["models", "--json"], { env })).stdout);
  expect(models[0]).toEqual({
    ...{ provider: "openai-compatible", name: "gpt-5-mini", role: "configured" },
    ...{ window: 400_000, price: { input: "0.25", output: "2" } },
    ...{ retires: "2026-12-11", replaced_by: "gpt-6.1-terra" },
  });
});

test("models update keeps a newer table in the home and says what changes; the operator's own wins", async () => {
  const home = temporaryFolder();
  const env = { POSTERN_HOME: home, MODEL_PROVIDER: "builtin" };
  const file = join(home, "api.json");
  const update = (...args: string[]) => postern(["models", "update", "--from", ...args], { env });
  const models = { "gpt-7": model("gpt-7", 3), "gpt-5.1": model("gpt-5.1", 1) };
  writeFileSync(file, JSON.stringify({ openai: { models } }));
  const { stdout } = await update(file);
  expect(stdout).toContain("gpt-7: new → $3 in, $10 out, 500,000 tokens\n");
  expect(stdout).toMatch(/gpt-5\.1: \$1\.25 in, .* → \$1 in, \$10 out, 500,000 tokens, retires 2027-04-01\n/);
  expect(stdout).toContain("2 models changed.");
  const upstream = await openUpstream((_, response) => response.end(readFileSync(file)));
  afterThisTest(upstream.close);
  expect((await update(`http://127.0.0.1:${upstream.port}/api.json`)).stdout).toBe("Nothing changed.\n");

  const server = await scriptedModel();
  server.offer("gpt-7");
  writeFileSync(join(home, "models.json"), JSON.stringify({ models: { "gpt-7": { window: 9000 } } }));
  const seen = await postern(["models"], { env: { POSTERN_HOME: home, MODEL_BASE_URL: server.url } });
  expect(seen.stdout).toMatch(/^gpt-7 +openai-compatible +9,000 +3 +10 +configured$/m);
});

test("models update refuses what is not a table, and what cannot be read, and keeps nothing", async () => {
  const home = temporaryFolder();
  const env = { POSTERN_HOME: home, MODEL_PROVIDER: "builtin" };
  const update = (from: string) => postern(["models", "update", "--from", from], { env });
  const file = join(home, "table.json");
  writeFileSync(file, JSON.stringify({ models: { "gpt-7": { prices: [{ input: 3, output: "4" }] } } }));
  expect((await update(file)).stderr).toMatch(/is not a table of models .*decimal number in quotes/s);
  expect((await update(join(home, "gone.json"))).stderr).toContain("cannot be read: ENOENT");
  const failing = await openUpstream((_, response) => response.writeHead(500).end());
  afterThisTest(failing.close);
  expect((await update(`http://127.0.0.1:${failing.port}/api.json`)).stderr).toContain("it returned 500");
  expect(existsSync(join(home, "models-fetched.json"))).toBe(false);
});

test("a running service takes what was fetched, and the operator's own file", async () => {
  const { home, url, link } = await servePostern();
  const authorization = `Bearer ${new URL(link()).searchParams.get("token")}`;
  const configured = async () => {
    const reply = await fetch(`${url}/api/models`, { headers: { authorization } });
    return ((await reply.json()) as { models: readonly unknown[] }).models[0];
  };
  expect(await configured()).toMatchObject({ name: "scripted" });
  const file = join(home, "api.json");
  writeFileSync(file, JSON.stringify({ openai: { models: { scripted: model("scripted", 3) } } }));
  const env = { POSTERN_HOME: home, MODEL_PROVIDER: "builtin" };
  const { stdout } = await postern(["models", "update", "--from", file], { env });
  expect(stdout).toContain("A running service takes them within seconds.");
  await expect
    .poll(configured, { timeout: 30_000 })
    .toMatchObject({ window: 500_000, price: { input: "3" } });
  writeFileSync(join(home, "models.json"), JSON.stringify({ models: { scripted: { window: 9000 } } }));
  await expect.poll(configured, { timeout: 30_000 }).toMatchObject({ window: 9000, price: { input: "3" } });
});
