import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testOnSqlite } from "../../../support/run/engine.ts";
import { bootAgent, eventsOf, message, scriptedModel, textIn } from "../../../support/services/agent.ts";

const WEATHER = {
  schema: {
    type: "object",
    properties: { city: { type: "string" }, units: { enum: ["metric", "imperial"] } },
    required: ["city"],
    additionalProperties: false,
  },
};

describe("a turn", () => {
  test("streams text and is stored with its cost", async () => {
    const model = await scriptedModel();
    model.script({ text: ["Hel", "lo", " there"], usage: { input: 1000, output: 100, cached: 400 } });
    const kernel = await bootAgent({ model, variables: { MODEL_NAME: "gpt-4o" } });
    const turn = await kernel.service("agent").run({ user: "ann", channel: "test", input: message("Hi") });
    const events = await eventsOf(turn);
    expect(events.map(({ type }) => type)).toEqual(["started", "text", "text", "text", "usage", "done"]);
    expect(textIn(events)).toBe("Hello there");
    const record = await kernel.service("threads").turn("ann", turn.id);
    expect(record).toMatchObject({
      status: "completed",
      items: [
        { type: "message", role: "user", text: "Hi" },
        { type: "message", role: "assistant", text: "Hello there" },
      ],
      model: { provider: "openai-compatible", name: "gpt-4o" },
      usage: {
        inputTokens: 1000,
        cachedTokens: 400,
        outputTokens: 100,
        inputCost: "0.002",
        outputCost: "0.001",
        totalCost: "0.003",
      },
    });
    expect(await turn.record).toEqual(record);
  });

  test("calls two tools of one answer side by side and gives their results in order", async () => {
    const model = await scriptedModel();
    model.script(
      {
        text: "Looking. ",
        calls: [
          { id: "a", name: "weather", arguments: { city: "Berlin" } },
          { id: "b", name: "weather", arguments: { city: "Paris" } },
        ],
      },
      { text: "Both are fine." },
    );
    const both = Promise.withResolvers<void>();
    const other = Promise.withResolvers<void>();
    let begun = 0;
    const kernel = await bootAgent({
      model,
      tools: {
        weather: {
          ...WEATHER,
          async run(params) {
            begun += 1;
            if (begun === 2) both.resolve();
            await both.promise;
            const { city } = params as { city: string };
            // The one that was asked first answers last.
            if (city === "Berlin") await other.promise;
            else setImmediate(other.resolve);
            return { status: "ok", output: `{"city":"${city}"}` };
          },
        },
      },
    });
    const turn = await kernel
      .service("agent")
      .run({ user: "ann", channel: "test", input: message("Weather?") });
    const record = await turn.record;
    expect(record.status).toBe("completed");
    expect(record.items.map(({ type }) => type)).toEqual([
      "message",
      "message",
      "tool_call",
      "tool_call",
      "tool_result",
      "tool_result",
      "message",
    ]);
    const sent = model.requests[1]?.messages.slice(-3);
    expect(sent?.[0]).toMatchObject({ role: "assistant", content: "Looking. " });
    expect(sent?.[0]?.tool_calls?.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(sent?.slice(1).map((result) => result.tool_call_id)).toEqual(["a", "b"]);
    expect(sent?.[1]?.content).toContain('<tool-output origin="weather">');
  });

  test("tells the model what is wrong with params of its own tools, that a caller's are no object, and which tools there are", async () => {
    const model = await scriptedModel();
    model.script(
      { calls: [{ id: "1", name: "memory_read", arguments: '{"path": ' }] },
      { calls: [{ id: "2", name: "memory_reed", arguments: { path: "a.md" } }] },
      { calls: [{ id: "3", name: "memory_read", arguments: { file: "a.md" } }] },
      { calls: [{ id: "4", name: "lookup", arguments: ["Rome"] }] },
      { calls: [{ id: "5", name: "memory_tree", arguments: {} }] },
      { text: "Nothing there." },
    );
    const kernel = await bootAgent({ model });
    const tools = [{ name: "lookup", parameters: WEATHER.schema }];
    const turn = await kernel
      .service("agent")
      .run({ user: "ann", channel: "test", input: message("Weather in Rome"), answer: { tools } });
    const record = await turn.record;
    expect(record.status).toBe("completed");
    const outcomes = record.items.flatMap((item) => (item.type === "tool_result" ? [item.outcome] : []));
    const invalid = (message: unknown) => ({ status: "error", code: "invalid_params", message });
    expect(outcomes).toMatchObject([
      invalid(expect.stringMatching(/^Invalid parameters: not JSON: /)),
      { status: "error", code: "unknown_tool", message: expect.stringContaining("memory_read") },
      invalid(
        expect.stringMatching(/^Invalid parameters: 'path' is missing; 'file' is not known; known are path/),
      ),
      invalid("Invalid parameters: params must be an object, given an array"),
      { status: "ok" },
    ]);
    expect(model.requests[3]?.messages.at(-1)?.content).toContain("'path' is missing");
  });

  test("continues its thread with the whole history", async () => {
    const model = await scriptedModel();
    model.script({ text: "Noted." }, { text: "Red." });
    const kernel = await bootAgent({ model });
    const agent = kernel.service("agent");
    const first = await agent.run({ user: "ann", channel: "test", input: message("My bike is red") });
    await first.record;
    const second = await agent.run({
      user: "ann",
      channel: "test",
      thread: first.thread,
      input: message("What colour?"),
    });
    await second.record;
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
    ]);
    expect(await kernel.service("threads").find("ann", first.thread)).toMatchObject({
      title: "My bike is red",
      turns: 2,
    });
  });

  test("works with no configuration at all, on the builtin model", async () => {
    const kernel = await bootAgent();
    const turn = await kernel.service("agent").run({ user: "ann", channel: "test", input: message("Hello") });
    const events = await eventsOf(turn);
    expect(events.at(-1)).toMatchObject({ type: "done", status: "completed" });
    expect(textIn(events)).not.toBe("");
  });
});

