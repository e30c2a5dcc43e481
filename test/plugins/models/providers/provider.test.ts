import { createServer } from "node:http";
import { expect, test } from "vitest";
import { createProviderModel } from "../../../../plugins/models/providers/provider.ts";
import type { ProviderName } from "../../../../plugins/models/providers/server.ts";
import type { ModelPart, ModelRequest } from "../../../../plugins/models/services.ts";
import { listen } from "../../../support/servers/listening.ts";
import { scriptedModel } from "../../../support/services/agent.ts";

const CALL = { id: "c1", name: "weather", params: '{"city":"Berlin"}' };
const REQUEST: ModelRequest = {
  system: "Be brief.",
  messages: [
    { role: "user", text: "Weather?" },
    { role: "assistant", text: "Looking.", calls: [CALL, { id: "c2", name: "weather", params: '{"city' }] },
    { role: "tool", call: CALL, output: "sunny", failed: false },
    { role: "tool", call: { id: "c2", name: "weather", params: '{"city' }, output: "bad JSON", failed: true },
  ],
  tools: [{ name: "weather", description: "Weather.", schema: { type: "object", properties: {} } }],
  temperature: 0.5,
};

async function partsOf(provider: ProviderName, baseUrl: string): Promise<ModelPart[]> {
  const model = createProviderModel({ provider, name: "some-model", baseUrl, key: "key-1", window: 1000 });
  const parts: ModelPart[] = [];
  for await (const some of model.stream(REQUEST, new AbortController().signal)) parts.push(...some);
  return parts;
}

test.each(["openai", "openai-compatible", "ollama"] as const)(
  "%s: text, calls and usage",
  async (provider) => {
    const server = await scriptedModel();
    server.script({
      text: ["It is ", "fine."],
      calls: [{ id: "c3", name: "weather", arguments: { city: "Rome" } }],
      usage: { input: 30, output: 7, cached: 10 },
    });
    expect(await partsOf(provider, server.url)).toEqual([
      { type: "text", delta: "It is " },
      { type: "text", delta: "fine." },
      { type: "call", call: { id: "c3", name: "weather", params: '{"city":"Rome"}' } },
      { type: "finish", reason: "tool_calls" },
      { type: "usage", inputTokens: 30, outputTokens: 7, cachedTokens: 10, reasoningTokens: 0 },
    ]);
    const [asked] = server.requests;
    expect(asked).toMatchObject({ model: "some-model", temperature: 0.5 });
    expect(asked?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "tool"]);
    expect(asked?.messages[2]?.tool_calls?.map((call) => call.function.arguments)).toEqual([
      '{"city":"Berlin"}',
      '{"malformed":"{\\"city"}',
    ]);
    expect(asked?.tools?.[0]?.function.name).toBe("weather");
  },
);

test("what was charged and what was written to a cache are counted", async () => {
  const server = await scriptedModel();
  server.script({ text: "Hi", usage: { input: 30, output: 7, cached: 10, written: 5, cost: 0.0021 } });
  expect((await partsOf("openai-compatible", server.url)).at(-1)).toEqual({
    ...{ type: "usage", inputTokens: 30, outputTokens: 7, reasoningTokens: 0 },
    ...{ cachedTokens: 10, cacheWriteTokens: 5, costUsd: 0.0021 },
  });
});

test("a server that cuts prompts without a word is noticed", async () => {
  const server = await scriptedModel();
  const cuts: number[][] = [];
  const settings = {
    provider: "ollama",
    name: "m",
    baseUrl: server.url,
    key: undefined,
    window: 128_000,
  } as const;
  const model = createProviderModel({ ...settings, onCut: (...cut) => cuts.push(cut) });
  const ask = async (words: number, input: number) => {
    server.script({ text: "Hi", usage: { input, output: 5 } });
    const request = {
      ...REQUEST,
      tools: [],
      messages: [{ role: "user", text: "word ".repeat(words) } as const],
    };
    for await (const _ of model.stream(request, new AbortController().signal));
  };
  await ask(16_000, 12_000);
  await ask(1000, 300);
  expect(cuts).toEqual([]);
  await ask(16_000, 4096);
  expect(cuts).toEqual([[4096, expect.any(Number)]]);
});

test("anthropic: text, calls and usage", async () => {
  const bodies: { messages: { role: string }[]; tools: { name: string }[] }[] = [];
  const events = [
    {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "some-model",
        content: [],
        stop_reason: null,
        usage: {
          ...{
            input_tokens: 20,
            output_tokens: 1,
            cache_read_input_tokens: 10,
            cache_creation_input_tokens: 8,
          },
          cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 3 },
        },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "It is fine." } },
    { type: "content_block_stop", index: 0 },
    {
      type: "content_block_start",
      index: 1,
      content_block: { type: "tool_use", id: "c3", name: "weather", input: {} },
    },
    { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"city":' } },
    { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '"Rome"}' } },
    { type: "content_block_stop", index: 1 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    bodies.push(JSON.parse(body));
    expect(request.headers["x-api-key"]).toBe("key-1");
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  const url = `${(await listen(server)).url}/v1`;
  expect(await partsOf("anthropic", url)).toEqual([
    { type: "text", delta: "It is fine." },
    { type: "call", call: { id: "c3", name: "weather", params: '{"city":"Rome"}' } },
    { type: "finish", reason: "tool_calls" },
    {
      ...{ type: "usage", inputTokens: 38, outputTokens: 7, cachedTokens: 10, reasoningTokens: 0 },
      ...{ cacheWriteTokens: 8, hourWriteTokens: 3 },
    },
  ]);
  expect(bodies[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(bodies[0]?.tools[0]?.name).toBe("weather");
});

test.each([
  [
    "openai",
    {
      id: "x",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta: { content: "Half" }, finish_reason: null }],
    },
  ],
  ["anthropic", { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Half" } }],
] as const)("%s: an answer that ends without a finish reason has broken off", async (provider, piece) => {
  const before =
    provider === "openai"
      ? []
      : [
          {
            type: "message_start",
            message: {
              id: "m",
              type: "message",
              role: "assistant",
              model: "m",
              content: [],
              stop_reason: null,
              usage: { input_tokens: 1, output_tokens: 1 },
            },
          },
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        ];
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end([...before, piece].map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  });
  const url = `${(await listen(server)).url}/v1`;
  await expect(partsOf(provider, url)).rejects.toMatchObject({
    code: "model_cut",
    message: expect.stringContaining("without a finish reason"),
  });
});
