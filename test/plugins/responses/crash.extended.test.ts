/** The real command line in a process that is killed, not asked to stop. */
import OpenAI from "openai";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { type PosternProcess, startPostern } from "../../support/processes/postern.ts";
import type { ModelServer } from "../../support/servers/model-server.ts";
import { scriptedModel } from "../../support/services/agent.ts";
import { TOKEN } from "../../support/services/responses.ts";

async function serve(
  home: string,
  model: ModelServer,
  prefix = "/api/v1",
): Promise<{ client: OpenAI; process: PosternProcess }> {
  const process = startPostern(["serve"], {
    cwd: home,
    env: {
      POSTERN_HOME: home,
      GATEWAY_PORT: "0",
      GATEWAY_AUTH_TOKEN: TOKEN,
      MODEL_BASE_URL: model.url,
      MODEL_NAME: "scripted",
    },
  });
  await process.printed("ready in");
  const [origin] = /http:\/\/\S+(?=\/api\/v1\/responses)/.exec(process.stdout()) ?? [];
  return { process, client: new OpenAI({ apiKey: TOKEN, baseURL: `${origin}${prefix}`, maxRetries: 0 }) };
}

test("§3.2 a pending call outlives a process that is killed, and so do the turns before it", async () => {
  const model = await scriptedModel();
  const home = temporaryFolder();
  const first = await serve(home, model);
  model.script(
    { text: "Hello Ada." },
    { text: "Let me look.", calls: [{ id: "call_1", name: "find_order", arguments: { number: 7 } }] },
    { text: "Well,", end: "stall" },
    { text: "It has shipped, Ada." },
  );
  const hello = await first.client.responses.create({ model: "any", input: "I am Ada." });
  const tools = [
    {
      type: "function" as const,
      name: "find_order",
      strict: false,
      parameters: { type: "object", properties: {} },
    },
  ];
  const asked = await first.client.responses.create({
    model: "any",
    input: "Where is order 7?",
    previous_response_id: hello.id,
    tools,
  });
  let broken = "";
  const stream = await first.client.responses.create({ model: "any", input: "Tell me more", stream: true });
  for await (const event of stream) {
    if (event.type === "response.created") broken = event.response.id;
    if (event.type === "response.output_text.delta") break;
  }
  first.process.kill("SIGKILL");
  await first.process.ended;

  const second = await serve(home, model);
  expect((await second.client.responses.retrieve(hello.id)).output).toEqual(hello.output);
  expect((await second.client.responses.retrieve(asked.id)).output).toEqual(asked.output);
  expect(await second.client.responses.retrieve(broken)).toMatchObject({
    status: "failed",
    error: { code: "interrupted" },
    output: [{ type: "message", status: "incomplete", content: [{ text: "Well," }] }],
  });
  const answer = await second.client.responses.create({
    model: "any",
    previous_response_id: asked.id,
    input: [{ type: "function_call_output", call_id: "call_1", output: "shipped" }],
  });
  expect(answer.output_text).toBe("It has shipped, Ada.");
  const sent = JSON.stringify(model.requests.at(-1)?.messages);
  for (const words of ["I am Ada.", "Hello Ada.", "Where is order 7?", "Let me look."])
    expect(sent).toContain(words);
});

test("a background response goes on after its process is killed, under the same id", async () => {
  const model = await scriptedModel();
  const home = temporaryFolder();
  const first = await serve(home, model, "/openai/v1");
  model.script({ text: "Well,", end: "stall" }, { text: "It is 42." });
  const begun = await first.client.responses.create({ model: "any", input: "Think long", background: true });
  expect(begun.status).toBe("queued");
  await expect.poll(async () => (await first.client.responses.retrieve(begun.id)).output_text).toBe("Well,");
  first.process.kill("SIGKILL");
  await first.process.ended;

  const second = await serve(home, model, "/openai/v1");
  await expect.poll(async () => (await second.client.responses.retrieve(begun.id)).status).toBe("completed");
  const done = await second.client.responses.retrieve(begun.id);
  expect(done).toMatchObject({ id: begun.id, output_text: "It is 42." });
  const events: string[] = [];
  for await (const event of await second.client.responses.retrieve(begun.id, { stream: true }))
    events.push(event.type);
  expect(events.at(-1)).toBe("response.completed");
  model.script({ text: "As I said." });
  const next = await second.client.responses.create({
    model: "any",
    input: "Sure?",
    previous_response_id: begun.id,
  });
  expect(next.output_text).toBe("As I said.");
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("It is 42.");
  second.process.kill("SIGTERM");
  await second.process.ended;
});
