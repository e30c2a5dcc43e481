import { expect, test } from "vitest";
import { Settings, type Variables } from "../../../../kernel/settings/env.ts";
import { diagnoseModel } from "../../../../plugins/models/choice/check.ts";
import { readModelChoice } from "../../../../plugins/models/choice/choose.ts";
import { startModelServer } from "../../../support/servers/model-server.ts";
import { scriptedModel } from "../../../support/services/agent.ts";

const diagnose = (variables: Variables) =>
  diagnoseModel(readModelChoice(new Settings(variables).for("agent")));

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
