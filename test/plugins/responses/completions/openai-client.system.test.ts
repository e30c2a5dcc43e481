/** Chat completions with the `openai` package, unchanged: plain, streamed, its tool runner and its parser. */
import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { type ServiceOptions, startService, TOKEN } from "../../../support/services/responses.ts";

async function connect(options: ServiceOptions = {}) {
  const service = await startService(options);
  return { service, client: new OpenAI({ apiKey: TOKEN, baseURL: `${service.url}/openai/v1` }) };
}

const PARAMETERS = { type: "object", properties: { number: { type: "integer" } }, required: ["number"] };
const QUESTION: ChatCompletionMessageParam = { role: "user", content: "Where is order 7?" };

test("openai: create, a raw stream and the accumulating stream give the whole text", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: ["Hel", "lo", "!"], usage: { input: 7, output: 3 } });
  const { client } = await connect({ model });
  const body = { model: "gpt-5", messages: [QUESTION], stream_options: { include_usage: true } };
  const { stream_options: _, ...plain } = body;
  const whole = await client.chat.completions.create(plain);
  expect(whole.choices[0]?.message.content).toBe("Hello!");
  let text = "";
  for await (const chunk of await client.chat.completions.create({ ...body, stream: true }))
    text += chunk.choices[0]?.delta.content ?? "";
  expect(text).toBe("Hello!");
  const stream = client.chat.completions.stream(body);
  const deltas: string[] = [];
  stream.on("content", (delta) => deltas.push(delta));
  const final = await stream.finalChatCompletion();
  expect(deltas.length).toBeGreaterThan(1);
  expect(deltas.join("")).toBe("Hello!");
  expect(final).toMatchObject({
    model: "gpt-5",
    choices: [{ message: { content: "Hello!" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  });
});

test.each([false, true])(
  "openai: the tool runner goes through two rounds to its end, streamed: %s",
  async (stream) => {
    const model = await scriptedModel();
    model.script(
      {
        text: "Let me look.",
        calls: [7, 8].map((number) => ({ id: `call_${number}`, name: "find_order", arguments: { number } })),
      },
      { calls: [{ id: "call_9", name: "find_order", arguments: { number: 9 } }] },
      { text: "All have shipped." },
    );
    const { client } = await connect({ model });
    const ran: unknown[] = [];
    const body = {
      model: "gpt-5",
      messages: [{ role: "user" as const, content: "Where are orders 7, 8 and 9?" }],
      tools: [
        {
          type: "function" as const,
          function: {
            name: "find_order",
            description: "Finds an order by its number",
            parameters: PARAMETERS,
            parse: JSON.parse,
            function: (given: { number: number }) => {
              ran.push(given.number);
              return "shipped";
            },
          },
        },
      ],
    };
    const runner = stream
      ? client.chat.completions.runTools({ ...body, stream: true })
      : client.chat.completions.runTools(body);
    expect(await runner.finalContent()).toBe("All have shipped.");
    expect(ran).toEqual([7, 8, 9]);
  },
);

test("openai: parse gives the object of a json_schema", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: '{"state":"shipped"}' });
  const { client } = await connect({ model });
  const { choices } = await client.chat.completions.parse({
    model: "gpt-5",
    messages: [QUESTION],
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "order",
        strict: true,
        schema: {
          type: "object",
          properties: { state: { type: "string" } },
          required: ["state"],
          additionalProperties: false,
        },
      },
    },
  });
  expect(choices[0]?.message.parsed).toEqual({ state: "shipped" });
});

test("openai: the older functions go round by their names", async () => {
  const model = await scriptedModel();
  model.script({ calls: [{ name: "find_order", arguments: { number: 7 } }] }, { text: "It has shipped." });
  const { client } = await connect({ model });
  const functions = [{ name: "find_order", parameters: PARAMETERS }];
  const asked = await client.chat.completions.create({ model: "gpt-4", messages: [QUESTION], functions });
  const [choice] = asked.choices;
  expect(choice).toMatchObject({
    finish_reason: "function_call",
    message: { content: null, function_call: { name: "find_order", arguments: '{"number":7}' } },
  });
  const answer = await client.chat.completions.create({
    model: "gpt-4",
    messages: [
      QUESTION,
      ...(choice ? [choice.message] : []),
      { role: "function", name: "find_order", content: "shipped" },
    ],
    functions,
  });
  expect(answer.choices[0]?.message.content).toBe("It has shipped.");
});

test("openai: a custom tool is called with a text", async () => {
  const model = await scriptedModel();
  model.script(
    { calls: [{ id: "call_1", name: "patch", arguments: { input: "+ line" } }] },
    { text: "Done." },
  );
  const { client } = await connect({ model });
  const tools = [{ type: "custom" as const, custom: { name: "patch", description: "Takes a patch" } }];
  const stream = client.chat.completions.stream({ model: "gpt-5", messages: [QUESTION], tools });
  const asked = await stream.finalMessage();
  expect(asked.tool_calls).toMatchObject([
    { id: "call_1", type: "custom", custom: { name: "patch", input: "+ line" } },
  ]);
  const answer = await client.chat.completions.create({
    model: "gpt-5",
    messages: [QUESTION, asked, { role: "tool", tool_call_id: "call_1", content: "applied" }],
    tools,
  });
  expect(answer.choices[0]?.message.content).toBe("Done.");
});

test("openai: refusals, failed turns and failed streams are its own classes, and none runs a turn twice", async () => {
  const model = await scriptedModel();
  model.otherwise({ status: 401 });
  const { client } = await connect({ model });
  const messages = [QUESTION];
  await expect(
    client.chat.completions.create({ model: "any", messages, temperature: 3 }),
  ).rejects.toMatchObject({
    status: 400,
    param: "temperature",
    code: "invalid_temperature",
  });
  const failed = client.chat.completions.create({ model: "any", messages });
  await expect(failed).rejects.toThrow(OpenAI.InternalServerError);
  await expect(failed).rejects.toMatchObject({ status: 503, code: "model_unauthorized" });
  expect(model.requests).toHaveLength(1);
  const streamed = client.chat.completions.stream({ model: "any", messages }).finalContent();
  await expect(streamed).rejects.toMatchObject({ code: "model_unauthorized", type: "server_error" });
  expect(model.requests).toHaveLength(2);
  await expect(client.chat.completions.list()).rejects.toThrow(OpenAI.NotFoundError);
});

test("openai: a turn that needs an approval is a PermissionDeniedError that says where to give it", async () => {
  const model = await scriptedModel();
  model.script({ calls: [{ name: "door", arguments: {} }] });
  const run = () => ({ status: "ok", output: "open" }) as const;
  const { client, service } = await connect({ model, tools: { door: { run, writes: true } } });
  const asked = client.chat.completions.create({ model: "any", messages: [QUESTION] });
  await expect(asked).rejects.toThrow(OpenAI.PermissionDeniedError);
  await expect(asked).rejects.toThrow(`${service.url}/#/chat/`);
});
