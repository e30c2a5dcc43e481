import { expect, test } from "vitest";
import type { Transaction } from "../../../kernel/plugin.ts";
import type { JobTurn } from "../../../plugins/jobs/services.ts";
import { bootAgent, scriptedModel } from "../../support/services/agent.ts";

const LONG = 300_000;
const TURN: JobTurn = {
  preamble: {
    history: [
      { type: "message", id: "", role: "user", text: "My name is Ann." },
      { type: "message", id: "", role: "assistant", text: "Hello Ann." },
    ],
    instructions: "Be brief.",
  },
  answer: { tools: [{ name: "lookup" }], parallelCalls: true, generation: { topP: 0.5 } },
};
const JOB = { user: "ann", channel: "test", message: "Look me up", turn: TURN } as const;

test("a job is run as the turn it says, which may end with calls for the caller and be answered by another", async () => {
  const model = await scriptedModel();
  model.script(
    {
      text: "Looking.",
      calls: [
        { id: "c1", name: "lookup", arguments: {} },
        { id: "c2", name: "lookup", arguments: {} },
      ],
    },
    { text: "Found." },
  );
  const kernel = await bootAgent({ model });
  const jobs = kernel.service("jobs");
  const sql = await kernel.service("store").tables("test", []);
  const queued = await sql.transaction((tx: Transaction) => jobs.submit(JOB, tx));
  expect(queued.turn).toBeUndefined();
  const done = await jobs.wait(queued.id, LONG);
  expect(done).toMatchObject({ status: "completed", response: "Looking." });
  expect(done?.error).toBeUndefined();
  expect(model.requests[0]).toMatchObject({ top_p: 0.5 });
  const said = JSON.stringify(model.requests[0]?.messages);
  for (const words of ["My name is Ann.", "Be brief.", "Look me up"]) expect(said).toContain(words);

  const record = await kernel.service("threads").turn("ann", done?.turn ?? "");
  expect(record).toMatchObject({ status: "waiting", gate: { call: { id: "c1" }, others: [{ id: "c2" }] } });
  const outputs = ["c1", "c2"].map((call) => ({ call, output: "Berlin" }));
  const next = await jobs.submit({
    user: "ann",
    channel: "test",
    message: "",
    turn: { thread: done?.thread ?? "", input: { type: "tool_outputs", outputs } },
  });
  expect(await jobs.wait(next.id, LONG)).toMatchObject({ response: "Found.", thread: done?.thread });
  expect(await sql.all("SELECT request FROM jobs WHERE request <> ''")).toEqual([]);
});

test("jobs of one user without a conversation run side by side, and each can be cancelled, queued or running", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: "Endless", end: "stall" });
  const kernel = await bootAgent({ model, variables: { JOBS_CONCURRENCY: "2" } });
  const jobs = kernel.service("jobs");
  const first = [await jobs.submit(JOB), await jobs.submit(JOB)];
  const third = await jobs.submit(JOB);
  await expect.poll(() => model.requests.length).toBe(2);
  expect(await jobs.cancel(third.id)).toMatchObject({ error: { code: "cancelled" } });
  for (const { id } of first) {
    await jobs.cancel(id);
    const done = await jobs.wait(id, LONG);
    expect(done).toMatchObject({ status: "completed", error: { code: "cancelled" } });
    expect(await kernel.service("threads").turn("ann", done?.turn ?? "")).toMatchObject({
      status: "cancelled",
    });
  }
});

test("one that was running when the service stopped runs again, as the same turn under another name", async () => {
  const model = await scriptedModel();
  model.script({ text: "Half", end: "stall" });
  const before = await bootAgent({ model });
  const job = await before.service("jobs").submit(JOB);
  await expect.poll(() => model.requests.length).toBe(1);
  const first = (await before.service("jobs").find(job.id))?.turn;
  await before.stop();
  model.otherwise({ text: "Whole." });
  const jobs = (await bootAgent({ model, home: before.home })).service("jobs");
  const done = await jobs.wait(job.id, LONG);
  expect(done).toMatchObject({ status: "completed", response: "Whole." });
  expect(done?.turn).not.toBe(first);
  expect(JSON.stringify(model.requests.at(-1))).toContain("My name is Ann.");
});

test("a job of a conversation that runs waits for its own turn, as those of webhooks do; one that steers is heard", async () => {
  const model = await scriptedModel();
  const released = Promise.withResolvers<string>();
  const calls = [{ name: "memory_tree", arguments: {} }];
  model.script({ text: ["Let me ", released.promise], calls }, { text: "One." }, { text: "Two." });
  const kernel = await bootAgent({ model });
  const jobs = kernel.service("jobs");
  const threads = kernel.service("threads");
  const talk = { work: { steers: true }, keeping: { survivesRestart: true } };
  const submit = (message: string, turn?: JobTurn) =>
    jobs.submit({ user: "ann", channel: "test", conversation: "c", message, ...(turn && { turn }) });
  const first = await submit("First", talk);
  await expect.poll(() => model.requests.length).toBe(1);
  const heard = await submit("Heard", talk);
  await expect.poll(async () => (await jobs.find(heard.id))?.thread).toBeDefined();
  const own = await submit("Own");
  const late = await submit("Late", talk);
  released.resolve("look.");
  const done = await Promise.all([first, heard, own, late].map(({ id }) => jobs.wait(id, LONG)));
  expect(done.map((job) => job?.response?.split("\n").at(-1))).toEqual(["One.", "One.", "Two.", "ok"]);
  const turns = await Promise.all(done.map((job) => threads.turn("ann", job?.turn ?? "")));
  expect(turns[1]?.id).toBe(turns[0]?.id);
  expect(new Set(turns.map((turn) => turn?.id)).size).toBe(3);
  const said = model.requests.map(({ messages }) =>
    messages.filter(({ role }) => role === "user").map(({ content }) => String(content).split("\n").at(-1)),
  );
  expect(said).toEqual([
    ["First"],
    ["First", "Heard"],
    ["First", "Heard", "Own"],
    ["First", "Heard", "Own", "Late"],
  ]);
});
