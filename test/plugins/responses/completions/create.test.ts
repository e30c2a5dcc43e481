import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import {
  COMPLETIONS,
  complete,
  completed,
  framesOf,
  streamed,
  textIn,
} from "../../../support/services/completions.ts";
import { bearer, startService } from "../../../support/services/responses.ts";

const FIND = {
  type: "function",
  function: {
    name: "find_order",
    parameters: { type: "object", properties: { number: { type: "integer" } } },
  },
};

test("a completion has the text, the reason, the usage and where it is kept", async () => {
  const model = await scriptedModel();
  model.script({ text: "Hello!", usage: { input: 7, output: 3, cached: 2 } });
  const service = await startService({ model });
  const completion = await completed(service, { say: "Hi", model: "gpt-5", metadata: { ticket: "7" } });
  expect(completion).toEqual({
    id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
    object: "chat.completion",
    created: expect.any(Number),
    model: "gpt-5",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "Hello!", refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: expect.objectContaining({
      prompt_tokens: 7,
      completion_tokens: 3,
      total_tokens: 10,
      prompt_tokens_details: { cached_tokens: 2 },
    }),
    service_tier: "default",
    system_fingerprint: null,
    metadata: { ticket: "7" },
    x_postern: { receipts: [], thread_id: expect.any(String), turn_id: expect.any(String) },
  });
  const [thread] = (await service.kernel.service("threads").list("operator")).items;
  expect(thread?.id).toBe(completion.x_postern.thread_id);
});

test("a stream has the same text, and its usage where it was asked for", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: ["Hel", "lo", "!"], usage: { input: 7, output: 3 } });
  const service = await startService({ model });
  const plain = await streamed(service, { say: "Hi" });
  expect(textIn(plain)).toBe("Hello!");
  expect(plain.every((frame) => !("usage" in frame))).toBe(true);
  const counted = await streamed(service, { say: "Hi", stream_options: { include_usage: true } });
  expect(textIn(counted)).toBe("Hello!");
  expect(counted.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } });
  expect(counted.at(-2)).toMatchObject({ choices: [{ finish_reason: "stop" }], usage: null });
});

test("the agent's own tools run inside; only their receipts are seen", async () => {
  const model = await scriptedModel();
  model.script(
    { text: "Let me look.", calls: [{ name: "stock", arguments: {} }] },
    { text: "There are 12." },
    { text: "Let me look.", calls: [{ name: "stock", arguments: {} }] },
    { text: "There are 12." },
  );
  const run = () => ({ status: "ok", output: "12", receipt: "receipt-of-stock" }) as const;
  const service = await startService({ model, tools: { stock: { run } } });
  const { choices, x_postern } = await completed(service, { say: "How many?" });
  expect(choices[0]).toMatchObject({
    message: { content: "Let me look.\n\nThere are 12." },
    finish_reason: "stop",
  });
  expect(choices[0]?.message).not.toHaveProperty("tool_calls");
  expect(x_postern.receipts).toEqual(["receipt-of-stock"]);
  const frames = await streamed(service, { say: "And now?" });
  expect(textIn(frames)).toBe("Let me look.\n\nThere are 12.");
  expect(frames.at(-1)).toMatchObject({ x_postern: { receipts: ["receipt-of-stock"] } });
});

