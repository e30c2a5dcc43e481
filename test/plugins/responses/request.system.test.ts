import { expect, test } from "vitest";
import { bearer, startService, TOKEN } from "../../support/services/responses.ts";

const tool = (name: string, more: object = {}) => ({ type: "function", name, parameters: {}, ...more });

/** A tool that makes a payload of exactly so many bytes. */
function filledTo(bytes: number) {
  const name = "a".repeat(64);
  const empty = JSON.stringify([tool(name, { description: "" })]);
  return tool(name, { description: "x".repeat(bytes - empty.length) });
}

const REFUSED: readonly (readonly [title: string, param: string, body: object])[] = [
  ["§2.5 model is required", "model", { model: null }],
  ["§2.5 model must not be empty", "model", { model: "" }],
  ["§2.5 model must have no surrounding whitespace", "model", { model: " gpt" }],
  ["§2.5 model must have no trailing whitespace", "model", { model: "gpt\u00a0" }],
  ["§2.5 model must have no control characters", "model", { model: "g\u0000pt" }],
  ["§2.5, §8 model must not exceed 256 bytes", "model", { model: "é".repeat(129) }],
  ["§7.2 a malformed model", "model", { model: 7 }],
  ["§2.5, §7.2 temperature above 2.0", "temperature", { temperature: 2.01 }],
  ["§2.5, §7.2 temperature below 0.0", "temperature", { temperature: -0.1 }],
  ["§2.5 temperature is a number", "temperature", { temperature: "1" }],
  ["§2.5 stream is a boolean", "stream", { stream: "yes" }],
  ["§2.5 instructions are a text", "instructions", { instructions: ["x"] }],
  ["§2.5, §8 x_context over 10 KiB", "x_context", { x_context: { a: { b: "x".repeat(10_240) } } }],
  ["§2.5 x_context is an object", "x_context", { x_context: [1] }],
  ["a malformed previous_response_id", "previous_response_id", { previous_response_id: "resp_1" }],
  ["§2.5 tools is an array", "tools", { tools: {} }],
  [
    "§2.5 a tool of another type than function",
    "tools[1].type",
    { tools: [tool("a"), { type: "web_search" }] },
  ],
  ["§2.5 a tool without a type", "tools[0].type", { tools: [{ name: "a" }] }],
  ["§2.5 a tool without a name", "tools[0].name", { tools: [{ type: "function" }] }],
  ["§2.5, §8 a tool name with a character that is not allowed", "tools[0].name", { tools: [tool("a b")] }],
  ["§2.5, §8 a tool name of 65 characters", "tools[0].name", { tools: [tool("a".repeat(65))] }],
  ["§2.5 a tool name that is empty", "tools[0].name", { tools: [tool("")] }],
  ["§2.5 a tool name that comes twice", "tools[1].name", { tools: [tool("a"), tool("a")] }],
  ["§2.5 a tool that shadows mission_", "tools[0].name", { tools: [tool("mission_x")] }],
  ["§2.5 a tool that shadows skill_", "tools[0].name", { tools: [tool("skill_x")] }],
  ["§2.5 a tool that shadows memory_", "tools[0].name", { tools: [tool("memory_x")] }],
  ["§2.5 a tool that shadows a registered action", "tools[0].name", { tools: [tool("lights")] }],
  ["§2.5, §8 tools over 16 KiB", "tools", { tools: [filledTo(16_385)] }],
  ["§2.5 tool parameters are an object", "tools[0].parameters", { tools: [tool("a", { parameters: "x" })] }],
  ["an input that is missing", "input", { input: undefined }],
  ["an input that says nothing", "input", { input: "  " }],
  ["an input of no items", "input", { input: [] }],
  ["an input of the wrong type", "input", { input: 7 }],
  ["an item that is no object", "input[0]", { input: ["x"] }],
  ["an item of unknown type", "input[0].type", { input: [{ type: "computer_call" }] }],
  ["a message of unknown role", "input[0].role", { input: [{ role: "king", content: "x" }] }],
  ["a message without content", "input[0].content", { input: [{ role: "user" }] }],
  [
    "a text part without text",
    "input[0].content[1].text",
    {
      input: [{ role: "user", content: [{ type: "input_text", text: "x" }, { type: "input_text" }] }],
    },
  ],
];

