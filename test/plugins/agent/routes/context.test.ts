/** How full the window of a thread's model is, by what, and what it costs. */
import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { openGateway } from "../../../support/services/gateway.ts";

const PARTS = ["instructions", "tools", "memory", "conversation", "files"] as const;

test("the context of a thread is told by its parts, which add up, and grows with what is said", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({
    model,
    variables: { MODEL_CONTEXT_TOKENS: "10000" },
    tools: { weather: { run: () => ({ status: "ok", output: "warm" }) } },
  });
  const memory = gateway.service.service("memory");
  const contextOf = async (thread: string, token?: string) =>
    await gateway.ask(`/api/threads/${thread}/context`, token ? { token } : {});
  model.script({ text: "Salt eats chains.", usage: { input: 1, output: 1 } });
  const first = await gateway.ask("/api/chat", { method: "POST", body: { message: "Hello" } });
  const { body: before } = await contextOf(first.body.thread_id);
  expect(before).toMatchObject({
    model: { name: "scripted" },
    window: 10_000,
    files: 0,
    is_summarised: false,
  });
  expect(PARTS.reduce((sum, part) => sum + before[part], 0)).toBe(before.total);
  expect(before.instructions).toBeGreaterThan(100);
  expect(before.tools).toBeGreaterThan(20);

  await memory.write("operator", "USER.md", "I ride a red bike. ".repeat(100));
  const body = { message: "word ".repeat(1000), thread_id: first.body.thread_id };
  await gateway.ask("/api/chat", { method: "POST", body });
  const { body: after } = await contextOf(first.body.thread_id);
  expect(after.memory - before.memory).toBeGreaterThan(300);
  expect(after.conversation - before.conversation).toBeGreaterThan(1000);
  expect(after.instructions).toBe(before.instructions);

  const other = await gateway.addUser("bob");
  expect((await contextOf(first.body.thread_id, other)).status).toBe(404);
});
