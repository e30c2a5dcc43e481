/** Every field of a request as a compatible server sees it. */

import { expect, test } from "vitest";
import { createProviderModel } from "../../../../../plugins/models/providers/provider.ts";
import type { ProviderName } from "../../../../../plugins/models/providers/server.ts";
import type { ModelMessage, ModelPart, ModelRequest } from "../../../../../plugins/models/services.ts";
import type { ModelServer } from "../../../../support/servers/model-server.ts";
import { scriptedModel } from "../../../../support/services/agent.ts";

const tool = (name: string) => ({ name, description: `The ${name}.`, schema: { type: "object" } });
const TOOLS = ["weather", "convert", "mail"].map(tool);
const CALL = { id: "c1", name: "weather", params: "{}" };
const LOOP: readonly ModelMessage[] = [
  { role: "user", text: "Weather?" },
  { role: "assistant", text: "", calls: [CALL], reasoning: "Look it up." },
  { role: "tool", call: CALL, output: "sunny", failed: false },
];
const PNG = { kind: "image", mime: "image/png", data: new Uint8Array([1, 2, 3]) } as const;

function speaker(server: ModelServer, provider: ProviderName = "openai-compatible") {
  const settings = { provider, name: "m", baseUrl: server.url, key: undefined, window: 1000 };
  const model = createProviderModel(settings);
  return async (request: Partial<ModelRequest> = {}): Promise<ModelPart[]> => {
    const whole = { system: "Be brief.", messages: [], tools: [], temperature: undefined, ...request };
    const parts: ModelPart[] = [];
    for await (const some of model.stream(whole, new AbortController().signal)) parts.push(...some);
    return parts;
  };
}

const shown = (server: ModelServer) => server.requests.at(-1)?.tools?.map((one) => one.function.name);

test("settings of an answer are sent by the names that every server reads", async () => {
  const server = await scriptedModel();
  await speaker(server)({
    tools: TOOLS,
    temperature: 1,
    parallelCalls: false,
    generation: {
      temperature: 0.2,
      topP: 0.9,
      seed: 7,
      stop: ["END"],
      maxOutputTokens: 50,
      reasoningEffort: "low",
      reasoningSummary: "auto",
      cacheKey: "thread-1",
      safetyIdentifier: "ann",
    },
  });
  const { messages: _, tools: __, ...fields } = server.requests[0] ?? {};
  expect(fields).toEqual({
    model: "m",
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0.2,
    top_p: 0.9,
    seed: 7,
    stop: ["END"],
    max_tokens: 50,
    reasoning_effort: "low",
    prompt_cache_key: "thread-1",
    parallel_tool_calls: false,
    tool_choice: "auto",
  });
});

test("what is not asked for is not sent", async () => {
  const server = await scriptedModel();
  await speaker(server)({ parallelCalls: true, generation: { stop: [] } });
  expect(Object.keys(server.requests[0] ?? {}).sort()).toEqual([
    "messages",
    "model",
    "stream",
    "stream_options",
  ]);
});

test.each([
  ["auto", "auto", ["weather", "convert", "mail"]],
  ["required", "required", ["weather", "convert", "mail"]],
  ["none", undefined, undefined],
  [{ mode: "required", names: ["mail"] }, "required", ["mail"]],
  [{ mode: "required", names: ["mail", "convert"] }, "required", ["convert", "mail"]],
  [{ mode: "auto", names: ["mail"] }, "auto", ["mail"]],
  [{ mode: "auto", names: ["gone"] }, undefined, undefined],
] as const)("tool choice %j is %j of %j", async (toolChoice, choice, names) => {
  const server = await scriptedModel();
  await speaker(server)({ tools: TOOLS, toolChoice });
  expect(server.requests[0]?.["tool_choice"]).toBe(choice);
  expect(shown(server)).toEqual(names);
});

test("with results in the thread the tools stay, unless the server would call them anyway", async () => {
  const server = await scriptedModel();
  await speaker(server)({ tools: TOOLS, toolChoice: "none", messages: LOOP });
  expect(server.requests[0]).toMatchObject({ tool_choice: "none" });
  expect(shown(server)).toHaveLength(3);
  await speaker(server, "ollama")({ tools: TOOLS, toolChoice: "none", messages: LOOP });
  expect(server.requests[1]).not.toHaveProperty("tool_choice");
  expect(shown(server)).toBeUndefined();
});

