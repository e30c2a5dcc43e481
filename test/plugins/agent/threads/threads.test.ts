import { expect, test } from "vitest";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";

async function withThreads(...texts: string[]) {
  const model = await scriptedModel();
  model.otherwise(({ messages }) => ({ text: `You said ${messages.at(-1)?.content}.` }));
  const kernel = await bootAgent({ model });
  const agent = kernel.service("agent");
  const ids: string[] = [];
  for (const text of texts) {
    const turn = await agent.run({ user: "ann", channel: "test", input: message(text) });
    await turn.record;
    ids.push(turn.thread);
  }
  return { kernel, agent, threads: kernel.service("threads"), ids, model };
}

test("threads are listed newest first, page by page, each user their own", async () => {
  const { threads, ids } = await withThreads("one", "two", "three", "four", "five");
  const first = threads.list("ann", { limit: 2 });
  expect(first.items.map(({ title }) => title)).toEqual(["five", "four"]);
  const second = threads.list("ann", { limit: 2, before: first.next ?? "" });
  expect(second.items.map(({ title }) => title)).toEqual(["three", "two"]);
  const third = threads.list("ann", { limit: 2, before: second.next ?? "" });
  expect(third.items.map(({ title }) => title)).toEqual(["one"]);
  expect(third.next).toBeUndefined();
  expect(threads.list("eve").items).toEqual([]);
  expect(threads.find("eve", ids[0] ?? "")).toBeUndefined();
  expect(() => threads.turns("eve", ids[0] ?? "")).toThrow(expect.objectContaining({ kind: "missing" }));
  expect(() => threads.list("ann", { before: "nonsense" })).toThrow(
    expect.objectContaining({ kind: "invalid", code: "bad_cursor" }),
  );
});

test("threads are found by their titles and by what was said in them, unfinished words included", async () => {
  const { threads, ids } = await withThreads("The red bicycle", "Crème brûlée for two", "Plain talk");
  const found = (q: string) => threads.list("ann", { q }).items.map(({ id }) => id);
  expect(found("bicy")).toEqual([ids[0]]);
  expect(found("creme brulee")).toEqual([ids[1]]);
  expect(found("you said")).toHaveLength(3);
  expect(found('"; DROP TABLE threads --')).toEqual([]);
  expect(found("***")).toEqual([]);
  threads.rename("ann", ids[2] ?? "", "About whales");
  expect(found("whales")).toEqual([ids[2]]);
  expect(threads.list("eve", { q: "bicycle" }).items).toEqual([]);
  // A word that is said again counts once: each is looked for in every thread.
  expect(found("the red bicycle ".repeat(50_000))).toEqual([ids[0]]);
});

test("a title is one line of reasonable length", async () => {
  const { threads, ids } = await withThreads(`  Dear\n\nassistant, ${"please ".repeat(40)}`);
  const title = threads.find("ann", ids[0] ?? "")?.title ?? "";
  expect(title).toMatch(/^Dear assistant, please .*…$/);
  expect(title.length).toBeLessThanOrEqual(81);
  expect(() => threads.rename("ann", ids[0] ?? "", " \n")).toThrow(
    expect.objectContaining({ code: "empty_title" }),
  );
});

test("turns are paged back in time, each page in the order in which they happened", async () => {
  const { agent, threads, ids } = await withThreads("1");
  const thread = ids[0] ?? "";
  for (const text of ["2", "3", "4", "5"]) {
    await (await agent.run({ user: "ann", channel: "test", thread, input: message(text) })).record;
  }
  const texts = (page: ReturnType<typeof threads.turns>) =>
    page.items.map(({ input }) => (input.type === "message" ? input.text : ""));
  const newest = threads.turns("ann", thread, { limit: 3 });
  expect(texts(newest)).toEqual(["3", "4", "5"]);
  expect(texts(threads.turns("ann", thread, { limit: 3, before: newest.next ?? "" }))).toEqual(["1", "2"]);
});

test("a removed thread is gone with its turns and cannot be found; what ran on it ends", async () => {
  const { agent, threads, ids, model, kernel } = await withThreads("Forget this elephant", "Keep this");
  const thread = ids[0] ?? "";
  model.script({ text: "elephant elephant", end: "stall" });
  const running = await agent.run({ user: "ann", channel: "test", thread, input: message("More") });
  for await (const event of running) if (event.type === "text") threads.remove("ann", thread);
  expect((await running.record).status).toBe("cancelled");
  expect(threads.find("ann", thread)).toBeUndefined();
  expect(threads.turn("ann", running.id)).toBeUndefined();
  expect(threads.list("ann", { q: "elephant" }).items).toEqual([]);
  expect(threads.list("ann").items).toHaveLength(1);
  const sql = kernel.service("store").syncTables("test", []);
  expect(sql.get("SELECT count(*) AS count FROM thread_texts WHERE thread = ?", thread)).toEqual({
    count: 0,
  });
  expect(() => threads.remove("ann", thread)).toThrow(expect.objectContaining({ kind: "missing" }));
});

test("a turn of another user is neither shown nor cancelled", async () => {
  const { threads, agent, ids } = await withThreads("Private");
  const turn = threads.turns("ann", ids[0] ?? "").items[0]?.id ?? "";
  expect(threads.turn("eve", turn)).toBeUndefined();
  expect(await agent.cancel("eve", turn)).toBe(false);
});

test("every turn of a user can be watched, whatever channel it came by", async () => {
  const { agent } = await withThreads();
  const seen: string[] = [];
  const undo = agent.watch("ann", ({ type }, { thread }) => void seen.push(`${type} ${thread}`));
  const turn = await agent.run({ user: "ann", channel: "webhook", input: message("Hi") });
  await turn.record;
  await (await agent.run({ user: "eve", channel: "webhook", input: message("Hi") })).record;
  expect(new Set(seen.map((line) => line.split(" ")[1]))).toEqual(new Set([turn.thread]));
  expect(seen[0]).toMatch(/^started/);
  expect(seen.at(-1)).toMatch(/^done/);
  undo();
  const before = seen.length;
  await (await agent.run({ user: "ann", channel: "webhook", input: message("Hi") })).record;
  expect(seen).toHaveLength(before);
});
