import { expect, test } from "vitest";
import tools from "../../../../host/plugin.ts";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import type { Turn } from "../../../../plugins/agent/services.ts";
import type { Format } from "../../../../plugins/models/services.ts";
import store from "../../../../plugins/store/plugin.ts";
import { eventsOf, message, scriptedModel, textIn } from "../../../support/services/agent.ts";
import { agentPlugins } from "../../../support/services/agent-plugins.ts";
import { bootKernel } from "../../../support/services/kernel.ts";

const FORMAT: Format = {
  type: "json_schema",
  name: "person",
  strict: true,
  schema: { type: "object", properties: { age: { type: "integer" } }, required: ["age"] },
};
const TURN: Turn = { user: "ann", channel: "test", input: message("How old?") };

async function boot(variables: Readonly<Record<string, string>> = { MODEL_NAME: "scripted" }) {
  const model = await scriptedModel();
  const kernel = await bootKernel(
    [store, tools, ...agentPlugins] as readonly AnyPlugin[],
    { MODEL_BASE_URL: model.url, ...variables, MEMORY_VECTORS: "false", TOOLS_SHIPPED: "false" },
    { only: ["agent", "threads", "toolHost"] },
  );
  const agent = kernel.service("agent");
  return {
    model,
    kernel,
    async run(turn: Partial<Turn>) {
      const running = await agent.run({ ...TURN, ...turn });
      const events = await eventsOf(running);
      const deltas = events.filter(({ type }) => type === "text").length;
      return { text: textIn(events), deltas, record: await running.record };
    },
  };
}

test("an answer that does not fit is not told; the model is asked once more with the mistakes named", async () => {
  const { model, run } = await boot();
  model.script({ text: ["It is ", "41."] }, { text: '```json\n{"age": 41}\n```' });
  const { text, record } = await run({ answer: { format: FORMAT } });
  expect(text).toBe('{"age": 41}');
  expect(record.status).toBe("completed");
  expect(record.items).toMatchObject([{ role: "user" }, { role: "assistant", text: '{"age": 41}' }]);
  expect(JSON.stringify(model.requests[0])).toContain('\\"required\\":[\\"age\\"]');
  expect(model.requests[1]?.messages.slice(-2)).toMatchObject([
    { role: "assistant", content: "It is 41." },
    { role: "user", content: expect.stringContaining("not JSON") },
  ]);
});

test("one that does not fit a second time fails the turn in words, and nothing of it was told", async () => {
  const { model, run } = await boot();
  model.otherwise({ text: '{"age": "old"}' });
  const { text, record } = await run({ answer: { format: FORMAT } });
  expect(text).toBe("");
  expect(record).toMatchObject({
    status: "failed",
    error: { code: "invalid_format", message: expect.stringContaining("'age'") },
  });
  expect(model.requests).toHaveLength(2);
});

test("a model that keeps to what it is asked is told as it comes; where it does not after all, the turn fails", async () => {
  const openai = { MODEL_PROVIDER: "openai", MODEL_NAME: "gpt-4o", OPENAI_API_KEY: "k" };
  const { model, kernel, run } = await boot(openai);
  // The rest comes when the beginning has been told.
  const { promise: rest, resolve } = Promise.withResolvers<string>();
  kernel.service("agent").watch("ann", ({ type }) => type === "text" && resolve(" 41}"));
  model.script({ text: ['{"age":', rest] }, { text: '{"age": "old"}' });
  const fits = await run({ answer: { format: FORMAT } });
  expect(fits).toMatchObject({ text: '{"age": 41}', deltas: 2, record: { status: "completed" } });
  expect(model.requests[0]).toMatchObject({ response_format: { type: "json_schema" } });
  expect(JSON.stringify(model.requests[0]?.messages)).not.toContain("JSON Schema");
  const wrong = await run({ answer: { format: FORMAT } });
  expect(wrong).toMatchObject({
    text: '{"age": "old"}',
    record: { status: "failed", error: { code: "invalid_format" } },
  });
  expect(model.requests).toHaveLength(2);
});

test("text before calls, and an answer that was cut, are not held to the format", async () => {
  const { model, run } = await boot();
  model.script({ text: "Looking.", calls: [{ id: "c1", name: "lookup", arguments: {} }] });
  const waiting = await run({ answer: { tools: [{ name: "lookup" }], format: FORMAT } });
  expect(waiting).toMatchObject({ text: "Looking.", record: { status: "waiting" } });
  model.script({ text: '{"age": 4', finish: "length" });
  const cut = await run({ answer: { format: FORMAT } });
  expect(cut).toMatchObject({ text: '{"age": 4', record: { incomplete: "max_output_tokens" } });
});

test("a JSON object is any JSON object", async () => {
  const { model, run } = await boot();
  model.script({ text: "[1]" }, { text: '{"any": [1]}' });
  expect((await run({ answer: { format: { type: "json_object" } } })).text).toBe('{"any": [1]}');
  expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("not a JSON object");
});

test("a schema that cannot be used is refused before the turn opens", async () => {
  const { model, kernel, run } = await boot();
  const format: Format = { ...FORMAT, schema: { type: "wrong" } };
  await expect(run({ answer: { format } })).rejects.toThrow(
    expect.objectContaining({ kind: "invalid", code: "invalid_json_schema" }),
  );
  expect((await kernel.service("threads").list("ann")).items).toEqual([]);
  expect(model.requests).toEqual([]);
});

test("instructions of one request are shown before the conversation, and no later turn sees them", async () => {
  const { model, kernel, run } = await boot();
  model.script({ calls: [{ id: "c1", name: "lookup", arguments: {} }] });
  const { record } = await run({
    preamble: { instructionsOnce: "Speak Latin." },
    answer: { tools: [{ name: "lookup" }] },
  });
  const [system, asked] = model.requests[0]?.messages ?? [];
  expect(system?.content).toMatch(/\n\n<instructions>\nSpeak Latin\.\n<\/instructions>$/);
  expect(asked?.content).toMatch(/^How/);
  await run({
    thread: record.thread,
    input: { type: "tool_output", call: "c1", output: "found" },
    preamble: { instructionsOnce: "Speak Greek." },
  });
  const roles = model.requests[1]?.messages.map(({ role }) => role);
  expect(roles).toEqual(["system", "user", "assistant", "tool"]);
  expect(model.requests[1]?.messages[0]?.content).toContain("Speak Greek.");
  expect(JSON.stringify(model.requests[1])).not.toContain("Latin");
  await run({ thread: record.thread });
  expect(JSON.stringify(model.requests[2])).not.toMatch(/Latin|Greek/);
  const turns = await kernel.service("threads").turns("ann", record.thread);
  expect(JSON.stringify(turns)).not.toMatch(/Latin|Greek/);
});
