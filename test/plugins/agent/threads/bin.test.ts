import { expect, test, vi } from "vitest";
import { testOnSqlite } from "../../../support/run/engine.ts";
import { bootAgent, message, scriptedModel, type TestTool } from "../../../support/services/agent.ts";
import { afterThisTest } from "../../../support/undo.ts";

const DAY_MS = 86_400_000;
const missing = expect.objectContaining({ kind: "missing", code: "thread_not_found" });

async function withThread(text: string) {
  const model = await scriptedModel();
  model.otherwise(({ messages }) => ({ text: `You said ${messages.at(-1)?.content}.` }));
  const mailer: TestTool = { run: () => ({ status: "ok", output: "sent" }), writes: true };
  const kernel = await bootAgent({ model, tools: { mailer } });
  const agent = kernel.service("agent");
  const threads = kernel.service("threads");
  const say = async (words: string, thread?: string) => {
    const turn = await agent.run({ user: "ann", channel: "test", thread, input: message(words) });
    return await turn.record;
  };
  return { kernel, model, agent, threads, say, first: await say(text) };
}

test("nothing finds a thread in the bin, and nothing continues it; the bin lists it with the day it goes", async () => {
  const { threads, say, first } = await withThread("The red bicycle");
  const { thread, id: turn } = first;
  const other = await say("A blue bicycle");
  await threads.bin("ann", thread);
  expect(await threads.find("ann", thread)).toBeUndefined();
  expect(await threads.turn("ann", turn)).toBeUndefined();
  expect((await threads.list("ann")).items.map(({ id }) => id)).toEqual([other.thread]);
  expect((await threads.list("ann", { q: "bicycle" })).items.map(({ id }) => id)).toEqual([other.thread]);
  expect((await threads.list("ann", { pinnedFirst: true })).items.map(({ id }) => id)).toEqual([
    other.thread,
  ]);
  const attempts = [
    () => threads.turns("ann", thread),
    () => threads.export("ann", thread, "markdown"),
    () => threads.rename("ann", thread, "Mine"),
    () => threads.pin("ann", thread, true),
    () => threads.setModel("ann", thread, undefined),
    () => threads.bin("ann", thread),
    () => say("Go on", thread),
  ];
  for (const attempt of attempts) await expect(attempt(), String(attempt)).rejects.toThrow(missing);
  const [binned] = (await threads.binned("ann")).items;
  expect(binned).toMatchObject({ id: thread, title: "The red bicycle", turns: 1 });
  expect(Date.parse(binned?.expiresAt ?? "") - Date.parse(binned?.binnedAt ?? "")).toBe(30 * DAY_MS);
});

test("its files, replays and explanations are not found while a thread is in the bin, and then again", async () => {
  const { kernel, agent, threads } = await withThread("Hello");
  const attachments = kernel.service("attachments");
  const { id } = await attachments.add("ann", { name: "bike.txt", data: Buffer.from("It is red.") });
  const { attachments: named, attached, alongside } = await attachments.bring("ann", [id]);
  const input = { ...message("Read it"), attachments: named };
  const turn = await agent.run({ user: "ann", channel: "test", input, attached }, alongside);
  await turn.record;
  const found = async () => {
    const comparison = await kernel
      .service("comparisons")
      .prepare({ user: "ann", model: { name: "scripted" } });
    return {
      file: await attachments.read("ann", named[0]?.id ?? ""),
      explained: await threads.checked(turn.id),
      replayed: comparison.turns,
    };
  };
  const there = { file: expect.anything(), explained: expect.anything(), replayed: 2 };
  expect(await found()).toEqual(there);
  await threads.bin("ann", turn.thread);
  expect(await found()).toEqual({ file: undefined, explained: undefined, replayed: 1 });
  await threads.restore("ann", turn.thread);
  expect(await found()).toEqual(there);
});

test("a restored thread is found again, and goes on with all that was said", async () => {
  const { threads, say, first, model } = await withThread("The red bicycle");
  const { thread } = first;
  await threads.pin("ann", thread, true);
  await threads.bin("ann", thread);
  await threads.restore("ann", thread);
  await expect(threads.restore("ann", thread)).rejects.toThrow(missing);
  expect((await threads.binned("ann")).items).toEqual([]);
  expect((await threads.list("ann", { q: "bicycle" })).items).toMatchObject([{ id: thread, pinned: true }]);
  await say("Which colour?", thread);
  expect(JSON.stringify(model.requests.at(-1))).toContain("The red bicycle");
});

