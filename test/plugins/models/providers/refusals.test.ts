/** Servers that refuse a field which the answer could do without. */
import { expect, test } from "vitest";
import { createProviderModel } from "../../../../plugins/models/providers/provider.ts";
import type { ProviderName } from "../../../../plugins/models/providers/server.ts";
import type { ModelRequest } from "../../../../plugins/models/services.ts";
import type { ModelServer, Scripted } from "../../../support/servers/model-server.ts";
import { scriptedModel } from "../../../support/services/agent.ts";

function speaker(server: ModelServer, provider: ProviderName = "openai-compatible", name = "m") {
  const model = createProviderModel({
    provider,
    name,
    baseUrl: server.url,
    key: undefined,
    window: 1000,
  });
  return async (request: Partial<ModelRequest>): Promise<string> => {
    const whole = { system: "", messages: [], tools: [], temperature: undefined, ...request };
    let text = "";
    for await (const parts of model.stream(whole, new AbortController().signal))
      for (const part of parts) if (part.type === "text") text += part.delta;
    return text;
  };
}

/** Refuses each of these fields in its own words, one at a time. */
const refusing =
  (words: Readonly<Record<string, unknown>>, status = 400): Scripted =>
  (request) => {
    const field = Object.keys(words).find((name) => name in request);
    return field === undefined ? { text: "ok" } : { status, error: words[field] };
  };

const GENERATION = { temperature: 0.5, seed: 7, cacheKey: "k", reasoningEffort: "low", maxOutputTokens: 9 };

test.each([
  ["OpenAI's", { message: "Unrecognized request argument supplied: seed", type: "x" }, 400],
  ["OpenAI's newer", { message: "Unknown parameter.", param: "seed", code: "unknown_parameter" }, 400],
  [
    "pydantic's",
    [{ type: "extra_forbidden", loc: ["body", "seed"], msg: "Extra inputs are not permitted" }],
    422,
  ],
  ["serde's", "unknown field `seed`, expected one of `model`, `temperature`, `max_tokens`", 422],
  ["Go's", 'json: unknown field "seed"', 400],
])("a field refused in %s words is left out, then and ever after", async (_, error, status) => {
  const server = await scriptedModel();
  server.otherwise(refusing({ seed: error }, status));
  const ask = speaker(server);
  expect(await ask({ generation: GENERATION })).toBe("ok");
  expect(await ask({ generation: GENERATION })).toBe("ok");
  expect(server.requests.map((request) => "seed" in request)).toEqual([true, false, false]);
  expect(server.requests[2]).toMatchObject({ temperature: 0.5, max_tokens: 9, prompt_cache_key: "k" });
});