test.each(REFUSED)("%s is 400 and names the field", async (_title, param, body) => {
  const run = () => ({ status: "ok", output: "on" }) as const;
  const service = await startService({ tools: { lights: { run } } });
  const answer = await service.send("POST", "/api/v1/responses", { model: "any", input: "Hi", ...body });
  expect(answer.status).toBe(400);
  const { error } = (await answer.json()) as { error: Record<string, string> };
  expect(error).toEqual({
    type: "invalid_request_error",
    param,
    code: expect.stringMatching(/^[a-z_]+$/),
    message: expect.stringContaining(param),
  });
});

test.each([
  ["a list", "[]"],
  ["a text", '"x"'],
  ["null", "null"],
  ["no JSON", "{"],
  ["nothing", ""],
])("a body that is %s is 400 in the envelope", async (_title, body) => {
  const service = await startService();
  const answer = await fetch(`${service.url}/api/v1/responses`, {
    method: "POST",
    body,
    headers: { ...bearer(TOKEN), "content-type": "application/json" },
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    error: { type: "invalid_request_error", code: expect.any(String) },
  });
});

const ACCEPTED: readonly (readonly [title: string, body: object])[] = [
  ["§2.5, §8 a model of 256 bytes", { model: "é".repeat(128) }],
  ["§2.5, §8 temperature 0.0", { temperature: 0 }],
  ["§2.5, §8 temperature 2.0", { temperature: 2 }],
  ["§2.5, §8 x_context of 10 KiB", { x_context: { a: { b: "x".repeat(10_240 - 14) } } }],
  [
    "§2.5, §8 tools of 16 KiB and a name of 64 characters",
    {
      tools: [filledTo(16_384)],
    },
  ],
  ["§2.5 any tool_choice", { tool_choice: { type: "allowed_tools", mode: "auto", tools: [] } }],
  [
    "§2.5 other request fields, whatever is in them",
    {
      max_output_tokens: "many",
      include: 7,
      store: false,
      background: true,
      conversation: {},
      prompt: [],
      parallel_tool_calls: "x",
      metadata: "x",
      never_heard_of: { deep: [[[]]] },
    },
  ],
  [
    "null for every optional field",
    {
      previous_response_id: null,
      stream: null,
      temperature: null,
      instructions: null,
      x_context: null,
      tools: null,
      tool_choice: null,
      metadata: null,
    },
  ],
  ["tools: []", { tools: [] }],
  [
    "a tool with null for all that is optional",
    {
      tools: [{ type: "function", name: "a", description: null, parameters: null, strict: null, more: 1 }],
    },
  ],
];

test.each(ACCEPTED)("%s is accepted", async (_title, body) => {
  const service = await startService();
  const response = await service.create({ input: "Hello", ...body });
  expect(response.status).toBe("completed");
});

test("§2.5 tools are said again with all five keys", async () => {
  const service = await startService();
  const { tools } = await service.create({
    input: "Hello",
    tools: [{ type: "function", name: "a", extra: 1 }],
  });
  expect(tools).toEqual([{ type: "function", name: "a", description: null, parameters: null, strict: null }]);
});

test("§8 a body over 14 MiB is 413 in the envelope", async () => {
  const service = await startService();
  const answer = await service.send("POST", "/api/v1/responses", {
    model: "any",
    input: "x".repeat(14 * 1024 * 1024),
  });
  expect(answer.status).toBe(413);
  expect(await answer.json()).toMatchObject({ error: { code: expect.any(String) } });
});

test.each([
  ["tools", { tools: [tool("a")] }],
  ["tool_choice", { tool_choice: "none" }],
])("§4.3, §7.2 without the external-tool wiring %s is 400 naming the field", async (param, body) => {
  const service = await startService({ unwired: true });
  const answer = await service.send("POST", "/api/v1/responses", { model: "any", input: "Hi", ...body });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { param, message: expect.stringContaining(param) } });
});

test("§4.3 without the external-tool wiring everything else works, and tools: [] is no use of it", async () => {
  const service = await startService({ unwired: true });
  const response = await service.create({ input: "Hello", tools: [], tool_choice: null });
  expect(response.status).toBe("completed");
});
