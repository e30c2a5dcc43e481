/** What a request asks of the model reaches it, and what the model says of its answer comes back. */
import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { completed, isChunk, streamed } from "../../../support/services/completions.ts";
import { startService } from "../../../support/services/responses.ts";

const FIND = { type: "function", function: { name: "find_order", parameters: { type: "object" } } };

test("sampling, limits and effort are the model's", async () => {
  const model = await scriptedModel();
  const service = await startService({ model });
  await completed(service, {
    say: "Hi",
    temperature: 0.5,
    top_p: 0.9,
    seed: 7,
    stop: ["END", "STOP"],
    max_tokens: 50,
    reasoning_effort: "low",
  });
  const { max_tokens, max_completion_tokens, ...sent } = (model.requests[0] ?? {}) as Record<string, unknown>;
  expect(sent).toMatchObject({
    temperature: 0.5,
    top_p: 0.9,
    seed: 7,
    stop: ["END", "STOP"],
    reasoning_effort: "low",
  });
  expect(max_completion_tokens ?? max_tokens).toBe(50);
});

test.each([
  ["none", []],
  ["required", ["find_order"]],
  [{ type: "function", function: { name: "find_order" } }, ["find_order"]],
] as const)("tool_choice %j is kept to", async (tool_choice, called) => {
  const model = await scriptedModel();
  // It calls whatever it is offered.
  model.otherwise(({ tools = [], tool_choice: choice }) =>
    tools.some((tool) => tool.function.name === "find_order") && choice !== "none"
      ? { calls: [{ name: "find_order", arguments: {} }] }
      : { text: "No tools." },
  );
  const service = await startService({ model });
  const { choices } = await completed(service, { say: "Hi", tools: [FIND], tool_choice });
  const calls = choices[0]?.message.tool_calls ?? [];
  expect(calls.map((call) => (call.type === "function" ? call.function.name : ""))).toEqual(called);
});

test("thoughts come apart from the text, whole and streamed", async () => {
  const model = await scriptedModel();
  model.otherwise({ reasoning: ["Let me ", "think."], text: ["It is", " 42."] });
  const service = await startService({ model });
  const { choices } = await completed(service, { say: "Hi" });
  expect(choices[0]?.message).toMatchObject({ content: "It is 42.", reasoning_content: "Let me think." });
  const deltas = (await streamed(service, { say: "Hi" }))
    .filter(isChunk)
    .map(({ choices: [choice] }) => choice?.delta);
  const joined = (key: "content" | "reasoning_content") => deltas.map((delta) => delta?.[key] ?? "").join("");
  expect([joined("reasoning_content"), joined("content")]).toEqual(["Let me think.", "It is 42."]);
  const firstText = deltas.findIndex((delta) => delta?.content);
  expect(deltas.slice(firstText).every((delta) => delta?.reasoning_content === undefined)).toBe(true);
});

test.each(["length", "content_filter"])("an answer that the model ends with %s says so", async (finish) => {
  const model = await scriptedModel();
  model.otherwise({ text: "Well, the", finish });
  const service = await startService({ model });
  const { choices } = await completed(service, { say: "Hi", max_completion_tokens: 5 });
  expect(choices[0]).toMatchObject({ message: { content: "Well, the" }, finish_reason: finish });
  const frames = (await streamed(service, { say: "Hi" })).filter(isChunk);
  expect(frames.at(-1)?.choices[0]?.finish_reason).toBe(finish);
});

test("an answer in JSON has nothing of what was said on the way to it", async () => {
  const model = await scriptedModel();
  const rounds = [
    { text: "Let me look.", calls: [{ name: "stock", arguments: {} }] },
    { text: '{"pieces":12}' },
  ];
  model.script(...rounds, ...rounds);
  const run = () => ({ status: "ok", output: "12" }) as const;
  const service = await startService({ model, tools: { stock: { run } } });
  const body = { say: "How many?", response_format: { type: "json_object" } };
  const { choices } = await completed(service, body);
  expect(JSON.parse(choices[0]?.message.content ?? "")).toEqual({ pieces: 12 });
  const texts = (await streamed(service, body))
    .filter(isChunk)
    .map(({ choices: [choice] }) => choice?.delta.content);
  expect(JSON.parse(texts.join(""))).toEqual({ pieces: 12 });
});
