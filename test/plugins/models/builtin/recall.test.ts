import { expect, test } from "vitest";
import type { ModelMessage } from "../../../../plugins/models/services.ts";
import { ask } from "../../../support/services/builtin-dialogue.ts";
import { openMemory, toolsOf } from "../../../support/services/memory.ts";

/** One turn of a new conversation, with the memory's own tools run as the loop runs them. */
async function turn(memory: Awaited<ReturnType<typeof openMemory>>["memory"], text: string): Promise<string> {
  const messages: ModelMessage[] = [{ role: "user", text }];
  for (let step = 0; step < 5; step += 1) {
    const answer = await ask(messages, toolsOf(memory));
    if (answer.calls.length === 0) return answer.text;
    messages.push({ role: "assistant", text: answer.text, calls: answer.calls });
    for (const call of answer.calls) {
      const tool = toolsOf(memory).find((one) => one.name === call.name);
      const outcome = await tool?.run(JSON.parse(call.params), { user: "ann", thread: "t" });
      const failed = outcome?.status !== "ok";
      messages.push({ role: "tool", call, failed, output: failed ? "it failed" : outcome.output });
    }
  }
  throw new Error("it calls tools for ever");
}

test("what it was told in one conversation it knows in another, after a restart", async () => {
  const first = await openMemory();
  expect(await turn(first.memory, "remember that my bike is red")).toBe(
    "I will remember that your bike is red.",
  );
  await turn(first.memory, "Please remember: my favourite colour is blue");
  await first.close();

  const { memory } = await openMemory(first.folder);
  expect(await turn(memory, "what colour is my bike?")).toBe("You told me that your bike is red.");
  expect(await turn(memory, "what's my favourite colour?")).toBe(
    "You told me that your favourite colour is blue.",
  );
  expect(await turn(memory, "What do you remember?")).toContain("I have 2 notes");
  expect(await turn(memory, "forget that my bike is red")).toBe("I have forgotten that.");
  expect(await turn(memory, "what did I say about my bike?")).toContain("no note about that");
});
