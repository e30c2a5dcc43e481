/** Every field of a request as Anthropic sees it, and what comes back. */
import { expect, test } from "vitest";
import { createLessons } from "../../../../plugins/models/providers/lessons.ts";
import { createProviderModel } from "../../../../plugins/models/providers/provider.ts";
import type { ModelMessage, ModelPart, ModelRequest } from "../../../../plugins/models/services.ts";
import { type EventServer, startEventServer } from "../../../support/servers/event-server.ts";

function speaker({ url: baseUrl }: EventServer, name = "claude-sonnet-4-5", lessons = createLessons()) {
  const settings = { provider: "anthropic", name, baseUrl, key: "k", window: 1000, lessons } as const;
  const model = createProviderModel(settings);
  return async (request: Partial<ModelRequest>): Promise<ModelPart[]> => {
    const whole = { system: "Be brief.", messages: [], tools: [], temperature: undefined, ...request };
    const parts: ModelPart[] = [];
    for await (const some of model.stream(whole, new AbortController().signal)) parts.push(...some);
    return parts;
  };
}

const START = {
  type: "message_start",
  message: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
};
const block = (index: number, content: object, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block: content },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const end = (reason: string) => [
  { type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 7 } },
  { type: "message_stop" },
];
const SAID = block(0, { type: "text", text: "" }, { type: "text_delta", text: "Yes." });
const ANSWER = [START, ...SAID, ...end("end_turn")];
const THINKING = block(
  0,
  { type: "thinking", thinking: "", signature: "" },
  { type: "thinking_delta", thinking: "Look it " },
  { type: "thinking_delta", thinking: "up." },
  { type: "signature_delta", signature: "sealed" },
);
const CALLING = [
  START,
  ...THINKING,
  ...block(
    1,
    { type: "tool_use", id: "c1", name: "weather", input: {} },
    { type: "input_json_delta", partial_json: "{}" },
  ),
  ...end("tool_use"),
];

const USER: ModelMessage = { role: "user", text: "Weather?" };
const TOOLS = ["weather", "mail"].map((name) => ({ name, description: "", schema: { type: "object" } }));
const CALL = { id: "c1", name: "weather", params: "{}" };
const PNG = { kind: "image", mime: "image/png", data: new Uint8Array([1, 2, 3]) } as const;

test("settings of an answer are sent by Anthropic's names", async () => {
  const server = await startEventServer(ANSWER);
  await speaker(server)({
    messages: [USER],
    tools: TOOLS,
    parallelCalls: false,
    toolChoice: { mode: "required", names: ["mail"] },
    generation: {
      topP: 0.9,
      seed: 7,
      stop: ["END"],
      maxOutputTokens: 50,
      cacheKey: "k",
      safetyIdentifier: "ann",
    },
  });
  const [asked] = server.requests;
  expect(asked).toMatchObject({
    path: "/v1/messages",
    body: {
      top_p: 0.9,
      stop_sequences: ["END"],
      max_tokens: 50,
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      cache_control: { type: "ephemeral" },
      metadata: { user_id: "ann" },
    },
  });
  expect(asked?.body["tools"]).toMatchObject([{ name: "mail" }]);
  expect(asked?.body).not.toHaveProperty("thinking");
});

test("an effort makes it think, and its thoughts go back as it sealed them", async () => {
  const server = await startEventServer(CALLING, ANSWER);
  const ask = speaker(server);
  const generation = { reasoningEffort: "low", maxOutputTokens: 50 };
  expect(await ask({ messages: [USER], tools: TOOLS, generation })).toEqual([
    { type: "reasoning", delta: "Look it " },
    { type: "reasoning", delta: "up." },
    { type: "call", call: CALL },
    { type: "finish", reason: "tool_calls" },
    { type: "usage", inputTokens: 1, outputTokens: 7, cachedTokens: 0, reasoningTokens: 0 },
  ]);
  const loop: readonly ModelMessage[] = [
    USER,
    { role: "assistant", text: "", calls: [CALL], reasoning: "Look it up." },
    { role: "tool", call: CALL, output: "sunny", failed: false },
  ];
  await ask({ messages: loop, tools: TOOLS, generation });
  expect(server.requests[1]?.body).toMatchObject({
    thinking: { type: "enabled" },
    messages: [
      { role: "user" },
      {
        role: "assistant",
        content: [{ type: "thinking", thinking: "Look it up.", signature: "sealed" }, { type: "tool_use" }],
      },
      { role: "user" },
    ],
  });
  // A model that was asked before the restart cannot be asked to think: what it thought then is gone.
  await speaker(server)({ messages: loop, tools: TOOLS, generation });
  expect(server.requests[2]?.body).not.toHaveProperty("thinking");
});

test("images and PDFs are shown where they are, also in a result; a text file is read", async () => {
  const server = await startEventServer(ANSWER);
  const pdf = { kind: "file", mime: "application/pdf", data: new Uint8Array([4]), name: "a.pdf" } as const;
  const notes = { kind: "file", mime: "text/csv", data: Buffer.from("a,b"), name: "n.csv" } as const;
  await speaker(server)({
    messages: [
      { role: "user", text: "What is it?", attachments: [PNG, pdf, notes] },
      { role: "assistant", text: "", calls: [CALL] },
      { role: "tool", call: CALL, output: "sunny", failed: false, attachments: [PNG] },
    ],
  });
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AQID" } };
  expect(server.requests[0]?.body["messages"]).toMatchObject([
    {
      content: [
        image,
        { type: "document", source: { media_type: "application/pdf", data: "BA==" } },
        { type: "text", text: '<file name="n.csv">\na,b\n</file>\n\nWhat is it?' },
      ],
    },
    { role: "assistant" },
    { content: [{ type: "tool_result", content: [{ type: "text", text: "sunny" }, image] }] },
  ]);
});

