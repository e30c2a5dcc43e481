import { expect, test } from "vitest";
import { scriptedModel } from "../../support/services/agent.ts";
import { startService, textOf } from "../../support/services/responses.ts";

const TOOLS = [{ type: "function", name: "find_order", parameters: { type: "object" } }];
const ASK = { role: "user", content: "Where is order 7?" };
const CALL = { type: "function_call", call_id: "call_1", name: "find_order", arguments: '{"number":7}' };
const OUTPUT = { type: "function_call_output", call_id: "call_1", output: "shipped" };

test("a replay in which every output has its call earlier is the history of a new thread", async () => {
  const model = await scriptedModel();
  model.script({ text: "It has shipped." });
  const service = await startService({ model });
  const response = await service.create({
    input: [ASK, CALL, OUTPUT],
    tools: TOOLS,
    instructions: "Be brief.",
  });
  expect(textOf(response)).toBe("It has shipped.");
  const messages = model.requests[0]?.messages.filter(({ role }) => role !== "system");
  expect(messages?.map(({ role }) => role)).toEqual(["user", "user", "assistant", "tool"]);
  expect(messages?.[0]?.content).toBe("<instructions>\nBe brief.\n</instructions>");
  expect(messages?.[2]?.tool_calls?.[0]).toMatchObject({ id: "call_1", function: { name: "find_order" } });
  expect(String(messages?.[3]?.content)).toContain("shipped");
  const followed = await service.create({ input: "Thanks", previous_response_id: response.id });
  expect(followed.status).toBe("completed");
});

test("a replay may go on after the output with a message of its own", async () => {
  const model = await scriptedModel();
  const service = await startService({ model });
  const said = { role: "assistant", content: "It has shipped." };
  await service.create({ input: [ASK, CALL, OUTPUT, said, { role: "user", content: "And order 8?" }] });
  const messages = model.requests[0]?.messages.filter(({ role }) => role !== "system");
  expect(messages?.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
  expect(messages?.at(-1)?.content).toBe("And order 8?");
});

test("a replay names its call by reference to an earlier response of the same user", async () => {
  const model = await scriptedModel();
  model.script({
    text: "Let me look.",
    calls: [{ id: "call_1", name: "find_order", arguments: { number: 7 } }],
  });
  const service = await startService({ model });
  const waiting = await service.create({ input: "Where is order 7?", tools: TOOLS });
  const references = waiting.output.map(({ id }) => ({ type: "item_reference", id }));
  model.script({ text: "It has shipped." });
  const response = await service.create({ input: [ASK, ...references, OUTPUT], tools: TOOLS });
  expect(textOf(response)).toBe("It has shipped.");
  // It goes on from the response that it repeats.
  expect(response.id.slice(-32)).toBe(waiting.id.slice(-32));
  const messages = model.requests[1]?.messages.filter(({ role }) => role !== "system");
  expect(messages?.[1]).toMatchObject({
    role: "assistant",
    content: "Let me look.",
    tool_calls: [{ id: "call_1" }],
  });

  const stranger = await service.tokenOf("mallory");
  const refused = await service.send(
    "POST",
    "/api/v1/responses",
    { model: "any", input: [ASK, ...references, OUTPUT] },
    { authorization: `Bearer ${stranger}` },
  );
  expect(refused.status).toBe(400);
});

test.each([
  ["an output whose call comes later", [ASK, OUTPUT, CALL]],
  ["an output whose call is another one", [ASK, CALL, { ...OUTPUT, call_id: "call_2" }]],
  ["one output with a call and one without", [ASK, CALL, OUTPUT, { ...OUTPUT, call_id: "call_2" }]],
])("§3.2 %s is no replay but a resume without previous_response_id: 400", async (_title, input) => {
  const service = await startService();
  const answer = await service.send("POST", "/api/v1/responses", { model: "any", input });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { param: "previous_response_id" } });
});

test("RESPONSES_STATELESS_REPLAY=false turns replays into 400", async () => {
  const service = await startService({ variables: { RESPONSES_STATELESS_REPLAY: "false" } });
  const answer = await service.send("POST", "/api/v1/responses", {
    model: "any",
    input: [ASK, CALL, OUTPUT],
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { param: "previous_response_id" } });
});

test("a loop of sixty rounds that replays 85 kB in a window of 33k ends, and nothing is summarised", async () => {
  const model = await scriptedModel();
  let rounds = 0;
  model.otherwise(({ messages }) => {
    const calls = messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
    if (calls.length !== rounds || calls.some((output, at) => !output.includes(`result ${at + 1} `)))
      return { text: "Lost." };
    if (rounds === 60) return { text: "All found." };
    rounds += 1;
    return { calls: [{ id: `call_${rounds}`, name: "find_order", arguments: { number: rounds } }] };
  });
  const service = await startService({ model, variables: { MODEL_CONTEXT_TOKENS: "32600" } });
  const input: unknown[] = [{ role: "user", content: "Find all of them." }];
  for (;;) {
    const response = await service.create({ input, tools: TOOLS });
    const call = response.output.at(-1);
    if (call?.type !== "function_call") {
      expect(textOf(response)).toBe("All found.");
      break;
    }
    const output = `result ${rounds} ${"word ".repeat(270)}`;
    input.push(call, { type: "function_call_output", call_id: call.call_id, output });
  }
  expect(rounds).toBe(60);
  expect(JSON.stringify(input).length).toBeGreaterThan(85_000);
  expect(model.requests).toHaveLength(61);
});

test("§2.5 input that does not fit fails with context_length_exceeded; truncation auto leaves out the middle", async () => {
  const model = await scriptedModel();
  const service = await startService({ model, variables: { MODEL_CONTEXT_TOKENS: "8000" } });
  const rounds = Array.from({ length: 30 }, (_, n) => [
    { ...CALL, call_id: `call_${n}` },
    { ...OUTPUT, call_id: `call_${n}`, output: `result ${n} ${"word ".repeat(280)}` },
  ]);
  const input = [ASK, ...rounds.flat()];
  const failed = await service.create({ input, tools: TOOLS });
  expect(failed).toMatchObject({
    status: "failed",
    truncation: "disabled",
    error: { code: "context_length_exceeded", message: expect.stringContaining("8,000") },
  });
  expect(model.requests).toEqual([]);
  const fitted = await service.create({ input, tools: TOOLS, truncation: "auto" });
  expect(fitted).toMatchObject({ status: "completed", truncation: "auto" });
  const asked = JSON.stringify(model.requests[0]?.messages);
  expect([asked.includes("Where is order 7?"), asked.includes("result 29 ")]).toEqual([true, true]);
  expect(asked).not.toContain("result 0 ");
});
