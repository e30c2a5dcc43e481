/** Callers of the Responses API see what was delegated as a call of the answer, and its usage in the total. */
import { expect, test } from "vitest";
import { scriptedModel } from "../../support/services/agent.ts";
import { startService } from "../../support/services/responses.ts";

const DELEGATING = [
  { calls: [{ name: "task_delegate", arguments: { task: "Add\nthese" } }] },
  { text: "42" },
  { text: "It is 42." },
];

test.each([
  ["/api/v1/responses", { input: "Sum it up" }],
  ["/openai/v1/chat/completions", { messages: [{ role: "user", content: "Sum it up" }] }],
])("a stream of %s shows each task in comments, which clients skip", async (path, body) => {
  const model = await scriptedModel();
  const { send } = await startService({ model });
  model.script(...DELEGATING);
  const answer = await send("POST", path, { model: "any", stream: true, ...body });
  const frames = (await answer.text()).split("\n\n");
  const comments = frames.filter((frame) => frame.startsWith(":"));
  expect(comments.at(-1)).toBe(': Task "Add": completed');
  expect(frames.filter((frame) => frame.includes("Task "))).toEqual(comments);
  expect(frames.findIndex((frame) => frame.includes("It is"))).toBeGreaterThan(
    frames.findIndex((frame) => frame.startsWith(":")),
  );
});

test("the usage of a response has what its tasks used", async () => {
  const model = await scriptedModel();
  const { create } = await startService({ model });
  model.script(
    {
      calls: [{ name: "task_delegate", arguments: { task: "Add these" } }],
      usage: { input: 100, output: 10 },
    },
    { text: "42", usage: { input: 1000, output: 100 } },
    { text: "It is 42.", usage: { input: 10, output: 1 } },
  );
  const { usage, output, status } = await create({ model: "reborn", input: "Sum it up" });
  expect(status).toBe("completed");
  expect(usage).toMatchObject({ input_tokens: 1110, output_tokens: 111, total_tokens: 1221 });
  expect(JSON.stringify(output)).toContain("It is 42.");
});
