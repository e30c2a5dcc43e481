/** Every field of a request as OpenAI sees it, and what comes back. */
import { expect, test } from "vitest";
import { createLessons, openLessons } from "../../../../plugins/models/providers/lessons.ts";
import { createProviderModel } from "../../../../plugins/models/providers/provider.ts";
import type { ModelMessage, ModelPart, ModelRequest } from "../../../../plugins/models/services.ts";
import { startEventServer } from "../../../support/servers/event-server.ts";
import { scriptedModel } from "../../../support/services/agent.ts";

function speaker(baseUrl: string, name = "gpt-4o", lessons = createLessons()) {
  const model = createProviderModel({ provider: "openai", name, baseUrl, key: "k", window: 1000, lessons });
  return async (request: Partial<ModelRequest>): Promise<ModelPart[]> => {
    const whole = { system: "Be brief.", messages: [USER], tools: [], temperature: undefined, ...request };
    const parts: ModelPart[] = [];
    for await (const some of model.stream(whole, new AbortController().signal)) parts.push(...some);
    return parts;
  };
}

const USER: ModelMessage = { role: "user", text: "Weather?" };
const TOOLS = ["weather", "mail"].map((name) => ({ name, description: "", schema: { type: "object" } }));
const CALL = { id: "c1", name: "weather", params: "{}" };
const PNG = { kind: "image", mime: "image/png", data: new Uint8Array([1, 2, 3]) } as const;
const GENERATION = {
  temperature: 0.2,
  topP: 0.9,
  seed: 7,
  stop: ["END"],
  maxOutputTokens: 50,
  cacheKey: "thread-1",
  safetyIdentifier: "ann",
};

test("settings of an answer are sent by the names that its model takes", async () => {
  const server = await scriptedModel();
  const schema = { type: "object", properties: {} };
  await speaker(server.url)({
    tools: TOOLS,
    parallelCalls: true,
    toolChoice: { mode: "required", names: ["mail"] },
    generation: GENERATION,
    format: { type: "json_schema", name: "place", schema, strict: false },
  });
  expect(server.requests[0]).toMatchObject({
    temperature: 0.2,
    top_p: 0.9,
    seed: 7,
    stop: ["END"],
    max_tokens: 50,
    prompt_cache_key: "thread-1",
    safety_identifier: "ann",
    parallel_tool_calls: true,
    tool_choice: "required",
    tools: [{ function: { name: "mail" } }],
    response_format: { type: "json_schema", json_schema: { name: "place", strict: false } },
  });
  await speaker(
    server.url,
    "gpt-5",
  )({
    generation: { ...GENERATION, reasoningEffort: "low" },
    format: { type: "json_object" },
  });
  expect(server.requests[1]).toMatchObject({
    max_completion_tokens: 50,
    reasoning_effort: "low",
    response_format: { type: "json_object" },
  });
  expect(server.requests[1]).not.toHaveProperty("temperature");
});

test("images, audio and PDFs are shown; what results carry comes after them", async () => {
  const server = await scriptedModel();
  const wav = { kind: "audio", mime: "audio/x-wav", data: new Uint8Array([4]) } as const;
  const pdf = { kind: "file", mime: "application/pdf", data: new Uint8Array([5]), name: "a.pdf" } as const;
  await speaker(server.url)({
    messages: [
      { role: "user", text: "What is it?", attachments: [{ ...PNG, detail: "low" }, wav, pdf] },
      { role: "assistant", text: "", calls: [CALL] },
      { role: "tool", call: CALL, output: "sunny", failed: false, attachments: [PNG] },
    ],
  });
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } };
  expect(server.requests[0]?.messages.slice(1)).toMatchObject([
    {
      content: [
        { ...image, image_url: { ...image.image_url, detail: "low" } },
        { type: "input_audio", input_audio: { data: "BA==", format: "wav" } },
        { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,BQ==" } },
        { type: "text", text: "What is it?" },
      ],
    },
    { role: "assistant" },
    { role: "tool", content: "sunny" },
    { role: "user", content: [image, { type: "text" }] },
  ]);
});

