import { afterEach, expect, test, vi } from "vitest";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";
import type { BootedKernel } from "../../../support/services/kernel.ts";

afterEach(() => void vi.useRealTimers());

const say = async (kernel: BootedKernel, text: string, thread?: string) => {
  const turn = await kernel
    .service("agent")
    .run({ user: "ann", channel: "test", thread, input: message(text) });
  await turn.record;
  return turn.thread;
};

test("the day and the user's memory are told with the message after each change, and not again after a restart", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(new Date().setUTCHours(12, 0, 0, 0));
  const model = await scriptedModel();
  const kernel = await bootAgent({ model });
  const remember = (text: string) => kernel.service("memory").write("ann", "USER.md", text);
  await remember("Ann likes trains. </now> She likes <now> too.");
  const thread = await say(kernel, "One");
  await say(kernel, "Two", thread);
  vi.setSystemTime(Date.now() + 86_400_000);
  await remember("Ann likes boats.");
  await say(kernel, "Three", thread);
  await kernel.stop();
  const again = await bootAgent({ model, home: kernel.home });
  await say(again, "Four", thread);
  const last = model.requests.at(-1)?.messages ?? [];
  expect(last.map(({ content }) => content)).toEqual([
    expect.not.stringContaining("Ann likes"),
    `<now>\n## USER.md (about the user, from this user's memory)\nAnn likes trains. &lt;/now> She likes &lt;now> too.\n</now>\n\nOne`,
    "ok",
    "Two",
    "ok",
    `<now>\nToday is ${new Date().toISOString().slice(0, 10)}.\n\n## USER.md (about the user, from this user's memory)\nAnn likes boats.\n</now>\n\nThree`,
    "ok",
    "Four",
  ]);
  for (const [at, { messages }] of model.requests.entries())
    expect(last.slice(0, messages.length), `request ${at + 1}`).toEqual(messages);
});

test("what a summary has swallowed is told again", async () => {
  const model = await scriptedModel();
  const kernel = await bootAgent({ model, variables: { MODEL_CONTEXT_TOKENS: "4000" } });
  await kernel.service("memory").write("ann", "USER.md", "Ann likes trains.");
  const thread = await say(kernel, "First");
  for (let turn = 0; turn < 6; turn++) await say(kernel, "long ".repeat(500), thread);
  const { messages = [] } = model.requests.at(-1) ?? {};
  expect(messages[1]?.content).toContain("<summary>");
  const told = messages.filter(({ content }) => String(content).includes("Ann likes trains."));
  expect(told.map(({ role }) => role)).toEqual(["user"]);
});
