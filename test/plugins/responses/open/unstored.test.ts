/** `store: false`, in both dialects: the answer is all there is. */
import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { eventsOf, type Service, startService, textOf } from "../../../support/services/responses.ts";

const TOOLS = [{ type: "function", name: "find", parameters: { type: "object" } }];
const PREFIXES = ["/api/v1", "/openai/v1"] as const;

const post = (service: Service, prefix: string, body: object, headers = {}) =>
  service.send("POST", `${prefix}/responses`, { model: "any", ...body }, headers);

const threadsOf = async (service: Service) =>
  (await service.kernel.service("threads").list("operator")).items.length;

test.each(PREFIXES)(
  "through %s nothing is left: no response, no thread, nothing to refer to",
  async (prefix) => {
    const model = await scriptedModel();
    model.script({ text: "Just this once." }, { text: "Streamed." });
    const service = await startService({ model });
    const answer = await post(service, prefix, { input: "Hi", store: false }, { "idempotency-key": "k" });
    const response = await answer.json();
    expect(response).toMatchObject({ status: "completed", store: false });
    expect(textOf(response)).toBe("Just this once.");
    expect((await service.send("GET", `${prefix}/responses/${response.id}`)).status).toBe(404);
    const events = await eventsOf(await post(service, prefix, { input: "Hi", store: false, stream: true }));
    expect(events.findLast(({ type }) => type !== "[DONE]")?.type).toBe("response.completed");
    await expect.poll(() => threadsOf(service)).toBe(0);
    // A key is not kept either, and a reference leads nowhere.
    model.script({ text: "Again." });
    const reference = { type: "item_reference", id: response.output[0].id };
    const again = await post(
      service,
      prefix,
      { input: [reference, { role: "user", content: "Hi" }], store: false },
      { "idempotency-key": "k" },
    );
    expect(textOf(await again.json())).toBe("Again.");
    expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain("Just this once.");
  },
);

test.each(PREFIXES)(
  "through %s a request that is not stored sees the past of the one it goes on from",
  async (prefix) => {
    const model = await scriptedModel();
    model.script({ calls: [{ id: "call_1", name: "find", arguments: {} }] }, { text: "Found 12." });
    const service = await startService({ model });
    const stored = await (await post(service, prefix, { input: "Look it up", tools: TOOLS })).json();
    const output = { type: "function_call_output", call_id: "call_1", output: "12 pieces" };
    const answer = await (
      await post(service, prefix, {
        input: [output],
        previous_response_id: stored.id,
        tools: TOOLS,
        store: false,
      })
    ).json();
    expect(textOf(answer)).toBe("Found 12.");
    const sent = JSON.stringify(model.requests.at(-1)?.messages);
    expect(sent).toContain("Look it up");
    expect(sent).toContain("12 pieces");
    await expect.poll(() => threadsOf(service)).toBe(1);
    // The stored thread still waits: nothing was written to it.
    const refused = await post(service, prefix, {
      input: "Well?",
      previous_response_id: stored.id,
      tools: TOOLS,
    });
    expect(refused.status).toBe(400);
  },
);

test("a client that keeps its own history and its reasoning gets both back, without a trace here", async () => {
  const model = await scriptedModel();
  model.script({ reasoning: "They greet me.", text: "Hello." }, { text: "Fine." });
  const service = await startService({ model });
  const include = ["reasoning.encrypted_content"];
  const first = await (await post(service, "/openai/v1", { input: "Hi", store: false, include })).json();
  const reasoning = first.output.find(({ type }: { type: string }) => type === "reasoning");
  expect(reasoning).toMatchObject({ encrypted_content: expect.any(String) });
  expect(reasoning.encrypted_content).not.toContain("greet");
  const input = [
    { role: "user", content: "Hi" },
    ...first.output,
    { type: "reasoning", summary: [], encrypted_content: "somebody else's" },
    { role: "user", content: "How are you?" },
  ];
  const second = await (await post(service, "/openai/v1", { input, store: false, include })).json();
  expect(textOf(second)).toBe("Fine.");
  await expect.poll(() => threadsOf(service)).toBe(0);
});