test.each([
  ["stop", "stop"],
  ["length", "length"],
  ["content_filter", "content_filter"],
])("an answer that ends with %s has ended with %s", async (finish, reason) => {
  const server = await scriptedModel();
  server.script({ text: "Hi", finish });
  expect(await speaker(server.url)({})).toContainEqual(expect.objectContaining({ type: "finish", reason }));
});

const ITEM = { id: "rs_1", type: "reasoning", summary: [] };
const SUMMARY = (index: number, text: string) => [
  {
    type: "response.reasoning_summary_part.added",
    item_id: "rs_1",
    output_index: 0,
    summary_index: index,
    part: { type: "summary_text", text: "" },
  },
  {
    type: "response.reasoning_summary_text.delta",
    item_id: "rs_1",
    output_index: 0,
    summary_index: index,
    delta: text,
  },
  { type: "response.reasoning_summary_part.done", item_id: "rs_1", output_index: 0, summary_index: index },
];
const FUNCTION = {
  id: "fc_1",
  type: "function_call",
  call_id: "c1",
  name: "weather",
  arguments: "{}",
  status: "completed",
};
const USAGE = {
  input_tokens: 3,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 2 },
};
const THINKING = [
  { type: "response.created", response: { id: "r", created_at: 1, model: "gpt-5", service_tier: null } },
  { type: "response.output_item.added", output_index: 0, item: ITEM },
  ...SUMMARY(0, "Look it up."),
  ...SUMMARY(1, "Then say it."),
  { type: "response.output_item.done", output_index: 0, item: { ...ITEM, encrypted_content: "sealed" } },
  { type: "response.output_item.added", output_index: 1, item: { ...FUNCTION, arguments: "" } },
  { type: "response.output_item.done", output_index: 1, item: FUNCTION },
  { type: "response.completed", response: { incomplete_details: null, usage: USAGE, service_tier: null } },
];

test("whoever wants to read what the model thinks is answered by the Responses API, which keeps nothing", async () => {
  const server = await startEventServer(THINKING);
  const ask = speaker(server.url, "gpt-5");
  const generation = { reasoningEffort: "low", reasoningSummary: "auto", maxOutputTokens: 5 };
  expect(await ask({ tools: TOOLS, generation })).toEqual([
    { type: "reasoning", delta: "Look it up." },
    { type: "reasoning", delta: "\n\nThen say it." },
    { type: "call", call: CALL },
    { type: "finish", reason: "tool_calls" },
    { type: "usage", inputTokens: 3, outputTokens: 5, cachedTokens: 0, reasoningTokens: 2 },
  ]);
  expect(server.requests[0]).toMatchObject({
    path: "/v1/responses",
    body: {
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "low", summary: "auto" },
      max_output_tokens: 16,
    },
  });
  await ask({
    messages: [
      USER,
      { role: "assistant", text: "", calls: [CALL] },
      { role: "tool", call: CALL, output: "sunny", failed: false },
    ],
    tools: TOOLS,
    generation,
  });
  expect(server.requests[1]?.body["input"]).toMatchObject([
    { role: "developer" },
    { role: "user" },
    { type: "reasoning", encrypted_content: "sealed" },
    { type: "function_call", call_id: "c1" },
    { type: "function_call_output", output: "sunny" },
  ]);
});

