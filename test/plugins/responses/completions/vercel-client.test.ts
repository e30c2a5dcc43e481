/** Chat completions with Vercel's `ai`, through both of its providers for this format. */
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { type ServiceOptions, startService, TOKEN } from "../../../support/services/responses.ts";

const PROVIDERS = ["@ai-sdk/openai", "@ai-sdk/openai-compatible"] as const;

async function connect(provider: (typeof PROVIDERS)[number], options: ServiceOptions) {
  const service = await startService(options);
  const settings = { apiKey: TOKEN, baseURL: `${service.url}/openai/v1` };
  const chat =
    provider === "@ai-sdk/openai"
      ? createOpenAI(settings).chat("gpt-5")
      : createOpenAICompatible({
          ...settings,
          name: "postern",
          includeUsage: true,
          supportsStructuredOutputs: true,
        }).chatModel("gpt-5");
  return { service, chat };
}

test.each(PROVIDERS)(
  "ai with %s: generateText and streamText give text, usage and reason",
  async (provider) => {
    const model = await scriptedModel();
    model.otherwise({ text: ["Hel", "lo", "!"], usage: { input: 7, output: 3 } });
    const { chat } = await connect(provider, { model });
    const whole = await generateText({ model: chat, system: "Be brief.", prompt: "Hi" });
    expect(whole.text).toBe("Hello!");
    expect(whole.usage).toMatchObject({ inputTokens: 7, outputTokens: 3 });
    const streamed = streamText({ model: chat, prompt: "Hi" });
    const errors: unknown[] = [];
    let text = "";
    for await (const part of streamed.fullStream) {
      if (part.type === "text-delta") text += part.text;
      // A chunk that its schema does not take would be one.
      if (part.type === "error") errors.push(part.error);
    }
    expect({ text, errors }).toEqual({ text: "Hello!", errors: [] });
    expect(await streamed.finishReason).toBe("stop");
    expect(await streamed.usage).toMatchObject({ inputTokens: 7, outputTokens: 3 });
  },
);

test.each(PROVIDERS)("ai with %s: the tool loop runs to its end, several calls at once", async (provider) => {
  const model = await scriptedModel();
  const rounds = [
    {
      text: "Let me look.",
      calls: [7, 8].map((number) => ({ id: `call_${number}`, name: "find_order", arguments: { number } })),
    },
    { text: "Both have shipped." },
  ];
  model.script(...rounds, ...rounds);
  const { chat } = await connect(provider, { model });
  for (const way of ["generateText", "streamText"]) {
    const ran: number[] = [];
    const request = {
      model: chat,
      prompt: `Where are orders 7 and 8? (${way})`,
      tools: {
        find_order: tool({
          inputSchema: jsonSchema<{ number: number }>({
            type: "object",
            properties: { number: { type: "integer" } },
          }),
          execute: async ({ number }) => {
            ran.push(number);
            return { state: "shipped" };
          },
        }),
      },
      stopWhen: stepCountIs(5),
    };
    const text = way === "generateText" ? (await generateText(request)).text : await streamText(request).text;
    expect(text).toBe("Both have shipped.");
    expect(ran.toSorted()).toEqual([7, 8]);
  }
});

test.each(PROVIDERS)("ai with %s: an object of a schema comes whole and in parts", async (provider) => {
  const model = await scriptedModel();
  model.otherwise({ text: ['{"state":', '"shipped"}'] });
  const { chat } = await connect(provider, { model });
  const output = Output.object({
    schema: jsonSchema<{ state: string }>({
      type: "object",
      properties: { state: { type: "string" } },
      required: ["state"],
      additionalProperties: false,
    }),
  });
  expect((await generateText({ model: chat, prompt: "Hi", output })).output).toEqual({ state: "shipped" });
  expect(await streamText({ model: chat, prompt: "Hi", output }).output).toEqual({ state: "shipped" });
});

test.each(PROVIDERS)(
  "ai with %s: an error comes with our words, and no turn runs twice",
  async (provider) => {
    const model = await scriptedModel();
    model.script({ calls: [{ name: "stock", arguments: {} }] });
    model.otherwise({ status: 401 });
    const run = () => ({ status: "ok", output: "12" }) as const;
    const { chat } = await connect(provider, { model, tools: { stock: { run } } });
    await expect(generateText({ model: chat, prompt: "Hi" })).rejects.toThrow(/API key/);
    // Once with the call of our tool, and once after it.
    expect(model.requests).toHaveLength(2);
  },
);