test("a format is asked for, a JSON object in words, too", async () => {
  const server = await scriptedModel();
  const ask = speaker(server);
  const schema = { type: "object", properties: { city: { type: "string" } } };
  await ask({
    format: { type: "json_schema", name: "place", description: "A place.", schema, strict: true },
  });
  expect(server.requests[0]?.["response_format"]).toEqual({
    type: "json_schema",
    json_schema: { name: "place", description: "A place.", schema, strict: true },
  });
  await ask({ format: { type: "json_object" } });
  expect(server.requests[1]?.["response_format"]).toEqual({ type: "json_object" });
  expect(server.requests[1]?.messages[0]?.content).toMatch(/^Be brief\.\n\n.*JSON/);
});

test("with tools to call the format is told in words: it would keep such a server from calling any", async () => {
  const server = await scriptedModel();
  const ask = speaker(server);
  const schema = { type: "object", properties: { city: { type: "string" } } };
  const format = { type: "json_schema", name: "place", schema, strict: true } as const;
  await ask({ tools: TOOLS, format });
  expect(server.requests[0]).not.toHaveProperty("response_format");
  expect(server.requests[0]?.messages[0]?.content).toContain(JSON.stringify(schema));
  await ask({ tools: TOOLS, format, toolChoice: "none", messages: LOOP });
  expect(server.requests[1]).toMatchObject({ response_format: { type: "json_schema" }, tool_choice: "none" });
  expect(server.requests[1]?.messages[0]?.content).toBe("Be brief.");
});

test("images, audio and files go ahead of the words about them", async () => {
  const server = await scriptedModel();
  const attachments = [
    { ...PNG, detail: "low" },
    { kind: "audio", mime: "audio/mpeg", data: new Uint8Array([4]) },
    { kind: "file", mime: "application/pdf", data: new Uint8Array([5]), name: "a.pdf" },
  ] as const;
  await speaker(server)({
    messages: [
      { role: "user", text: "What is it?", attachments },
      { role: "user", text: "", attachments: [PNG] },
    ],
  });
  const image = { url: "data:image/png;base64,AQID" };
  expect(server.requests[0]?.messages.slice(1).map(({ content }) => content)).toEqual([
    [
      { type: "image_url", image_url: { ...image, detail: "low" } },
      { type: "input_audio", input_audio: { data: "BA==", format: "mp3" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,BQ==" } },
      { type: "text", text: "What is it?" },
    ],
    [{ type: "image_url", image_url: image }],
  ]);
});

test("what results carry comes after all of them, in the user's name", async () => {
  const server = await scriptedModel();
  const other = { id: "c2", name: "screenshot", params: "{}" };
  await speaker(server)({
    messages: [
      { role: "user", text: "Look." },
      { role: "assistant", text: "", calls: [CALL, other] },
      { role: "tool", call: other, output: "done", failed: false, attachments: [PNG] },
      { role: "tool", call: CALL, output: "sunny", failed: false },
      { role: "assistant", text: "I see.", calls: [] },
    ],
  });
  const asked = server.requests[0]?.messages ?? [];
  expect(asked.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "tool",
    "user",
    "assistant",
  ]);
  expect(asked[3]?.content).toBe("done");
  expect(asked[5]?.content).toEqual([
    { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } },
    { type: "text", text: expect.stringContaining("screenshot") },
  ]);
});

test("thoughts go back by the name they came by, and only to a server that has any", async () => {
  const server = await scriptedModel();
  const ask = speaker(server);
  server.script({ text: "ok" }, { reasoning: ["Hm, ", "so."], text: "ok" });
  const [, ...rest] = LOOP;
  const messages = [...LOOP, { role: "user", text: "Again?" } as const, ...rest.map((one) => ({ ...one }))];
  await ask({ messages });
  expect(await ask({ messages })).toMatchObject([
    { type: "reasoning", delta: "Hm, " },
    { type: "reasoning", delta: "so." },
    { type: "text", delta: "ok" },
    { type: "finish", reason: "stop" },
    { type: "usage" },
  ]);
  await ask({ messages });
  const thoughts = server.requests.map((asked) =>
    asked.messages.flatMap((message, at) => ("reasoning_content" in message ? [at] : [])),
  );
  expect(thoughts).toEqual([[], [], [2, 5]]);
});
