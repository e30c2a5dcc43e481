/** The `openai` package, unchanged, as the client that programs already have. */
import OpenAI from "openai";
import type { FunctionTool, ResponseFunctionToolCall } from "openai/resources/responses/responses";
import { expect, test } from "vitest";
import { scriptedModel } from "../../support/services/agent.ts";
import { type Service, type ServiceOptions, startService, TOKEN } from "../../support/services/responses.ts";

const TOOLS: FunctionTool[] = [
  {
    type: "function",
    name: "find_order",
    description: "Finds an order by its number",
    strict: false,
    parameters: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  },
];

async function connect(
  options: ServiceOptions = {},
  prefix = "/api/v1",
): Promise<{ client: OpenAI; service: Service }> {
  const service = await startService(options);
  return { service, client: new OpenAI({ apiKey: TOKEN, baseURL: `${service.url}${prefix}` }) };
}

function callOf({ output }: OpenAI.Responses.Response): ResponseFunctionToolCall {
  const call = output.at(-1);
  if (call?.type !== "function_call") throw new Error("the response does not end with a function call");
  return call;
}

test.each(["/api/v1", "/v1"])(
  "§4.3 openai with the base URL %s: create, follow up, retrieve, list models",
  async (prefix) => {
    const model = await scriptedModel();
    model.script({ text: "Hello Ada." }, { text: "You are Ada." });
    const { client } = await connect({ model }, prefix);
    const first = await client.responses.create({ model: "gpt-5", input: "I am Ada." });
    expect(first.output_text).toBe("Hello Ada.");
    const second = await client.responses.create({
      model: "gpt-5",
      input: [{ role: "user", content: "Who am I?" }],
      previous_response_id: first.id,
    });
    expect(second.output_text).toBe("You are Ada.");
    const found = await client.responses.retrieve(second.id);
    expect(found).toMatchObject({
      id: second.id,
      model: "reborn",
      status: "completed",
      output: second.output,
    });
    const items = [];
    for await (const item of client.responses.inputItems.list(second.id)) items.push(item);
    expect(items).toMatchObject([{ role: "user", content: [{ type: "input_text", text: "Who am I?" }] }]);
    const models = [];
    for await (const { id } of client.models.list()) models.push(id);
    expect(models).toContain("reborn");
  },
);

test("§4.3 openai: a raw stream and the accumulating stream both give the whole text", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: ["Hel", "lo", "!"] });
  const { client } = await connect({ model });
  let text = "";
  for await (const event of await client.responses.create({ model: "gpt-5", input: "Hi", stream: true })) {
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  expect(text).toBe("Hello!");
  const stream = client.responses.stream({ model: "gpt-5", input: "Hi" });
  const deltas: string[] = [];
  stream.on("response.output_text.delta", ({ delta }) => deltas.push(delta));
  const final = await stream.finalResponse();
  // Where they are cut depends on the first letters of secrets, which are held back.
  expect(deltas.length).toBeGreaterThan(1);
  expect(deltas.join("")).toBe("Hello!");
  expect(final.output_text).toBe("Hello!");
});

test.each([false, true])("§4.3 openai: a function-tool round trip, streamed: %s", async (streamed) => {
  const model = await scriptedModel();
  model.script(
    { text: "Let me look.", calls: [{ id: "call_1", name: "find_order", arguments: { number: 7 } }] },
    { text: "Order 7 has shipped." },
  );
  const { client } = await connect({ model });
  const send = (body: Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, "model" | "tools">) => {
    const whole = { model: "gpt-5", tools: TOOLS, ...body };
    return streamed
      ? client.responses.stream({ ...whole, stream: true }).finalResponse()
      : client.responses.create(whole);
  };
  const asked = await send({ input: "Where is order 7?" });
  const call = callOf(asked);
  expect(JSON.parse(call.arguments)).toEqual({ number: 7 });
  const answer = await send({
    previous_response_id: asked.id,
    input: [{ type: "function_call_output", call_id: call.call_id, output: "shipped" }],
  });
  expect(answer.output_text).toBe("Order 7 has shipped.");
  expect(callOf(await client.responses.retrieve(asked.id))).toMatchObject({ id: call.id, call_id: "call_1" });
});

