import { expect, test } from "vitest";
import type { Turn } from "../../../../plugins/agent/services.ts";
import { bootAgent, eventsOf, message, scriptedModel } from "../../../support/services/agent.ts";

const TURN: Turn = {
  user: "ann",
  channel: "test",
  input: message("Go"),
  answer: { tools: [{ name: "lookup" }] },
};

async function boot() {
  const model = await scriptedModel();
  const tools = { reader: { run: () => ({ status: "ok", output: "1" }) as const } };
  const kernel = await bootAgent({ model, tools });
  const agent = kernel.service("agent");
  return {
    kernel,
    model,
    record: async (turn: Partial<Turn>) =>
      (await agent.run({ ...TURN, ...turn, answer: { ...TURN.answer, ...turn.answer } })).record,
  };
}

test("an answer that was cut at its limit completes the turn as incomplete, also in the store", async () => {
  const { kernel, model, record } = await boot();
  model.script({ text: "Once upon", finish: "length" });
  const cut = await record({ answer: { generation: { maxOutputTokens: 5 } } });
  expect(cut).toMatchObject({ status: "completed", incomplete: "max_output_tokens" });
  expect(await kernel.service("threads").turn("ann", cut.id)).toEqual(cut);
  model.script({ text: [], finish: "content_filter" });
  const filtered = await record({});
  expect(filtered).toMatchObject({ status: "completed", incomplete: "content_filter" });
  expect(filtered.items).toHaveLength(1);
});

test("an answer that is empty because thoughts used up its limit is incomplete, and no failure", async () => {
  const { model, record } = await boot();
  const usage = { input: 10, output: 16 };
  model.script({ text: [], usage }, { text: [], usage });
  const generation = { maxOutputTokens: 16 };
  expect(await record({ answer: { generation } })).toMatchObject({
    status: "completed",
    incomplete: "max_output_tokens",
  });
  expect(await record({})).toMatchObject({ status: "failed", error: { code: "empty_answer" } });
});

test("a call that was cut in the middle is dropped, a whole one beside it is made", async () => {
  const { model, record } = await boot();
  model.script({ calls: [{ name: "lookup", arguments: '{"key": "ab' }], finish: "length" });
  expect(await record({})).toMatchObject({ status: "completed", incomplete: "max_output_tokens" });
  model.script({
    calls: [
      { id: "c1", name: "lookup", arguments: { key: 1 } },
      { id: "c2", name: "lookup", arguments: "" },
    ],
    finish: "length",
  });
  const { gate, incomplete } = await record({ answer: { parallelCalls: true } });
  expect(gate).toMatchObject({ call: { id: "c1" } });
  expect(gate).not.toHaveProperty("others");
  expect(incomplete).toBeUndefined();
});

test("the limit is one of the whole turn: later answers get what is left, and none where nothing is", async () => {
  const { model, record } = await boot();
  const read = { calls: [{ name: "reader", arguments: {} }], usage: { input: 10, output: 40 } };
  model.script(read, read, { text: "never asked" });
  const ended = await record({ answer: { generation: { maxOutputTokens: 70 } } });
  expect(ended).toMatchObject({ status: "completed", incomplete: "max_output_tokens" });
  const limits = model.requests.map((request) => {
    const { max_tokens, max_completion_tokens } = request as unknown as Record<string, number>;
    return max_completion_tokens ?? max_tokens;
  });
  expect(limits).toEqual([70, 30]);
});

test("what the model thinks is told, stored before what it says, and given back while it goes on", async () => {
  const { kernel, model } = await boot();
  model.script(
    { reasoning: ["I should ", "read."], calls: [{ name: "reader", arguments: {} }] },
    { reasoning: "It is one.", text: "One." },
    { text: "Still one." },
  );
  const agent = kernel.service("agent");
  const first = await agent.run({ ...TURN, keeping: { keepsPieces: true } });
  const events = await eventsOf(first);
  const told = Map.groupBy(
    events.flatMap((event) => (event.type === "reasoning" || event.type === "text" ? event : [])),
    ({ item }) => item,
  );
  const texts = [...told.values()].map((deltas) => [
    deltas[0]?.type,
    deltas.map(({ delta }) => delta).join(""),
  ]);
  expect(texts).toEqual([
    ["reasoning", "I should read."],
    ["reasoning", "It is one."],
    ["text", "One."],
  ]);
  const record = await first.record;
  expect(record.items.map(({ type }) => type)).toEqual([
    "message",
    "reasoning",
    "tool_call",
    "tool_result",
    "reasoning",
    "message",
  ]);
  expect(record.items.at(-2)).toMatchObject({ id: [...told.keys()][1], text: "It is one." });
  const stored = await kernel.service("threads").turn("ann", first.id);
  expect(stored?.items.map(({ id }) => id)).toEqual(record.items.map(({ id }) => id));
  expect((await kernel.service("threads").list("ann", { q: "should" })).items).toEqual([]);

  await (await agent.run({ user: "ann", channel: "test", thread: first.thread, input: message("Sure?") }))
    .record;
  const thoughts = (at: number) =>
    model.requests[at]?.messages.flatMap(
      (said) => (said as { reasoning_content?: string }).reasoning_content ?? [],
    );
  expect(thoughts(1)).toEqual(["I should read."]);
  // Later too: what a server has cached begins with it.
  expect(thoughts(2)).toEqual(["I should read.", "It is one."]);
});
