import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../support/home.ts";
import { postern } from "../../../support/processes/postern.ts";
import { bootAgent } from "../../../support/services/agent.ts";

const KEY = "sk-ant-a-key-that-nobody-may-see-0815";

test("config set, get and unset change what is stored, and a running service follows", async () => {
  const running = await bootAgent({ variables: { MODEL_PROVIDER: "" }, home: temporaryFolder() });
  const env = { POSTERN_HOME: running.home };
  const config = (...args: string[]) => postern(["config", ...args], { env });

  const set = await config("set", "DAILY_USD_CAP", "5");
  expect(set).toMatchObject({ code: 0, stderr: "" });
  expect(set.stdout).toContain("DAILY_USD_CAP is 5\n");
  expect((await config("get", "DAILY_USD_CAP")).stdout).toBe("5\n");
  expect((await config()).stdout).toMatch(/\nmodels\n {2}NAME .*\n {2}DAILY_USD_CAP +5 +stored /);
  const cap = async () =>
    (await running.service("settings").list()).find(({ name }) => name === "DAILY_USD_CAP");
  expect(await cap()).toMatchObject({ value: "5", source: "stored" });

  const secret = await postern(["config", "set", "ANTHROPIC_API_KEY", "--json"], { env, input: `${KEY}\n` });
  expect(JSON.parse(secret.stdout)).toEqual({
    settings: [{ name: "ANTHROPIC_API_KEY", value: null, secret: true, set: true, source: "stored" }],
  });
  await expect.poll(() => running.service("agent").model().provider).toBe("anthropic");
  expect((await config("get", "ANTHROPIC_API_KEY")).stdout).toBe("(set, hidden)\n");
  expect(running.logged.join()).toContain("settings changed by another node or a command");
  expect(readFileSync(join(running.home, "store.sqlite")).includes(KEY)).toBe(false);

  // A copy of the store has them too.
  const copy = `sqlite://${join(running.home, "copy.sqlite")}`;
  const copied = await postern(["store", "copy", `sqlite://${join(running.home, "store.sqlite")}`, copy], {
    env,
  });
  expect(copied).toMatchObject({ code: 0 });
  const there = await postern(["config", "get", "ANTHROPIC_API_KEY"], { env: { ...env, STORE_URL: copy } });
  expect(there.stdout).toBe("(set, hidden)\n");

  expect((await config("unset", "DAILY_USD_CAP", "ANTHROPIC_API_KEY")).code).toBe(0);
  expect(await cap()).toMatchObject({ source: "default" });
  expect(await config("get", "DAILY_USD_CAP")).toMatchObject({ code: 1, stdout: "\n" });
});

test("config set refuses what it cannot do, with every reason, and stores nothing", async () => {
  const home = temporaryFolder();
  const config = (args: readonly string[], env = {}) =>
    postern(["config", ...args], { env: { POSTERN_HOME: home, ...env } });

  const argument = await config(["set", "ANTHROPIC_API_KEY", KEY]);
  expect(argument).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is not taken from the arguments"),
  });
  expect(argument.stderr).not.toContain(KEY);
  expect(await config(["set", "MODEL_NAME"])).toMatchObject({ code: 2 });
  const wrong = await config([
    "set",
    "MODEL_PROVIDER=openai-compatible",
    "CHAT_RATE_LIMIT=none",
    "PLUGINS=./x.ts",
  ]);
  expect(wrong.code).toBe(2);
  for (const words of ["MODEL_BASE_URL: got nothing", "CHAT_RATE_LIMIT: got", "PLUGINS: cannot be changed"])
    expect(wrong.stderr).toContain(words);
  const fixed = await config(["set", "CHAT_RATE_LIMIT", "5"], { CHAT_RATE_LIMIT: "4" });
  expect(fixed).toMatchObject({ code: 2, stderr: expect.stringContaining("is set in the environment") });
  expect(await config(["get", "NO_SUCH_SETTING"])).toMatchObject({ code: 1 });
  expect((await config(["get", "MODEL_NMAE"])).stderr).toContain("Did you mean MODEL_NAME?");
  expect(await config(["set", "DAILY_USD_CUP", "5"])).toMatchObject({
    code: 2,
    stderr: "postern: There is no setting DAILY_USD_CUP. Did you mean DAILY_USD_CAP?\n",
  });
  expect(await config(["set", "NOPE", "1"])).toMatchObject({
    code: 2,
    stderr: 'postern: There is no setting NOPE. "postern config --all" lists all.\n',
  });
  expect((await config(["unset", "MODEL_NMAE"])).stderr).toContain("Did you mean MODEL_NAME?");
  const typo = await config([], { MODEL_NAM: "x", HTTP_PROXY: "http://127.0.0.1:9" });
  expect(typo.stderr).toBe("postern: MODEL_NAM is not a setting: did you mean MODEL_NAME?\n");
  expect(typo.stdout).toMatch(/\d+ settings have their defaults: postern config --all\n$/);
  expect((await config(["--all"])).stdout).toMatch(/\n {2}MODEL_NAME +\(unset\) +default /);
  const { settings } = JSON.parse((await config(["--json"])).stdout) as { settings: { source: string }[] };
  expect(settings.filter(({ source }) => source === "stored")).toEqual([]);

  // What the environment lacks may be stored.
  expect(await config(["--json"], { MODEL_PROVIDER: "openai-compatible" })).toMatchObject({ code: 78 });
  expect(await config(["set", "MODEL_BASE_URL", "http://127.0.0.1:1/v1"])).toMatchObject({ code: 0 });
  expect(await config(["--json"], { MODEL_PROVIDER: "openai-compatible" })).toMatchObject({ code: 0 });
});