test("without tools to call, those of earlier calls are still described, and none may be called", async () => {
  const server = await startEventServer(ANSWER);
  await speaker(server)({
    messages: [
      USER,
      { role: "assistant", text: "", calls: [CALL] },
      { role: "tool", call: CALL, output: "sunny", failed: false },
    ],
  });
  expect(server.requests[0]?.body).toMatchObject({
    tools: [{ name: "weather" }],
    tool_choice: { type: "none" },
  });
});

test("a schema is asked for as the format of the answer", async () => {
  const server = await startEventServer(ANSWER);
  const schema = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  };
  await speaker(server)({
    messages: [USER],
    tools: TOOLS,
    format: { type: "json_schema", name: "place", schema, strict: true },
  });
  expect(server.requests[0]?.body).toMatchObject({
    output_config: { format: { type: "json_schema", schema: { properties: { city: { type: "string" } } } } },
    tool_choice: { type: "auto" },
  });
});

test.each([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["refusal", "content_filter"],
])("an answer that ends with %s has ended with %s", async (given, reason) => {
  const server = await startEventServer([START, ...SAID, ...end(given)]);
  expect(await speaker(server)({ messages: [USER] })).toMatchObject([
    { type: "text" },
    { type: "finish", reason },
    { type: "usage" },
  ]);
});

test("a hint that is refused is left out; a file that no model of the provider takes is refused in words", async () => {
  const error = { type: "invalid_request_error", message: "cache_control: Extra inputs are not permitted" };
  const server = await startEventServer({ status: 400, error }, ANSWER);
  const ask = speaker(server);
  await ask({ messages: [USER], generation: { cacheKey: "k", topP: 0.9 } });
  expect(server.requests.map(({ body }) => ["cache_control" in body, body["top_p"]])).toEqual([
    [true, 0.9],
    [false, 0.9],
  ]);
  const zip = { kind: "file", mime: "application/zip", data: new Uint8Array([1]) } as const;
  await expect(ask({ messages: [{ role: "user", text: "", attachments: [zip] }] })).rejects.toMatchObject({
    code: "model_refused",
    message: expect.stringContaining("application/zip"),
  });
});

const FORCE = { messages: [USER], tools: TOOLS, toolChoice: "required" } as const;

test("a model that may not be forced to call a tool is asked again without, also after a restart", async () => {
  const error = {
    type: "invalid_request_error",
    message: "Thinking may not be enabled when tool_choice forces tool use.",
  };
  const server = await startEventServer({ status: 400, error }, CALLING);
  const lessons = createLessons();
  for (let start = 0; start < 2; start++) {
    const generation = { reasoningEffort: "high" };
    expect(await speaker(server, "claude-next-9", lessons)({ ...FORCE, generation })).toHaveLength(5);
  }
  expect(server.requests.map(({ body }) => [body["tool_choice"], "thinking" in body])).toEqual([
    [{ type: "any" }, true],
    [{ type: "auto" }, true],
    [{ type: "auto" }, true],
  ]);
});

const INTERLEAVED = [
  START,
  ...THINKING,
  ...block(1, { type: "text", text: "" }, { type: "text_delta", text: "I will look." }),
  ...block(
    2,
    { type: "thinking", thinking: "", signature: "" },
    { type: "signature_delta", signature: "sealed too" },
  ),
  ...block(3, { type: "tool_use", id: "c1", name: "weather", input: {} }),
  ...end("tool_use"),
];
const LOOP: readonly ModelMessage[] = [
  USER,
  { role: "assistant", text: "I will look.", calls: [CALL], reasoning: "Look it up." },
  { role: "tool", call: CALL, output: "sunny", failed: false },
];

test("an answer goes back as it came: every thought in its place, the empty ones too", async () => {
  const server = await startEventServer(INTERLEAVED, ANSWER);
  const ask = speaker(server, "claude-sonnet-5-5");
  await ask({ messages: [USER], tools: TOOLS });
  await ask({ messages: LOOP, tools: TOOLS });
  expect(server.requests[1]?.body["messages"]).toMatchObject([
    { role: "user" },
    {
      content: [
        { type: "thinking", thinking: "Look it up.", signature: "sealed" },
        { type: "text", text: "I will look." },
        { type: "thinking", thinking: "", signature: "sealed too" },
        { type: "tool_use", id: "c1" },
      ],
    },
    { role: "user" },
  ]);
});

test("thoughts are left out once what was before them has changed, and at another model", async () => {
  const message =
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block.";
  const error = { type: "invalid_request_error", message };
  const server = await startEventServer(INTERLEAVED, { status: 400, error }, ANSWER);
  const ask = speaker(server, "claude-sonnet-5-5");
  await ask({ messages: [USER], tools: TOOLS });
  const shortened = LOOP.with(0, { role: "user", text: "Wea…" });
  for (let time = 0; time < 2; time++) await ask({ messages: shortened, tools: TOOLS });
  await speaker(server, "claude-opus-5-5")({ messages: LOOP, tools: TOOLS });
  const thoughts = server.requests.map(
    ({ body }) => JSON.stringify(body["messages"]).split('"thinking",').length - 1,
  );
  expect(thoughts).toEqual([0, 2, 0, 0, 0]);
});
