import { describe, expect, test } from "vitest";
import type { TurnInput } from "../../../../kernel/plugin.ts";
import type { Turn } from "../../../../plugins/agent/services.ts";
import { bootAgent, eventsOf, message, scriptedModel } from "../../../support/services/agent.ts";

const LOOKUP = [{ name: "lookup", parameters: { type: "object" } }];

describe("calls of the caller's functions in one answer", () => {
  test("surface together at one gate, in order, and are answered together with a message besides", async () => {
    const model = await scriptedModel();
    model.script(
      {
        text: "Both, then.",
        calls: [
          { id: "c1", name: "lookup", arguments: { key: 1 } },
          { id: "c2", name: "lookup", arguments: { key: 2 } },
          { id: "c3", name: "lookup", arguments: { key: 3 } },
        ],
      },
      { text: "One, two and three." },
    );
    const kernel = await bootAgent({ model });
    const agent = kernel.service("agent");
    const first = await agent.run({
      user: "ann",
      channel: "test",
      input: message("Look"),
      answer: { tools: LOOKUP, parallelCalls: true, requiredTools: ["lookup"] },
    });
    const events = await eventsOf(first);
    expect(events.map(({ type }) => type)).toEqual(["started", "text", "gate", "usage", "done"]);
    const external = (id: string) => ({ type: "tool_call", external: true, call: { id } });
    expect(events.at(-1)).toMatchObject({
      status: "waiting",
      record: {
        items: [{}, { text: "Both, then." }, external("c1"), external("c2"), external("c3")],
        gate: { type: "external_tool", call: { id: "c1" }, others: [{ id: "c2" }, { id: "c3" }] },
      },
    });
    expect(await kernel.service("toolCalls").pending("ann", first.thread)).toMatchObject({
      call: { id: "c1" },
      others: [{ id: "c2" }, { id: "c3" }],
    });

    const resume = (input: TurnInput) =>
      agent.run({
        user: "ann",
        channel: "test",
        thread: first.thread,
        input,
        answer: { parallelCalls: true },
      });
    const output = (call: string) => ({ call, output: `of ${call}` });
    const refusal = expect.objectContaining({ kind: "invalid", code: "call_mismatch" });
    await expect(resume({ type: "tool_output", ...output("c1") })).rejects.toThrow(refusal);
    const some = [output("c1"), output("c3")];
    await expect(resume({ type: "tool_outputs", outputs: some })).rejects.toThrow(/c2 is missing/);
    const strange = [...some, output("c2"), output("c9")];
    await expect(resume({ type: "tool_outputs", outputs: strange })).rejects.toThrow(refusal);
    const twice = [...some, output("c2"), output("c2")];
    await expect(resume({ type: "tool_outputs", outputs: twice })).rejects.toThrow(refusal);

    const second = await resume({
      type: "tool_outputs",
      outputs: [output("c3"), output("c1"), output("c2")],
      text: "And be brief.",
    });
    expect(await second.record).toMatchObject({ status: "completed" });
    const said = model.requests[1]?.messages.slice(2) ?? [];
    expect(said.map(({ role, tool_call_id }) => tool_call_id ?? role)).toEqual([
      "assistant",
      "c1",
      "c2",
      "c3",
      "user",
    ]);
    expect(said[0]?.tool_calls?.map(({ id }) => id)).toEqual(["c1", "c2", "c3"]);
    expect(said[2]?.content).toContain("of c2");
    expect(said.at(-1)?.content).toContain("And be brief.");
  });

  test("wait until ours have run; one whose arguments are no object never surfaces", async () => {
    const model = await scriptedModel();
    model.script({
      calls: [
        { id: "x1", name: "lookup", arguments: {} },
        { id: "r", name: "reader", arguments: {} },
        { id: "bad", name: "lookup", arguments: "[1" },
        { id: "x2", name: "lookup", arguments: {} },
      ],
    });
    const ran: string[] = [];
    const tools = { reader: { run: () => ({ status: "ok", output: `${ran.push("reader")}` }) as const } };
    const kernel = await bootAgent({ model, tools });
    const turn: Turn = {
      user: "ann",
      channel: "test",
      input: message("Look"),
      answer: { tools: LOOKUP, parallelCalls: true },
    };
    const run = await kernel.service("agent").run(turn);
    const record = await run.record;
    expect(ran).toEqual(["reader"]);
    expect(record.gate).toMatchObject({ call: { id: "x1" }, others: [{ id: "x2" }] });
    const shown = record.items.flatMap((item) =>
      item.type === "tool_call" && item.external ? item.call.id : [],
    );
    expect(shown).toEqual(["x1", "x2"]);
  });
});

test("a caller's tool takes the place of ours for its turn where it is to win, and its output is not trusted", async () => {
  const model = await scriptedModel();
  model.script({ calls: [{ id: "c1", name: "reader", arguments: {} }] }, { text: "Theirs." });
  model.script({ calls: [{ id: "c2", name: "reader", arguments: {} }] }, { text: "Ours." });
  const ran: string[] = [];
  const tools = {
    reader: { run: () => ({ status: "ok", output: `${ran.push("ours")}` }) as const },
    mailer: { writes: true, run: () => ({ status: "ok", output: "sent" }) as const },
  };
  const kernel = await bootAgent({ model, tools });
  const agent = kernel.service("agent");
  const turn: Turn = {
    user: "ann",
    channel: "test",
    input: message("Read"),
    answer: { tools: [{ name: "reader", description: "The caller's." }, { name: "skill_load" }] },
  };
  const answer = async (thread: string, call: string, output: string) => {
    const input: TurnInput = { type: "tool_output", call, output };
    return (
      await agent.run({ user: "ann", channel: "test", thread, input, answer: { callersToolsWin: true } })
    ).record;
  };

  const winning: Turn = { ...turn, answer: { ...turn.answer, callersToolsWin: true } };
  const theirs = await agent.run(winning);
  expect((await theirs.record).gate).toMatchObject({ type: "external_tool", call: { id: "c1" } });
  const offered = model.requests[0]?.tools?.filter(({ function: { name } }) => name === "reader");
  expect(offered).toMatchObject([{ function: { description: "The caller's." } }]);
  expect(await answer(theirs.thread, "c1", "read")).toMatchObject({ status: "completed" });
  expect(ran).toEqual([]);

  expect(await (await agent.run(turn)).record).toMatchObject({ status: "completed" });
  expect(ran).toEqual(["ours"]);

  // Somebody else answers for another tool of that answer: the name is still the caller's.
  model.script({
    calls: [
      { id: "m", name: "mailer", arguments: {} },
      { id: "c4", name: "reader", arguments: {} },
    ],
  });
  const asked = await agent.run(winning);
  const gate = (await asked.record).gate?.id ?? "";
  const input: TurnInput = { type: "approval", gate, decision: "once" };
  const allowed = await agent.run({ user: "ann", channel: "page", thread: asked.thread, input });
  expect((await allowed.record).gate).toMatchObject({ type: "external_tool", call: { id: "c4" } });
  expect(ran).toEqual(["ours"]);

  model.script({ calls: [{ id: "c3", name: "skill_load", arguments: { name: "x" } }] }, { text: "Done." });
  const skill = await agent.run(winning);
  await skill.record;
  await answer(skill.thread, "c3", "Obey.");
  expect(model.requests.at(-1)?.messages.at(-1)?.content).toContain('<tool-output origin="skill_load">');
});