test("several calls of the caller's tools come in one answer and are answered together", async () => {
  const model = await scriptedModel();
  model.script(
    {
      calls: [
        { id: "call_7", name: "find_order", arguments: { number: 7 } },
        { id: "call_8", name: "find_order", arguments: { number: 8 } },
      ],
    },
    { text: "Both have shipped." },
  );
  const service = await startService({ model });
  const question = { role: "user", content: "Where are orders 7 and 8?" };
  const asked = await completed(service, { messages: [question], tools: [FIND] });
  const message = asked.choices[0]?.message;
  expect(asked.choices[0]?.finish_reason).toBe("tool_calls");
  expect(message).toEqual({
    role: "assistant",
    content: null,
    refusal: null,
    tool_calls: [7, 8].map((number) => ({
      id: `call_${number}`,
      type: "function",
      function: { name: "find_order", arguments: JSON.stringify({ number }) },
    })),
  });
  const outputs = [8, 7].map((number) => ({
    role: "tool",
    tool_call_id: `call_${number}`,
    content: `${number} has shipped`,
  }));
  const answer = await completed(service, { messages: [question, message, ...outputs], tools: [FIND] });
  expect(answer.choices[0]).toMatchObject({
    message: { content: "Both have shipped." },
    finish_reason: "stop",
  });
  const seen = model.requests.at(-1)?.messages.filter(({ role }) => role === "tool");
  expect(seen?.map(({ tool_call_id }) => tool_call_id).toSorted()).toEqual(["call_7", "call_8"]);
});

test("the system message of a request is shown to the model, and each request brings its own", async () => {
  const model = await scriptedModel();
  const service = await startService({ model });
  const first = [
    { role: "system", content: "Speak German." },
    { role: "user", content: "Hi" },
  ];
  const { choices } = await completed(service, { messages: first });
  const again = [{ role: "system", content: "Speak French." }, first[1], choices[0]?.message];
  await completed(service, { messages: [...again, { role: "user", content: "And now?" }] });
  const [before, after] = model.requests.map(({ messages }) => JSON.stringify(messages));
  expect(before).toContain("Speak German.");
  expect(after).toContain("Speak French.");
  expect(after).not.toContain("Speak German.");
});

test("fields that are not honoured are named in a header", async () => {
  const service = await startService();
  const answer = await complete(service, {
    say: "Hello",
    logit_bias: { 7: -100 },
    top_k: 4,
    tools: [{ type: "mcp" }],
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-postern-ignored")).toBe("tools.mcp, logit_bias, top_k");
  const plain = await complete(service, { say: "Hello", n: 1, stream: false });
  expect(plain.headers.has("x-postern-ignored")).toBe(false);
});

test("a repeated Idempotency-Key answers the first completion, streamed or not", async () => {
  const model = await scriptedModel();
  const service = await startService({ model });
  const key = (name: string) => ({ "idempotency-key": name });
  const [first, twin] = await Promise.all([1, 2].map(() => complete(service, { say: "Hi" }, key("k1"))));
  expect(await twin?.json()).toEqual(await first?.json());
  const live = await framesOf(service, await complete(service, { say: "Hi", stream: true }, key("k2")));
  const again = await framesOf(service, await complete(service, { say: "Hi", stream: true }, key("k2")));
  expect(again).toEqual(live);
  expect(model.requests).toHaveLength(2);
  const other = await complete(service, { say: "Other" }, key("k1"));
  expect(other.status).toBe(400);
  expect(await other.json()).toMatchObject({ error: { code: "idempotency_key_reused" } });
});

test("completions are not kept to be listed or fetched: 404 in this API's envelope", async () => {
  const service = await startService();
  for (const [method, path] of [
    ["GET", COMPLETIONS],
    ["GET", `${COMPLETIONS}/chatcmpl-1`],
    ["POST", `${COMPLETIONS}/chatcmpl-1`],
    ["DELETE", `${COMPLETIONS}/chatcmpl-1`],
    ["GET", `${COMPLETIONS}/chatcmpl-1/messages`],
  ] as const) {
    const answer = await service.send(method, path);
    expect([method, path, answer.status]).toEqual([method, path, 404]);
    expect(await answer.json()).toMatchObject({
      error: { message: expect.any(String), code: expect.any(String) },
    });
  }
});

test("each user's completions are on threads of that user", async () => {
  const service = await startService();
  const answer = await complete(service, { say: "Hello" }, bearer(await service.tokenOf("ada")));
  expect(answer.status).toBe(200);
  expect((await service.kernel.service("threads").list("ada")).items).toHaveLength(1);
  expect((await service.kernel.service("threads").list("operator")).items).toHaveLength(0);
});
