/** Vercel's `ai` with `@ai-sdk/openai`, with its default tool loop, which replays everything. */
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { expect, test } from "vitest";
import { scriptedModel } from "../../support/services/agent.ts";
import { type ServiceOptions, startService, TOKEN } from "../../support/services/responses.ts";

async function connect(options: ServiceOptions = {}) {
  const service = await startService(options);
  return { service, openai: createOpenAI({ apiKey: TOKEN, baseURL: `${service.url}/api/v1` }) };
}

const findOrder = (ran: unknown[]) =>
  tool({
    description: "Finds an order by its number",
    inputSchema: jsonSchema<{ number: number }>({
      type: "object",
      properties: { number: { type: "integer" } },
      required: ["number"],
    }),
    execute: async (params) => {
      ran.push(params);
      return { number: params.number, state: "shipped" };
    },
  });

test("§4.3 ai: generateText and streamText give the whole text", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: ["Hel", "lo", "!"], usage: { input: 7, output: 3 } });
  const { openai } = await connect({ model });
  const whole = await generateText({ model: openai.responses("gpt-5"), system: "Be brief.", prompt: "Hi" });
  expect(whole.text).toBe("Hello!");
  expect(whole.usage).toMatchObject({ inputTokens: 7, outputTokens: 3 });
  const streamed = streamText({ model: openai.responses("gpt-5"), prompt: "Hi" });
  const deltas: string[] = [];
  for await (const delta of streamed.textStream) deltas.push(delta);
  // Where they are cut depends on the first letters of secrets, which are held back.
  expect(deltas.length).toBeGreaterThan(1);
  expect(deltas.join("")).toBe("Hello!");
  expect(await streamed.finishReason).toBe("stop");
});

test.each(["generateText", "streamText"])("ai: the default tool loop of %s runs to its end", async (way) => {
  const model = await scriptedModel();
  model.script(
    { text: "Let me look.", calls: [{ id: "call_1", name: "find_order", arguments: { number: 7 } }] },
    { calls: [{ id: "call_2", name: "find_order", arguments: { number: 8 } }] },
    { text: "Both have shipped." },
  );
  const { openai } = await connect({ model });
  const ran: unknown[] = [];
  const request = {
    model: openai.responses("gpt-5"),
    system: "Be brief.",
    prompt: "Where are orders 7 and 8?",
    tools: { find_order: findOrder(ran) },
    stopWhen: stepCountIs(5),
  };
  const text = way === "generateText" ? (await generateText(request)).text : await streamText(request).text;
  expect(text).toBe("Both have shipped.");
  expect(ran).toEqual([{ number: 7 }, { number: 8 }]);
  const last = model.requests.at(-1)?.messages.filter(({ role }) => role === "tool");
  expect(last?.map(({ tool_call_id }) => tool_call_id)).toEqual(["call_1", "call_2"]);
});

test("ai: with store: false it replays the items themselves, and the loop runs to its end too", async () => {
  const model = await scriptedModel();
  model.script(
    { calls: [{ id: "call_1", name: "find_order", arguments: { number: 7 } }] },
    { text: "It has shipped." },
  );
  const { openai } = await connect({ model });
  const ran: unknown[] = [];
  const { text } = await generateText({
    model: openai.responses("gpt-5"),
    prompt: "Where is order 7?",
    tools: { find_order: findOrder(ran) },
    stopWhen: stepCountIs(5),
    providerOptions: { openai: { store: false } },
  });
  expect(text).toBe("It has shipped.");
  expect(ran).toHaveLength(1);
});

test("§7.2 ai: a refusal and a failed turn are told with their message", async () => {
  const model = await scriptedModel();
  model.otherwise({ status: 400 });
  const { openai } = await connect({ model });
  const hot = generateText({ model: openai.responses("any"), prompt: "Hi", temperature: 3, maxRetries: 0 });
  await expect(hot).rejects.toThrow(/temperature/);
  await expect(generateText({ model: openai.responses("any"), prompt: "Hi", maxRetries: 0 })).rejects.toThrow(
    /./,
  );
});

test("ai: a cancelled stream ends with what had come, neither stopped nor failed", async () => {
  const model = await scriptedModel();
  model.script({ text: "Well,", end: "stall" });
  const { openai, service } = await connect({ model });
  const errors: unknown[] = [];
  const streamed = streamText({
    model: openai.responses("gpt-5"),
    prompt: "Hi",
    onError: ({ error }) => void errors.push(error),
  });
  let text = "";
  for await (const delta of streamed.textStream) {
    text += delta;
    const [thread] = (await service.kernel.service("threads").list("operator")).items;
    const [turn] = (await service.kernel.service("threads").turns("operator", thread?.id ?? "")).items;
    service.kernel.service("agent").cancel("operator", turn?.id ?? "");
  }
  expect({ text, errors, reason: await streamed.finishReason }).toEqual({
    text: "Well,",
    errors: [],
    reason: "other",
  });
});
