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
  const first = await threads.list("ann", { limit: 2 });
  expect(first.items.map(({ title }) => title)).toEqual(["five", "four"]);
  const second = await threads.list("ann", { limit: 2, before: first.next ?? "" });
  expect(second.items.map(({ title }) => title)).toEqual(["three", "two"]);
  const third = await threads.list("ann", { limit: 2, before: second.next ?? "" });
  expect(third.items.map(({ title }) => title)).toEqual(["one"]);
  expect(third.next).toBeUndefined();
  expect((await threads.list("eve")).items).toEqual([]);
  expect(await threads.find("eve", ids[0] ?? "")).toBeUndefined();
  await expect(threads.turns("eve", ids[0] ?? "")).rejects.toThrow(
    expect.objectContaining({ kind: "missing" }),
  );
  await expect(threads.list("ann", { before: "nonsense" })).rejects.toThrow(
    expect.objectContaining({ kind: "invalid", code: "bad_cursor" }),
  );
});

test("threads are found by their titles and by what was said in them, unfinished words included", async () => {
  const { threads, ids } = await withThreads("The red bicycle", "Crème brûlée for two", "Plain talk");
  const found = async (q: string) => (await threads.list("ann", { q })).items.map(({ id }) => id);
  expect(await found("bicy")).toEqual([ids[0]]);
  expect(await found("creme brulee")).toEqual([ids[1]]);
  expect(await found("you said")).toHaveLength(3);
  expect(await found('"; DROP TABLE threads --')).toEqual([]);
  expect(await found("***")).toEqual([]);
  await threads.rename("ann", ids[2] ?? "", "About whales");
  expect(await found("whales")).toEqual([ids[2]]);
  expect((await threads.list("eve", { q: "bicycle" })).items).toEqual([]);
  // A word that is said again counts once: each is looked for in every thread.
  expect(await found("the red bicycle ".repeat(50_000))).toEqual([ids[0]]);
});

test("a title is one line of reasonable length", async () => {
  const { threads, ids } = await withThreads(`  Dear\n\nassistant, ${"please ".repeat(40)}`);
  const title = (await threads.find("ann", ids[0] ?? ""))?.title ?? "";
  expect(title).toMatch(/^Dear assistant, please .*…$/);
  expect(title.length).toBeLessThanOrEqual(81);
  await expect(threads.rename("ann", ids[0] ?? "", " \n")).rejects.toThrow(
    expect.objectContaining({ code: "empty_title" }),
  );
});

test("turns are paged back in time, each page in the order in which they happened", async () => {
  const { agent, threads, ids } = await withThreads("1");
  const thread = ids[0] ?? "";
  for (const text of ["2", "3", "4", "5"]) {
    await (await agent.run({ user: "ann", channel: "test", thread, input: message(text) })).record;
  }
  const texts = (page: Awaited<ReturnType<typeof threads.turns>>) =>
    page.items.map(({ input }) => (input.type === "message" ? input.text : ""));
  const newest = await threads.turns("ann", thread, { limit: 3 });
  expect(texts(newest)).toEqual(["3", "4", "5"]);
  expect(texts(await threads.turns("ann", thread, { limit: 3, before: newest.next ?? "" }))).toEqual([
    "1",
    "2",
  ]);
});

test("a removed thread is gone with its turns and cannot be found; what ran on it ends", async () => {
  const { agent, threads, ids, model, kernel } = await withThreads("Forget this elephant", "Keep this");
  const thread = ids[0] ?? "";
  model.script({ text: "elephant elephant", end: "stall" });
  const running = await agent.run({ user: "ann", channel: "test", thread, input: message("More") });
  for await (const event of running) if (event.type === "text") await threads.remove("ann", thread);
  expect((await running.record).status).toBe("cancelled");
  expect(await threads.find("ann", thread)).toBeUndefined();
  expect(await threads.turn("ann", running.id)).toBeUndefined();
  expect((await threads.list("ann", { q: "elephant" })).items).toEqual([]);
  expect((await threads.list("ann")).items).toHaveLength(1);
  const sql = await kernel.service("store").tables("test", []);
  const matches = sql.engine === "sqlite" ? "thread_texts MATCH 'elephant'" : "words @@ 'elephant'::tsquery";
  expect(await sql.all(`SELECT 1 FROM thread_texts WHERE ${matches}`)).toEqual([]);
  await expect(threads.remove("ann", thread)).rejects.toThrow(expect.objectContaining({ kind: "missing" }));
});

test("a turn of another user is neither shown nor cancelled", async () => {
  const { threads, agent, ids } = await withThreads("Private");
  const turn = (await threads.turns("ann", ids[0] ?? "")).items[0]?.id ?? "";
  expect(await threads.turn("eve", turn)).toBeUndefined();
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

test("a long history that a caller brings is kept whole, and found by its newest messages", async () => {
  const { agent, threads } = await withThreads();
  const texts = Array.from({ length: 600 }, (_, at) => `word${at}. ${"filler ".repeat(100)}`);
  const history = texts.map((text) => ({ type: "message", id: "", role: "user", text }) as const);
  const turn = await agent.run({
    user: "ann",
    channel: "test",
    input: message("And now?"),
    preamble: { history },
  });
  await turn.record;
  const found = async (q: string) => (await threads.list("ann", { q })).items.length;
  expect([await found("word599"), await found("word1")]).toEqual([1, 0]);
  const [brought] = (await threads.turns("ann", turn.thread)).items;
  expect(brought?.items.map((item) => item.type === "message" && item.text)).toEqual(texts);
});