test("several are left out one after the other, and a limit goes by its newer name", async () => {
  const server = await scriptedModel();
  const unsupported = (name: string) => ({ message: `Unsupported parameter: '${name}' is not supported.` });
  server.otherwise(
    refusing({
      prompt_cache_key: unsupported("prompt_cache_key"),
      max_tokens: { message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." },
      stream_options: unsupported("stream_options"),
    }),
  );
  const ask = speaker(server);
  expect(await ask({ generation: GENERATION })).toBe("ok");
  expect(server.requests).toHaveLength(4);
  expect(server.requests[3]).toMatchObject({ seed: 7, max_completion_tokens: 9 });
  expect(await ask({ generation: GENERATION })).toBe("ok");
  expect(server.requests).toHaveLength(5);
});

test("a hint whose value is refused is left out of that answer only", async () => {
  const server = await scriptedModel();
  const error = { message: "Input should be 'low', 'medium' or 'high'", param: "reasoning_effort" };
  server.otherwise(({ reasoning_effort }) =>
    reasoning_effort === "minimal" ? { status: 400, error } : { text: "ok" },
  );
  const ask = speaker(server);
  expect(await ask({ generation: { reasoningEffort: "minimal" } })).toBe("ok");
  expect(await ask({ generation: { reasoningEffort: "low" } })).toBe("ok");
  expect(server.requests.map((request) => request["reasoning_effort"])).toEqual([
    "minimal",
    undefined,
    "low",
  ]);
});

test("a setting out of range is the caller's to hear of, and nothing is learnt from it", async () => {
  const server = await scriptedModel();
  server.script({ status: 400, error: { message: "temperature must be at most 2", param: "temperature" } });
  const ask = speaker(server);
  await expect(ask({ temperature: 5 })).rejects.toMatchObject({
    code: "model_refused",
    message: expect.stringContaining("temperature must be at most 2"),
  });
  await ask({ temperature: 1 });
  expect(server.requests.map(({ temperature }) => temperature)).toEqual([5, 1]);
});

test("a refusal that has another reason stays one, and costs no field", async () => {
  const server = await scriptedModel();
  const error = { message: "unknown model; you asked for temperature 0.5, seed 7" };
  server.script({ status: 400, error }, { status: 400, error: { message: "unknown model" } });
  const ask = speaker(server);
  await expect(ask({ generation: GENERATION })).rejects.toMatchObject({ code: "model_refused" });
  expect(await ask({ generation: GENERATION })).toBe("ok");
  expect(server.requests.at(-1)).toMatchObject({ temperature: 0.5, seed: 7 });
});

test("tools and formats are no hints: a server that refuses them fails the turn", async () => {
  const server = await scriptedModel();
  server.otherwise(refusing({ tools: { message: "Unknown parameter: 'tools'", param: "tools" } }));
  const tools = [{ name: "weather", description: "", schema: {} }];
  await expect(speaker(server)({ tools })).rejects.toMatchObject({ code: "model_refused" });
  expect(server.requests).toHaveLength(1);
});

test("thoughts that the server does not take back are left out", async () => {
  const server = await scriptedModel();
  const ask = speaker(server);
  server.script({ reasoning: "Hm.", text: "ok" });
  server.otherwise(({ messages }) =>
    messages.some((message) => "reasoning_content" in message)
      ? { status: 400, error: "Extra inputs are not permitted, field: 'messages[2].reasoning_content'" }
      : { text: "ok" },
  );
  const messages = [
    { role: "user", text: "Hi" },
    { role: "assistant", text: "Hi.", calls: [], reasoning: "Hm." },
  ] as const;
  await ask({ messages });
  expect(await ask({ messages })).toBe("ok");
  expect(await ask({ messages })).toBe("ok");
  expect(server.requests).toHaveLength(4);
});

test("OpenAI is asked again without the refused field alone, then and ever after, with tools and without apart", async () => {
  const server = await scriptedModel();
  const error = { message: "Unsupported parameter: 'prompt_cache_key'", param: "prompt_cache_key" };
  server.otherwise(refusing({ prompt_cache_key: error }));
  const ask = speaker(server, "openai");
  const generation = { cacheKey: "k", seed: 7, safetyIdentifier: "ann" };
  expect(await ask({ generation })).toBe("ok");
  expect(await ask({ generation })).toBe("ok");
  expect(server.requests.map((request) => "prompt_cache_key" in request)).toEqual([true, false, false]);
  const tools = [{ name: "weather", description: "", schema: { type: "object" } }];
  for (let turn = 0; turn < 2; turn++) await ask({ generation, tools });
  expect(server.requests.slice(3).map((request) => "prompt_cache_key" in request)).toEqual([
    true,
    false,
    false,
  ]);
  expect(server.requests[1]).toMatchObject({ seed: 7, safety_identifier: "ann" });
});

test.each([
  ["DeepSeek's", "deepseek-reasoner does not support this tool_choice"],
  ["Kimi's", "tool_choice 'required' is incompatible with thinking enabled"],
])("a call that may not be forced is left to the model, in %s words", async (_, message) => {
  const server = await scriptedModel();
  server.otherwise(({ tool_choice }) =>
    tool_choice === "required" ? { status: 400, error: { message } } : { text: "ok" },
  );
  const ask = speaker(server);
  const tools = [{ name: "weather", description: "", schema: { type: "object" } }];
  for (let turn = 0; turn < 2; turn++)
    await ask({ tools, toolChoice: "required", generation: { reasoningEffort: "high" } });
  expect(server.requests.map((request) => [request["tool_choice"], request["reasoning_effort"]])).toEqual([
    ["required", "high"],
    ["auto", "high"],
    ["auto", "high"],
  ]);
});

test("Claude behind a gateway is asked to cache up to the system text and the last message of the user, until that is refused", async () => {
  const server = await scriptedModel();
  const call = { id: "c1", name: "weather", params: "{}" };
  const messages = [
    { role: "user", text: "Hi" },
    { role: "assistant", text: "Hi.", calls: [] },
    { role: "user", text: "Weather?" },
    { role: "assistant", text: "", calls: [call] },
    { role: "tool", call, output: "sunny", failed: false },
  ] as const;
  const marked = () =>
    server.requests
      .at(-1)
      ?.messages.flatMap(({ content }, at) =>
        JSON.stringify(content).includes("cache_control") ? [at] : [],
      );
  const generation = { cacheKey: "k" };
  const ask = speaker(server, "openai-compatible", "anthropic/claude-sonnet-5.5");
  await ask({ system: "Be brief.", messages, generation });
  expect(marked()).toEqual([0, 3]);
  expect(server.requests[0]?.messages[0]?.content).toEqual([
    { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
  ]);
  await ask({ system: "Name it.", messages });
  expect(marked()).toEqual([]);
  await speaker(server, "openai-compatible", "openai/gpt-6.1-terra")({ messages, generation });
  expect(marked()).toEqual([]);
  server.script({
    status: 400,
    error: { message: "messages.0.content: cache_control: Extra inputs are not permitted" },
  });
  for (let time = 0; time < 2; time++) await ask({ messages, generation });
  expect(marked()).toEqual([]);
  expect(server.requests).toHaveLength(6);
});
