/** The model names a new thread of the page or the terminal after its first answer, once. */
import { expect, test } from "vitest";
import type { TurnEvent } from "../../../../kernel/plugin.ts";
import type { Turn } from "../../../../plugins/agent/services.ts";
import type { Scripted } from "../../../support/servers/model-server.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";

async function chat(title: Scripted, variables: Readonly<Record<string, string>> = {}) {
  const model = await scriptedModel();
  model.entitle(title);
  const kernel = await bootAgent({ model, variables });
  const [agent, threads] = [kernel.service("agent"), kernel.service("threads")];
  const told: TurnEvent[] = [];
  agent.watch("ann", (event) => void told.push(event));
  const say = async (text: string, turn: Partial<Turn> = {}) => {
    const running = await agent.run({ user: "ann", channel: "gateway", input: message(text), ...turn });
    await running.record;
    return running.thread;
  };
  const titleOf = async (thread: string) => (await threads.find("ann", thread))?.title;
  return { model, kernel, threads, told, say, titleOf };
}

const used = async (threads: Awaited<ReturnType<typeof chat>>["threads"]) =>
  (await threads.usage({ spans: [{ since: "2000", until: "9999" }] })).total;

test("the model names it after the first answer, once, and the request is counted", async () => {
  const { model, threads, told, say, titleOf } = await chat({
    text: '"Bikes in winter."\nAnd more.',
    usage: { input: 40, output: 5 },
  });
  model.script({ text: "Salt eats chains.", usage: { input: 100, output: 10 } });
  const thread = await say("How do I look after my bike when there is salt?", {
    keeping: { wantsTitle: true },
  });
  await expect.poll(() => titleOf(thread)).toBe("Bikes in winter");
  await expect.poll(() => told.at(-1)).toEqual({ type: "titled", title: "Bikes in winter" });
  expect(model.titled[0]?.messages[1]?.content).toBe(
    "User: How do I look after my bike when there is salt?\n\nAssistant: Salt eats chains.",
  );
  expect(await used(threads)).toMatchObject({ count: 1, inputTokens: 140, outputTokens: 15 });
  // It is found by its new title, and no longer asked for.
  expect((await threads.list("ann", { q: "winter" })).items).toHaveLength(1);
  await say("And in summer?", { thread });
  expect(model.titled).toHaveLength(1);
});

test.each([
  ["a channel that does not want it", {}, {}],
  ["where it is switched off", { keeping: { wantsTitle: true } }, { CHAT_TITLES: "false" }],
])("%s keeps the beginning of the first message, and no request is made", async (_, turn, variables) => {
  const { model, say, titleOf, kernel } = await chat({ text: "Wrong" }, variables);
  const thread = await say("Mend my bike", turn);
  expect(await titleOf(thread)).toBe("Mend my bike");
  // What is under way is waited for.
  await kernel.stop();
  expect(model.titled).toEqual([]);
});

test("a title that a person gives meanwhile stays", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { model, threads, say, titleOf } = await chat({ text: [promise] });
  const thread = await say("Mend my bike", { keeping: { wantsTitle: true } });
  await expect.poll(() => model.titled.length).toBe(1);
  await threads.rename("ann", thread, "Mine");
  resolve("Theirs");
  await say("Again", { thread });
  expect(await titleOf(thread)).toBe("Mine");
});

test.each<[string, Scripted]>([
  ["refuses", { status: 500 }],
  ["breaks off", { text: "Bi", end: "cut" }],
  ["says nothing", { text: " \n" }],
])("a model that %s leaves the title as it was, and the answer is whole", async (_, title) => {
  const { model, told, say, titleOf } = await chat(title);
  const thread = await say("Mend my bike", { keeping: { wantsTitle: true } });
  await expect.poll(() => model.titled.length).toBeGreaterThan(0);
  await say("Again", { thread });
  expect(await titleOf(thread)).toBe("Mend my bike");
  expect(told.filter(({ type }) => type === "failed" || type === "titled")).toEqual([]);
});

test("a thread that waited at a gate first is named after the answer", async () => {
  const { model, say, titleOf } = await chat({ text: "A letter" });
  const tools = [{ name: "letterbox" }];
  model.script({ calls: [{ id: "call_1", name: "letterbox", arguments: {} }] }, { text: "There is one." });
  const thread = await say("Is there a letter?", { keeping: { wantsTitle: true }, answer: { tools } });
  expect(model.titled).toEqual([]);
  await say("", { thread, input: { type: "tool_output", call: "call_1", output: "one" } });
  await expect.poll(() => titleOf(thread)).toBe("A letter");
  expect(model.titled[0]?.messages[1]?.content).toContain("User: Is there a letter?");
});