test("§4.3 openai: the builtin model takes a function-tool round trip too, and is retrieved after a restart", async () => {
  const { client, service } = await connect();
  const tools: FunctionTool[] = [
    {
      type: "function",
      name: "look_up_stock",
      description: "Looks up how many pieces of an article are in stock",
      strict: false,
      parameters: { type: "object", properties: { article: { type: "string" } }, required: ["article"] },
    },
  ];
  const asked = await client.responses.create({
    model: "any",
    input: 'Look up the stock of the article "red bike"',
    tools,
  });
  const call = callOf(asked);
  expect(call.name).toBe("look_up_stock");
  expect(JSON.parse(call.arguments)).toEqual({ article: "red bike" });
  expect(asked.usage).toMatchObject({ input_tokens: 0, output_tokens: 0, total_tokens: 0 });
  const answer = await client.responses.create({
    model: "any",
    previous_response_id: asked.id,
    tools,
    input: [{ type: "function_call_output", call_id: call.call_id, output: '{"pieces":12}' }],
  });
  expect(answer.output_text).toContain("12");
  await service.kernel.stop();
  const later = await startService({ home: service.kernel.home });
  const again = new OpenAI({ apiKey: TOKEN, baseURL: `${later.url}/api/v1` });
  expect((await again.responses.retrieve(answer.id)).output).toEqual(answer.output);
});

test("openai: a cancelled stream ends as a cancelled response, without an error", async () => {
  const model = await scriptedModel();
  model.script({ text: "Well,", end: "stall" });
  const { client } = await connect({ model });
  const stream = client.responses.stream({ model: "gpt-5", input: "Hi" });
  stream.on("response.output_text.delta", ({ snapshot }) => {
    if (snapshot === "Well,") void client.responses.cancel(id);
  });
  let id = "";
  stream.on("response.created", ({ response }) => (id = response.id));
  expect(await stream.finalResponse()).toMatchObject({ status: "cancelled", output_text: "Well," });
});

test("openai: cancel and delete", async () => {
  const model = await scriptedModel();
  model.script({ text: "Well,", end: "stall" });
  const { client } = await connect({ model });
  let id = "";
  for await (const event of await client.responses.create({ model: "gpt-5", input: "Hi", stream: true })) {
    if (event.type === "response.created") id = event.response.id;
    if (event.type === "response.output_text.delta") break;
  }
  const cancelled = await client.responses.cancel(id);
  expect(cancelled).toMatchObject({ id, status: "cancelled", model: "reborn" });
  await client.responses.delete(id);
  await expect(client.responses.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError);
});

test("§7.2 openai: errors come as its own classes with message, param and code", async () => {
  const { client, service } = await connect();
  const bad = client.responses.create({ model: "any", input: "Hi", temperature: 3 });
  await expect(bad).rejects.toMatchObject({
    status: 400,
    param: "temperature",
    code: "invalid_temperature",
    type: "invalid_request_error",
    requestID: expect.any(String),
  });
  await expect(bad).rejects.toThrow(OpenAI.BadRequestError);
  await expect(client.responses.retrieve(`resp_${"0".repeat(64)}`)).rejects.toThrow(OpenAI.NotFoundError);
  const stranger = new OpenAI({ apiKey: "nobody", baseURL: `${service.url}/api/v1`, maxRetries: 0 });
  await expect(stranger.responses.create({ model: "any", input: "Hi" })).rejects.toThrow(
    OpenAI.AuthenticationError,
  );
});

test("§7.2 openai: a failed turn is a response whose status and error say so, whole and streamed", async () => {
  const model = await scriptedModel();
  model.otherwise({ status: 400 });
  const { client } = await connect({ model });
  const failed = await client.responses.create({ model: "any", input: "Hi" });
  expect(failed).toMatchObject({ status: "failed", error: { message: expect.any(String) } });
  const seen: string[] = [];
  for await (const { type } of await client.responses.create({ model: "any", input: "Hi", stream: true }))
    seen.push(type);
  expect(seen.at(-1)).toBe("response.failed");
});

test("§8 openai: 429 is its rate-limit error, with the seconds to wait", async () => {
  const { service } = await connect({ variables: { CHAT_RATE_LIMIT: "1" } });
  const client = new OpenAI({ apiKey: TOKEN, baseURL: `${service.url}/v1`, maxRetries: 0 });
  await client.responses.create({ model: "any", input: "Hello" });
  const error = await client.responses
    .create({ model: "any", input: "Hello" })
    .catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(OpenAI.RateLimitError);
  expect(
    Number((error as InstanceType<typeof OpenAI.RateLimitError>).headers.get("retry-after")),
  ).toBeGreaterThan(0);
});
