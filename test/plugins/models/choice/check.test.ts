import { expect, test } from "vitest";
import { Settings, type Variables } from "../../../../kernel/settings/env.ts";
import { diagnoseModel } from "../../../../plugins/models/choice/check.ts";
import { readModelChoice } from "../../../../plugins/models/choice/choose.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { startModelServer } from "../../../support/servers/model-server.ts";
import { scriptedModel } from "../../../support/services/agent.ts";

const diagnose = (variables: Variables, kept?: string) =>
  diagnoseModel({
    config: { choice: readModelChoice(new Settings(variables).for("agent")) },
    home: temporaryFolder(),
    stored: { rows: async () => [], keyed: async () => kept as never },
  });

test("a model's server that answers is well, one that does not is told with the way out", async () => {
  const server = await scriptedModel();
  expect(await diagnose({ MODEL_BASE_URL: server.url })).toMatchObject([{ name: "model", ok: true }]);
  const gone = await startModelServer();
  await gone.close();
  expect(await diagnose({ MODEL_BASE_URL: gone.url })).toMatchObject([
    { ok: false, detail: expect.stringMatching(/ECONNREFUSED.*MODEL_BASE_URL/) },
  ]);
});

test("without any model configured there is nothing to reach", async () => {
  expect(await diagnose({})).toMatchObject([{ ok: true, detail: expect.stringContaining("built-in") }]);
});

test("the built-in model that was asked for is named as such", async () => {
  expect(await diagnose({ MODEL_PROVIDER: "builtin", MODEL_BASE_URL: "http://127.0.0.1:9/v1" })).toEqual([
    { name: "model", ok: true, detail: "the built-in model answers: MODEL_PROVIDER is builtin" },
  ]);
});

test("a model that retires within 60 days is a warning, with the command that switches", async () => {
  const server = await scriptedModel();
  const anthropic = { MODEL_PROVIDER: "anthropic", MODEL_BASE_URL: server.url, MODEL_API_KEY: "k" };
  const warned = {
    warning: true,
    detail: expect.stringMatching(
      /^claude-sonnet-4-5 retire.* on 2026-11-30: "postern config set MODEL_NAME claude-sonnet-5-5"/,
    ),
    fix: { about: "switch to claude-sonnet-5-5" },
  };
  const named = await diagnose({ ...anthropic, MODEL_NAME: "claude-sonnet-4-5" });
  expect(named).toMatchObject([{ ok: true }, warned]);
  expect(await diagnose(anthropic, "claude-sonnet-4-5")).toMatchObject([{ ok: true }, warned]);
  expect(await diagnose(anthropic)).toHaveLength(1);
});
