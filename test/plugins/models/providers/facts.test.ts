/** What real servers say of their models, each in its own words. */
import { expect, test } from "vitest";
import { listOffered, readLoaded } from "../../../../plugins/models/providers/facts.ts";
import { createProviderModel } from "../../../../plugins/models/providers/provider.ts";
import { openUpstream } from "../../../support/servers/upstream.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { afterThisTest } from "../../../support/undo.ts";

/** Answers these paths with these texts, and all others with 404. */
async function serverWith(pages: Readonly<Record<string, unknown>>, provider = "openai-compatible") {
  const upstream = await openUpstream(({ path }, response) => {
    const page = pages[path.split("?")[0] ?? ""];
    response.writeHead(page === undefined ? 404 : 200).end(JSON.stringify(page ?? {}));
  });
  afterThisTest(upstream.close);
  const server = { provider, baseUrl: `http://127.0.0.1:${upstream.port}/v1`, key: undefined };
  return { server, upstream };
}

test("Anthropic's list has windows and retirement, and is asked for whole", async () => {
  const { server, upstream } = await serverWith(
    {
      "/v1/models": {
        data: [
          { id: "claude-sonnet-6", max_input_tokens: 2_000_000, max_tokens: 128_000, retires_at: null },
          { id: "claude-sonnet-4-5", lifecycle: "deprecated", retires_at: "2026-11-30T00:00:00Z" },
        ],
      },
    },
    "anthropic",
  );
  expect(await listOffered(server)).toEqual([
    { name: "claude-sonnet-6", row: { window: 2_000_000, output: 128_000 } },
    { name: "claude-sonnet-4-5", row: { retires: "2026-11-30" } },
  ]);
  expect(upstream.requests[0]?.path).toBe("/v1/models?limit=1000");
});

test.each([
  ["a day", "2026-12-11"],
  ["seconds", Date.parse("2026-12-11T00:00:00Z") / 1000],
])("OpenAI's list has the shutdown date, in %s", async (_, shutdown_date) => {
  const { server } = await serverWith({
    "/v1/models": { data: [{ id: "gpt-5-mini", shutdown_date }, { id: 7 }, 8] },
  });
  expect(await listOffered(server)).toEqual([{ name: "gpt-5-mini", row: { retires: "2026-12-11" } }]);
});

test("OpenRouter's list has the price of a token, the window, the inputs and whether it calls tools", async () => {
  const { server } = await serverWith({
    "/v1/models": {
      data: [
        {
          id: "vendor/model-1.2",
          context_length: 262_144,
          pricing: { prompt: "0.0000003", completion: "0.0000025", input_cache_read: "0.00000003" },
          supported_parameters: ["temperature"],
          architecture: { input_modalities: ["text", "image"] },
          expiration_date: "2027-02-01",
        },
        {
          id: "openrouter/auto",
          pricing: { prompt: "-1", completion: "-1" },
          supported_parameters: ["tools"],
        },
      ],
    },
  });
  expect(await listOffered(server)).toEqual([
    {
      name: "vendor/model-1.2",
      row: {
        ...{ window: 262_144, retires: "2027-02-01", inputs: ["image"], tools: "none" },
        prices: [{ input: "0.3", output: "2.5", read: "0.03" }],
      },
    },
    { name: "openrouter/auto", row: {} },
  ]);
});

const SHOWN = {
  capabilities: ["completion", "vision", "tools"],
  model_info: { "general.architecture": "gemma4", "gemma4.context_length": 131_072 },
};

test.each([
  ["what is loaded", SHOWN, [{ name: "gemma4:12b", context_length: 4096 }], 4096],
  ["what is configured", { ...SHOWN, parameters: "stop x\nnum_ctx                        8192" }, [], 8192],
  ["what it was trained for", SHOWN, [{ name: "other", context_length: 4096 }], 131_072],
])("Ollama's window is %s", async (_, shown, models, window) => {
  const { server, upstream } = await serverWith({ "/api/show": shown, "/api/ps": { models } });
  expect(await readLoaded(server, "gemma4:12b")).toEqual({ window, inputs: ["image"] });
  expect(upstream.requests.find(({ path }) => path === "/api/show")).toMatchObject({
    method: "POST",
    body: '{"model":"gemma4:12b"}',
  });
});

test("llama.cpp and LM Studio tell the window that is loaded, and what the model can", async () => {
  const llama = await serverWith({
    "/props": {
      default_generation_settings: { n_ctx: 16_384 },
      modalities: { vision: false },
      chat_template_caps: { supports_tools: false },
    },
  });
  expect(await readLoaded(llama.server, "any")).toEqual({ window: 16_384, inputs: [], tools: "none" });
  const capabilities = { vision: true, trained_for_tool_use: true };
  const studio = await serverWith({
    "/api/v1/models": {
      models: [
        { key: "idle", max_context_length: 131_072, loaded_instances: [], capabilities },
        {
          key: "busy",
          max_context_length: 131_072,
          loaded_instances: [{ config: { context_length: 8192 } }],
          capabilities,
        },
      ],
    },
  });
  expect(await readLoaded(studio.server, "busy")).toEqual({ window: 8192, inputs: ["image"] });
  expect(await readLoaded(studio.server, "idle")).toEqual({ window: 131_072, inputs: ["image"] });
  expect(await readLoaded((await serverWith({})).server, "any")).toEqual({});
});

test("a model that cannot call tools is offered none", async () => {
  const server = await scriptedModel();
  const settings = {
    provider: "openai-compatible",
    name: "m",
    baseUrl: server.url,
    key: undefined,
    window: 1000,
  } as const;
  const request = {
    ...{ system: "", messages: [{ role: "user", text: "Hi" } as const], temperature: undefined },
    ...{
      tools: [{ name: "weather", description: "", schema: { type: "object" } }],
      toolChoice: "required" as const,
    },
  };
  for (const tools of [undefined, "none"] as const)
    for await (const _ of createProviderModel({ ...settings, tools }).stream(
      request,
      AbortSignal.timeout(5000),
    ));
  expect(server.requests.map((each) => ["tools" in each, "tool_choice" in each])).toEqual([
    [true, true],
    [false, false],
  ]);
});