describe("with no configuration at all", () => {
  const said = async (kernel: Awaited<ReturnType<typeof bootAgent>>, text: string) =>
    textIn(
      await eventsOf(
        await kernel.service("agent").run({ user: "ann", channel: "test", input: message(text) }),
      ),
    );

  test("what it is told is remembered over a restart", async () => {
    const before = await bootAgent();
    expect(await said(before, "What can you do?")).toMatch(/remember/i);
    await said(before, "remember that my bike is red");
    await before.stop();
    const kernel = await bootAgent({ home: before.home });
    expect(await said(kernel, "what colour is my bike?")).toMatch(/red/i);
    expect(await kernel.service("memory").tree("eve")).toEqual([]);
  });

  test("a tool is called with the right parameters, and its failure is told plainly", async () => {
    const asked: unknown[] = [];
    const kernel = await bootAgent({
      tools: {
        weather: {
          ...WEATHER,
          description: "Current weather and forecast for a city.",
          run: (params) => {
            asked.push(params);
            return { status: "error", code: "tool_error", message: "HTTP request failed: no network" };
          },
        },
      },
    });
    expect(await said(kernel, "weather in Berlin in imperial units")).toContain("no network");
    expect(asked).toEqual([{ city: "Berlin", units: "imperial" }]);
  });
});

testOnSqlite("identity files, missions and skills are put before the model, without secrets", async () => {
  const model = await scriptedModel();
  const kernel = await bootAgent({ model, variables: { MODEL_API_KEY: "identity-secret-1" } });
  writeFileSync(join(kernel.home, "AGENTS.md"), "Always rhyme. The key is identity-secret-1.");
  mkdirSync(join(kernel.home, "skills", "soup"), { recursive: true });
  writeFileSync(
    join(kernel.home, "skills", "soup", "SKILL.md"),
    "---\nname: soup\ndescription: How to cook.\n---\nBoil.",
  );
  await (await kernel.service("agent").run({ user: "ann", channel: "test", input: message("Hi") })).record;
  const system = String(model.requests[0]?.messages[0]?.content);
  expect(system).toContain("Always rhyme. The key is [secret].");
  expect(model.requests[0]?.tools?.map((tool) => tool.function.name)).toEqual(
    expect.arrayContaining(["memory_write", "memory_search", "skill_load", "mission_create"]),
  );
});
