import { expect, test } from "vitest";
import tools from "../../../../host/plugin.ts";
import type { AnyPlugin, ToolOutcome, TurnRecord } from "../../../../kernel/plugin.ts";
import store from "../../../../plugins/store/plugin.ts";
import type { ModelServer } from "../../../support/servers/model-server.ts";
import { message, scriptedModel } from "../../../support/services/agent.ts";
import { agentPlugins } from "../../../support/services/agent-plugins.ts";
import { type BootedKernel, bootKernel } from "../../../support/services/kernel.ts";
import { builtComponent, capabilitiesOf } from "../../../support/tools/shipped.ts";
import { allowing, install, installProber, switchOff } from "../../../support/tools/tool-host.ts";

function bootWithHost(model: ModelServer): Promise<BootedKernel> {
  return bootKernel(
    [store, tools, ...agentPlugins] as readonly AnyPlugin[],
    { MODEL_BASE_URL: model.url, MEMORY_VECTORS: "false" },
    { only: ["agent", "threads", "toolHost"] },
  );
}

function outcomesOf({ items }: TurnRecord): readonly ToolOutcome[] {
  return items.flatMap((item) => (item.type === "tool_result" ? [item.outcome] : []));
}

test("a sandboxed component is called through the real host, and its answer reaches the model as data", async () => {
  const model = await scriptedModel();
  model.script(
    { calls: [{ id: "p", name: "prober", arguments: { url: "https://not-allowed.example/v1/x" } }] },
    { text: "It was refused." },
  );
  const kernel = await bootWithHost(model);
  await installProber(await kernel.service("toolHost").open(), allowing("127.0.0.1"));
  const turn = await kernel.service("agent").run({ user: "ann", channel: "test", input: message("Probe") });
  const record = await turn.record;
  expect(record.status).toBe("completed");
  expect(record.items).toContainEqual(expect.objectContaining({ type: "tool_result", call: "p" }));
  expect(model.requests[0]?.tools?.map((tool) => tool.function.name)).toContain("prober");
  expect(model.requests[1]?.messages.at(-1)?.content).toContain('<tool-output origin="prober">');
  expect(await kernel.service("toolCalls").isReserved("prober")).toBe(true);
});

test("§4.4 params of an installed tool are judged by its host: the model reads which field is wrong and its range", async () => {
  const said = [
    [{ action: "get_air_quality", lat: 91, lon: 0 }, "'lat' must be between -90 and 90, given 91"],
    [{ lat: 91, lon: 0 }, "'lat' must be between -90 and 90, given 91"],
    [{ action: "get_air_quality", lat: 0, lon: -200 }, "'lon' must be between -180 and 180, given -200"],
    [{ action: "get_current" }, "Invalid parameters: 'city' is missing"],
    [{ action: "get_current", city: "" }, "'city' must not be empty"],
    ['{"action": ', "Invalid parameters: not JSON"],
  ] as const;
  const model = await scriptedModel();
  model.script(
    ...said.map(([params], index) => ({
      calls: [{ id: `call-${index}`, name: "weather", arguments: params }],
    })),
    { text: "I give up." },
  );
  const kernel = await bootWithHost(model);
  const host = await kernel.service("toolHost").open();
  await install(host, "weather", await builtComponent("weather"), capabilitiesOf("weather"));
  const turn = await kernel.service("agent").run({ user: "ann", channel: "test", input: message("Air?") });
  const outcomes = outcomesOf(await turn.record);
  expect(outcomes).toHaveLength(said.length);
  for (const [index, [, words]] of said.entries()) {
    expect(outcomes[index]).toMatchObject({ status: "error", message: expect.stringContaining(words) });
    expect(model.requests[index + 1]?.messages.at(-1)?.content).toContain(words);
  }
  expect(JSON.stringify(outcomes.slice(0, 3))).not.toContain("city");
});

test("nobody is asked to approve a call whose params the host would refuse", async () => {
  const model = await scriptedModel();
  model.script(
    { calls: [{ id: "wrong", name: "prober", arguments: { times: 0 } }] },
    { calls: [{ id: "right", name: "prober", arguments: {} }] },
  );
  const kernel = await bootWithHost(model);
  const writing = allowing("127.0.0.1").replace('["GET"]', '["GET","POST"]');
  await installProber(await kernel.service("toolHost").open(), writing);
  const turn = await kernel.service("agent").run({ user: "ann", channel: "test", input: message("Probe") });
  const record = await turn.record;
  expect(outcomesOf(record)).toMatchObject([
    { code: "invalid_params", message: "Invalid parameters: 'times' must be between 1 and 100, given 0" },
  ]);
  expect(record.gate).toMatchObject({ type: "approval", call: { id: "right" } });
});

test("a tool that is switched off is not offered; a call of it is refused in words, and nobody is asked to approve it", async () => {
  const model = await scriptedModel();
  model.script({ calls: [{ id: "p", name: "prober", arguments: {} }] }, { text: "It is off." });
  const kernel = await bootWithHost(model);
  const host = await kernel.service("toolHost").open();
  const writing = allowing("127.0.0.1").replace('["GET"]', '["GET","POST"]');
  await switchOff(host, await installProber(host, writing));
  const turn = await kernel.service("agent").run({ user: "ann", channel: "test", input: message("Probe") });
  expect(outcomesOf(await turn.record)).toMatchObject([
    { status: "error", code: "switched_off", message: expect.stringContaining("postern tool enable prober") },
  ]);
  expect(model.requests[0]?.tools?.map((tool) => tool.function.name)).not.toContain("prober");
  expect(await kernel.service("toolCalls").isReserved("prober")).toBe(true);
});

test("code of the model calls tools in the real sandbox: one result, a receipt for each call, and explain shows the tree", async () => {
  const model = await scriptedModel();
  const code = `const miles = [1, 2, 26.2];
const found = await Promise.all(miles.map((value) => tools.call("convert", { value, from: "miles", to: "km" })));
found.map(({ result }) => result)`;
  model.script({ calls: [{ id: "c", name: "run-code", arguments: { code } }] }, { text: "Done." });
  const kernel = await bootKernel(
    [store, tools, ...agentPlugins] as readonly AnyPlugin[],
    { MODEL_BASE_URL: model.url, MEMORY_VECTORS: "false" },
    { only: ["agent", "threads", "toolHost", "provenance"] },
  );
  const host = await kernel.service("toolHost").open();
  for (const name of ["convert", "run-code"])
    await install(host, name, await builtComponent(name), capabilitiesOf(name));
  const turn = await kernel.service("agent").run({ user: "ann", channel: "test", input: message("Convert") });
  const [outcome] = outcomesOf(await turn.record);
  expect(outcome).toMatchObject({ status: "ok" });
  expect(outcome?.status === "ok" && JSON.parse(outcome.output)).toMatchObject({
    value: [1.609344, 3.218688, 42.1648128],
    calls: 3,
  });
  const receipts = await host.receipts.list({ user: "ann" });
  const outer = receipts.find(({ tool }) => tool === "run-code");
  const inner = receipts.filter(({ tool }) => tool === "convert");
  expect(inner.map(({ parent }) => parent)).toEqual([outer?.id, outer?.id, outer?.id]);
  expect(outer?.calls?.map(({ receipt }) => receipt).sort()).toEqual(inner.map(({ id }) => id).sort());
  const explained = await kernel.service("provenance").explain();
  expect(explained?.calls).toMatchObject([
    { tool: "run-code", outcome: "ok", calls: Array(3).fill({ tool: "convert", outcome: "ok" }) },
  ]);
});