test("what runs on a thread that is put into the bin is stopped, and stays with it", async () => {
  const { threads, agent, first, model } = await withThread("Hello");
  model.script({ text: "elephant elephant", end: "stall" });
  const { thread } = first;
  const running = await agent.run({ user: "ann", channel: "test", thread, input: message("More") });
  const queued = await agent.run({ user: "ann", channel: "test", thread, input: message("And more") });
  for await (const event of running) if (event.type === "text") await threads.bin("ann", thread);
  expect((await running.record).status).toBe("cancelled");
  expect((await queued.record).status).toBe("cancelled");
  expect(await threads.find("ann", thread)).toBeUndefined();
  await threads.restore("ann", thread);
  expect((await threads.turns("ann", thread)).items.map(({ status }) => status)).toEqual([
    "completed",
    "cancelled",
    "cancelled",
  ]);
});

test("a question of a thread in the bin is asked nowhere, and again once it is restored", async () => {
  const { kernel, threads, agent, first, model, say } = await withThread("Hello");
  const approvals = kernel.service("approvals");
  model.script({ calls: [{ name: "mailer", arguments: {} }] });
  const { gate } = await say("Mail it", first.thread);
  expect(await approvals.pending("ann")).toMatchObject([{ id: gate?.id }]);
  await threads.bin("ann", first.thread);
  expect(await approvals.pending("ann")).toEqual([]);
  const answer = { type: "approval", gate: gate?.id ?? "", decision: "once" } as const;
  const given = () => agent.run({ user: "ann", channel: "test", thread: first.thread, input: answer });
  await expect(given()).rejects.toThrow(missing);
  await threads.restore("ann", first.thread);
  expect(await approvals.pending("ann")).toMatchObject([{ id: gate?.id }]);
  expect((await (await given()).record).status).toBe("completed");
});

test("the bin of one user is nobody else's", async () => {
  const { threads, first } = await withThread("Private");
  await expect(threads.bin("eve", first.thread)).rejects.toThrow(missing);
  await threads.bin("ann", first.thread);
  expect((await threads.binned("eve")).items).toEqual([]);
  expect(await threads.isBinned("eve", first.thread)).toBeUndefined();
  await expect(threads.restore("eve", first.thread)).rejects.toThrow(missing);
  await expect(threads.remove("eve", first.thread)).rejects.toThrow(missing);
  expect(await threads.emptyBin("eve")).toBe(0);
  expect((await threads.binned("ann")).items).toHaveLength(1);
});

test("the bin is read page by page, what was put there last first, and emptied at once", async () => {
  const { threads, say, first } = await withThread("one");
  const ids: string[] = [];
  for (const text of ["two", "three", "four"]) ids.push((await say(text)).thread);
  const kept = await say("kept");
  vi.useFakeTimers({ toFake: ["Date"] });
  afterThisTest(() => void vi.useRealTimers());
  for (const id of [...ids, first.thread]) {
    vi.setSystemTime(Date.now() + 1000);
    await threads.bin("ann", id);
  }
  const titles: string[] = [];
  for (let before: string | undefined; ; ) {
    const page = await threads.binned("ann", { limit: 3, ...(before !== undefined && { before }) });
    titles.push(...page.items.map(({ title }) => title));
    if (page.next === undefined) break;
    before = page.next;
  }
  expect(titles).toEqual(["one", "four", "three", "two"]);
  await expect(threads.binned("ann", { before: "nonsense" })).rejects.toThrow(
    expect.objectContaining({ code: "bad_cursor" }),
  );
  expect(await threads.emptyBin("ann")).toBe(4);
  expect((await threads.list("ann")).items.map(({ id }) => id)).toEqual([kept.thread]);
  await expect(threads.restore("ann", first.thread)).rejects.toThrow(missing);
});

// PostgreSQL's own clock says when the work of a fleet is due.
testOnSqlite("after 30 days what is in the bin is deleted, its words too, and not a day before", async () => {
  const { kernel, threads, say, first } = await withThread("elephant");
  const kept = await say("elephant to keep");
  await threads.bin("ann", first.thread);
  await kernel.stop();
  vi.useFakeTimers({ toFake: ["Date"] });
  afterThisTest(() => void vi.useRealTimers());
  const daysLater = async (days: number) => {
    vi.setSystemTime(Date.now() + days * DAY_MS);
    const later = await bootAgent({ home: kernel.home });
    afterThisTest(() => later.stop());
    return later;
  };
  // The second shows what the first has deleted.
  for (const days of [29, 0]) {
    const early = await daysLater(days);
    expect((await early.service("threads").binned("ann")).items).toHaveLength(1);
    await early.stop();
  }
  const last = await daysLater(1);
  await expect.poll(async () => (await last.service("threads").binned("ann")).items).toEqual([]);
  expect((await last.service("threads").list("ann")).items.map(({ id }) => id)).toEqual([kept.thread]);
  const sql = await last.service("store").tables("test", []);
  const matching = "SELECT count(*) AS count FROM thread_texts WHERE thread_texts MATCH 'elephant'";
  // Its title, its message and the answer.
  expect(await sql.get(matching)).toEqual({ count: 3 });
});
