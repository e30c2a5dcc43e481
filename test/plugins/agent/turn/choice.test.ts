import { expect, test } from "vitest";
import type { Turn } from "../../../../plugins/agent/services.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";

const TURN: Turn = {
  user: "ann",
  channel: "test",
  input: message("Go"),
  answer: { tools: [{ name: "lookup" }] },
};
const READ = { name: "reader", arguments: {} };

async function boot() {
  const model = await scriptedModel();
  const ran: string[] = [];
  const run = (name: string) => ({
    run: () => {
      ran.push(name);
      return { status: "ok", output: "1" } as const;
    },
  });
  const kernel = await bootAgent({ model, tools: { reader: run("reader"), counter: run("counter") } });
  const agent = kernel.service("agent");
  const record = async (turn: Partial<Turn>) =>
    (await agent.run({ ...TURN, ...turn, answer: { ...TURN.answer, ...turn.answer } })).record;
  const offered = (at: number) => model.requests.at(at)?.tools?.map(({ function: { name } }) => name) ?? [];
  const choice = (at: number) =>
    (model.requests.at(at) as { tool_choice?: unknown } | undefined)?.tool_choice;
  return { kernel, model, ran, record, offered, choice };
}

test("tools are in the order of their names, ours before the installed ones and the caller's", async () => {
  const { record, offered } = await boot();
  await record({});
  const ours = offered(0).slice(0, -3);
  expect(ours).toEqual(ours.toSorted());
  expect(offered(0).slice(-3)).toEqual(["counter", "reader", "lookup"]);
});

test("none: no tools are sent, and a call the model makes anyway is refused to it and never made", async () => {
  const { model, ran, record, offered, choice } = await boot();
  model.script({ calls: [READ, { name: "lookup", arguments: {} }] }, { text: "Without, then." });
  expect(await record({ answer: { toolChoice: "none" } })).toMatchObject({ status: "completed" });
  expect(offered(0)).toEqual([]);
  expect(choice(0)).toBeUndefined();
  expect(model.requests[1]?.messages.at(-1)?.content).toContain("No tool may be called");
  expect(ran).toEqual([]);
});

test("required holds for the first answer of a turn, and the model may end it then", async () => {
  const { model, ran, record, choice } = await boot();
  model.script({ calls: [READ] }, { text: "Read." });
  expect(await record({ answer: { toolChoice: "required" } })).toMatchObject({ status: "completed" });
  expect([choice(0), choice(1)]).toEqual(["required", "auto"]);
  expect(ran).toEqual(["reader"]);
});

test("among some names only those may be called; a name that is not there is refused before the turn opens", async () => {
  const { kernel, model, ran, record } = await boot();
  model.script({ calls: [{ name: "counter", arguments: {} }, READ] }, { text: "Read." });
  const toolChoice = { mode: "auto", names: ["reader", "lookup"] } as const;
  expect(await record({ answer: { toolChoice } })).toMatchObject({ status: "completed" });
  expect(ran).toEqual(["reader"]);
  expect(JSON.stringify(model.requests[1]?.messages)).toContain("Only these tools may be called");
  await expect(
    record({ user: "eve", answer: { toolChoice: { mode: "required", names: ["writer"] } } }),
  ).rejects.toThrow(
    expect.objectContaining({ kind: "invalid", code: "unknown_tool_choice", param: "tool_choice" }),
  );
  expect((await kernel.service("threads").list("eve")).items).toEqual([]);
});

test("beyond maxToolCalls none of ours is offered or called, the caller's still are", async () => {
  const { model, ran, record, offered } = await boot();
  model.script({ calls: [READ, READ, READ] }, { calls: [{ id: "c1", name: "lookup", arguments: {} }] });
  const { gate } = await record({ answer: { maxToolCalls: 2 } });
  expect(ran).toEqual(["reader", "reader"]);
  expect(offered(0)).toEqual(expect.arrayContaining(["reader", "counter", "lookup"]));
  expect(offered(1)).toEqual(["lookup"]);
  expect(model.requests[1]?.messages.at(-1)?.content).toContain("allows 2 tool calls");
  expect(gate).toMatchObject({ type: "external_tool", call: { id: "c1" } });
});

test("what the answer is to be like is passed on to the model", async () => {
  const { model, record } = await boot();
  await record({
    answer: { generation: { temperature: 0.5, topP: 0.9, stop: ["END"] }, parallelCalls: false },
  });
  expect(model.requests[0]).toMatchObject({
    temperature: 0.5,
    top_p: 0.9,
    stop: ["END"],
    parallel_tool_calls: false,
  });
});
