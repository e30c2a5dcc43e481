/** `/openai/v1/responses/input_tokens` and `/compact` with the `openai` package. */
import OpenAI from "openai";
import { expect, test } from "vitest";
import { createSeals } from "../../../../plugins/responses/stored/seals.ts";
import type { ModelServer } from "../../../support/servers/model-server.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { startService, TOKEN } from "../../../support/services/responses.ts";

async function open(model?: ModelServer) {
  const service = await startService(model ? { model } : {});
  const client = new OpenAI({ apiKey: TOKEN, baseURL: `${service.url}/openai/v1`, maxRetries: 0 });
  const refused = async (path: string, body: object) => {
    const answer = await service.send("POST", `/openai/v1${path}`, body);
    return [answer.status, (await answer.json()).error.param];
  };
  return { service, client, refused };
}

test("openai: input tokens grow with the input, the instructions, the tools and the history", async () => {
  const model = await scriptedModel();
  model.script({ text: "word ".repeat(400) });
  const { client } = await open(model);
  const count = async (body: OpenAI.Responses.InputTokenCountParams) => {
    const { object, input_tokens } = await client.responses.inputTokens.count({ model: "any", ...body });
    expect(object).toBe("response.input_tokens");
    return input_tokens;
  };
  const little = await count({ input: "Hi" });
  expect(little).toBeGreaterThan(0);
  expect(await count({})).toBeLessThan(little);
  expect(await count({ input: "x".repeat(4000) })).toBeGreaterThanOrEqual(little + 999);
  expect(await count({ input: "Hi", instructions: "x".repeat(400) })).toBe(little + 100);
  const tool = { type: "function", name: "look_up", strict: false, parameters: { type: "object" } } as const;
  expect(await count({ input: "Hi", tools: [tool] })).toBeGreaterThan(little);
  const { id } = await client.responses.create({ model: "any", input: "x".repeat(400) });
  expect(await count({ input: "Hi", previous_response_id: id })).toBeGreaterThanOrEqual(little + 600);
  expect(model.requests).toHaveLength(1);
});

test("openai: a compaction keeps the user's messages and puts the rest into one item that only we can read", async () => {
  const model = await scriptedModel();
  model.script({ text: "Ada likes red bikes." });
  const picture = { type: "input_image", image_url: "data:image/png;base64,aGk=", detail: "auto" } as const;
  const { service, client } = await open(model);
  const compacted = await client.responses.compact({
    model: "any",
    input: [
      { role: "user", content: "I am Ada and like red." },
      { role: "assistant", content: "Noted. A red bike it is." },
      { role: "user", content: [{ type: "input_text", text: "Two of them." }, picture] },
    ],
  });
  expect(compacted).toMatchObject({
    object: "response.compaction",
    output: [
      { type: "message", role: "user", content: [{ type: "input_text", text: "I am Ada and like red." }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Two of them." }, picture] },
      { type: "compaction" },
    ],
  });
  expect(compacted.usage.total_tokens).toBeGreaterThan(0);
  expect((await service.kernel.service("threads").list("operator")).items).toEqual([]);
  const item = compacted.output.at(-1) as unknown as { encrypted_content: string };
  const { unseal } = await createSeals(service.kernel.service("store"));
  expect(unseal("operator", "summary", item.encrypted_content)).toBe("Ada likes red bikes.");
  expect(unseal("eve", "summary", item.encrypted_content)).toBeUndefined();
  expect(unseal("operator", "reasoning", item.encrypted_content)).toBeUndefined();
  const seen = JSON.stringify(model.requests.at(-1));
  await client.responses.create({
    model: "any",
    input: [item as OpenAI.Responses.ResponseInputItem, { role: "user", content: "What do I like?" }],
  });
  expect(JSON.stringify(model.requests.at(-1))).toContain("Ada likes red bikes.");
  for (const words of ["I am Ada and like red.", "A red bike it is.", "Two of them."])
    expect(seen).toContain(words);
});

test("a stored response is compacted by its id, with its history and nothing of another branch", async () => {
  const model = await scriptedModel();
  model.script({ text: "One." }, { text: "Two." }, { text: "Other." }, { text: "In short." });
  const { client } = await open(model);
  const ask = (input: string, previous_response_id?: string) =>
    client.responses.create({ model: "any", input, previous_response_id: previous_response_id ?? null });
  const first = await ask("First.");
  const second = await ask("Second.", first.id);
  await ask("Another branch.", first.id);
  const { output } = await client.responses.compact({ model: "any", previous_response_id: second.id });
  expect(output.map(({ type }) => type)).toEqual(["compaction"]);
  const seen = JSON.stringify(model.requests.at(-1));
  for (const words of ["First.", "One.", "Second.", "Two."]) expect(seen).toContain(words);
  expect(seen).not.toContain("Another branch.");
});

test("what cannot be counted or compacted is refused and named", async () => {
  const { refused } = await open();
  const nobody = `resp_${"0".repeat(64)}`;
  expect(await refused("/responses/input_tokens", { input: 7 })).toEqual([400, "input"]);
  expect(await refused("/responses/input_tokens", { previous_response_id: nobody })).toEqual([
    ...[404, "previous_response_id"],
  ]);
  expect(await refused("/responses/compact", { input: "x" })).toEqual([400, "model"]);
  expect(await refused("/responses/compact", { model: "any" })).toEqual([400, "input"]);
  expect(await refused("/responses/compact", { model: "any", input: "x", conversation: "conv_1" })).toEqual([
    ...[400, "conversation"],
  ]);
  expect(await refused("/responses/compact", { model: "any", previous_response_id: nobody })).toEqual([
    ...[404, "previous_response_id"],
  ]);
});