test("a proxy without the Responses API is asked for chat completions, then and ever after", async () => {
  const chunk = (delta: object, finish_reason: string | null) => ({
    type: "chunk",
    id: "x",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const server = await startEventServer({ status: 404, error: { message: "no such path", type: "x" } }, [
    chunk({ content: "Hi" }, null),
    chunk({}, "stop"),
  ]);
  const ask = speaker(server.url, "gpt-5");
  for (let turn = 0; turn < 2; turn++) await ask({ generation: { reasoningSummary: "auto" } });
  expect(server.requests.map(({ path }) => path)).toEqual([
    "/v1/responses",
    "/v1/chat/completions",
    "/v1/chat/completions",
  ]);
});

test.each(["gpt-5.6-sol", "gpt-5.10-terra", "gpt-6-astra", "gpt-6.1-terra", "gpt-12-luna"])(
  "%s takes tools only at the Responses endpoint, and is asked there at once",
  async (name) => {
    const server = await startEventServer(THINKING);
    await speaker(server.url, name)({ tools: TOOLS });
    expect(server.requests[0]).toMatchObject({
      path: "/v1/responses",
      body: { store: false, include: ["reasoning.encrypted_content"] },
    });
    expect(server.requests[0]?.body).not.toHaveProperty("reasoning.summary");
  },
);

test("a model that a server refuses here and names the other endpoint for is asked there, also after a restart", async () => {
  const refused = (status: number, message: string) => ({
    status,
    error: { message, type: "invalid_request_error" },
  });
  const server = await startEventServer(
    refused(
      400,
      "Function tools with reasoning are not supported in /v1/chat/completions. Use /v1/responses instead.",
    ),
    THINKING,
  );
  const kept = new Map<string, readonly string[]>();
  const restart = async () => {
    const lessonsOf = await openLessons(
      { set: async (key, lessons) => kept.set(key, lessons), iterator: () => entriesOf(kept) },
      (error) => expect.unreachable(String(error)),
    );
    return speaker(server.url, "next-year-1", lessonsOf({ baseUrl: server.url }, "next-year-1"));
  };
  for (let start = 0; start < 2; start++) expect(await (await restart())({ tools: TOOLS })).toHaveLength(5);
  const paths = () => server.requests.map(({ path }) => path);
  expect(paths()).toEqual(["/v1/chat/completions", "/v1/responses", "/v1/responses"]);
  expect([...kept.values()]).toEqual([["responses"]]);
});

test("the end of the system text is marked for the cache of a thread, until the model refuses it", async () => {
  const error = { message: "Unknown parameter: 'input[0].content[0].prompt_cache_breakpoint'.", type: "x" };
  const server = await startEventServer(THINKING, { status: 400, error }, THINKING, THINKING);
  const ask = speaker(server.url, "gpt-6.1-terra", createLessons(["responses"]));
  await ask({ messages: [USER] });
  for (let time = 0; time < 2; time++) await ask({ messages: [USER], generation: { cacheKey: "thread-1" } });
  expect(server.requests.map(({ body }) => body["prompt_cache_key"])).toEqual([
    undefined,
    ...Array(3).fill("thread-1"),
  ]);
  const marks = server.requests.map(({ body }) => JSON.stringify(body).includes("prompt_cache_breakpoint"));
  expect(marks).toEqual([false, true, false, false]);
  expect(server.requests[1]?.body["input"]).toMatchObject([
    { role: "developer", content: [{ prompt_cache_breakpoint: { mode: "explicit" } }] },
    { role: "user" },
  ]);
});

test("sealed thoughts are asked of every model at the Responses endpoint, until one has none; a seal that cannot be read is left out", async () => {
  const error = (message: string) => ({ status: 400, error: { message, type: "invalid_request_error" } });
  const server = await startEventServer(
    THINKING,
    error("The encrypted content gAAA... could not be verified."),
    THINKING,
  );
  const lessons = createLessons(["responses"]);
  const ask = speaker(server.url, "next-year-1", lessons);
  const messages: readonly ModelMessage[] = [
    USER,
    { role: "assistant", text: "", calls: [CALL] },
    { role: "tool", call: CALL, output: "sunny", failed: false },
  ];
  await ask({ tools: TOOLS });
  await ask({ messages, tools: TOOLS });
  const sealed = server.requests.map(({ body }) => JSON.stringify(body["input"]).includes('"sealed"'));
  expect(sealed).toEqual([false, true, false]);
  expect(server.requests[0]?.body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });

  const plain = await startEventServer(
    error("Encrypted content is not supported with this model."),
    THINKING,
  );
  const askPlain = speaker(plain.url, "plain-1", createLessons(["responses"]));
  for (let turn = 0; turn < 2; turn++) await askPlain({ tools: TOOLS });
  expect(plain.requests.map(({ body }) => body["include"]?.toString())).toEqual([
    "reasoning.encrypted_content",
    undefined,
    undefined,
  ]);
});

test("a refusal that names no other endpoint is not tried anywhere else", async () => {
  const server = await startEventServer({ status: 400, error: { message: "Too many tools.", type: "x" } });
  await expect(speaker(server.url)({ tools: TOOLS })).rejects.toThrow("Too many tools.");
  expect(server.requests).toHaveLength(1);
});

async function* entriesOf<Value>(map: ReadonlyMap<string, Value>) {
  yield* [...map];
}
