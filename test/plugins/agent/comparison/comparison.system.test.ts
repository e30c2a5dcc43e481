/** Ten threads of the built-in model, replayed with a scripted one: real sockets, a real store, tools that count their calls. */
import { expect, test } from "vitest";
import type { ComparedTurn } from "../../../../plugins/agent/services.ts";
import { MIGRATIONS } from "../../../../plugins/agent/threads/tables.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";
import { ASKED, answerAsBuiltin, CITIES, tenThreads, USER } from "../../../support/services/ten-threads.ts";

type Kernel = Awaited<ReturnType<typeof bootAgent>>;

/** All that is stored of threads. */
async function stored({ service }: Kernel): Promise<unknown> {
  const sql = await service("store").tables("agent", MIGRATIONS);
  const tables = ["threads", "turns", "turn_items", "turn_pieces", "attachments", "approvals"];
  return Promise.all(tables.map((table) => sql.all(`SELECT * FROM ${table}`)));
}

const scripted = { user: USER, model: { name: "scripted" } };
const verdicts = (turns: readonly ComparedTurn[]) => turns.map(({ calls }) => calls);

test("turns are replayed with recorded results: nothing is executed, and nothing is written to the threads", async () => {
  const { threads, calls, model, boot } = await tenThreads();
  expect(calls).toHaveLength(CITIES.length);
  const kernel = await boot();
  const { service } = kernel;
  const before = await stored(kernel);
  const comparison = await service("comparisons").prepare(scripted);
  expect(comparison).toMatchObject({ turns: 10, missing: 10, host: new URL(model.url).host });
  const turns = await Array.fromAsync(comparison.run(new AbortController().signal));

  expect(calls).toHaveLength(CITIES.length);
  expect(await stored(kernel)).toEqual(before);
  expect(verdicts(turns)).toEqual([
    ...["same", "same", "differs_here", "different", "same", "same", "same", "same", "same", "same"],
  ]);
  expect(turns.map(({ thread }) => thread)).toEqual(threads);
  expect(turns.map(({ text }) => text)).toEqual(ASKED);
  const [berlin, , rome, lima] = turns as [ComparedTurn, ComparedTurn, ComparedTurn, ComparedTurn];
  expect(berlin.before.model.provider).toBe("builtin");
  expect(berlin.after).toMatchObject({
    model: { name: "scripted" },
    answer: "It is mild.",
    usage: { inputTokens: 2000, outputTokens: 100 },
    calls: [{ name: "weather" }],
    questions: 0,
  });
  expect(rome.after.error).toMatchObject({
    code: "differs_here",
    message: expect.stringContaining("imperial"),
  });
  expect(lima.after).toMatchObject({ calls: [], answer: expect.stringContaining("An answer to: ") });
  // The model is shown what the tool returned when the turn ran.
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('{\\"temperature\\": 1}');
  expect(await service("conversations").usage(figuresOfToday())).toMatchObject({
    figures: {
      groups: [
        { name: "compare", count: 10 },
        { name: "test", count: 10 },
      ],
    },
  });
});

function figuresOfToday() {
  const span = { since: "2000-01-01T00:00:00.000Z", until: "2100-01-01T00:00:00.000Z" };
  return { spans: [span], by: "channel" as const };
}

test("a comparison that was stopped is continued: what was replayed is not asked again, unless it shall be", async () => {
  const { model, boot } = await tenThreads();
  const { service } = await boot();
  const comparisons = service("comparisons");
  const stopper = new AbortController();
  const first = (await comparisons.prepare(scripted)).run(stopper.signal);
  const seen: ComparedTurn[] = [];
  const stopping = async () => {
    for await (const turn of first) if (seen.push(turn) === 4) stopper.abort();
  };
  await expect(stopping()).rejects.toThrow("aborted");
  const asked = model.requests.length;

  const rest = await comparisons.prepare(scripted);
  expect(rest).toMatchObject({ turns: 10, missing: 6 });
  const turns = await Array.fromAsync(rest.run(new AbortController().signal));
  expect(turns.slice(0, 4)).toEqual(seen);
  // Four with a call, and two without.
  expect(model.requests.length - asked).toBe(4 * 2 + 2);
  expect(await comparisons.prepare(scripted)).toMatchObject({ missing: 0, estimate: { totalCost: "0" } });
  expect(await comparisons.prepare({ ...scripted, again: true, last: 3 })).toMatchObject({
    turns: 3,
    missing: 3,
  });
});

test("the daily cap ends a comparison, and what was spent counts against it for the operator", async () => {
  const { model, boot } = await tenThreads();
  model.offer("gpt-5-mini");
  const usage = { input: 1000, output: 50, cost: 1.05 };
  model.otherwise((request) => ({ ...answerAsBuiltin(request), usage }));
  const { service } = await boot({ MODEL_NAME: "gpt-5-mini", DAILY_USD_CAP: "5" });
  const query = { user: USER, model: { name: "gpt-5-mini" } };
  const comparison = await service("comparisons").prepare(query);
  expect(Number(comparison.estimate.totalCost)).toBeGreaterThan(0);
  const turns: ComparedTurn[] = [];
  const capped = async () => {
    for await (const turn of comparison.run(new AbortController().signal)) turns.push(turn);
  };
  // The request that passes the cap is the last.
  await expect(capped()).rejects.toMatchObject({ code: "daily_cap" });
  expect(turns).toHaveLength(3);
  const turn = await service("agent").run({ user: USER, channel: "test", input: message("Hello") });
  expect((await turn.record).error?.code).toBe("daily_cap");
  expect(await service("comparisons").prepare(query)).toMatchObject({ missing: 7 });
});

test("a call that waits for the person counts as a question, in the turn as it ran and in the replay", async () => {
  const { boot, calls } = await tenThreads({ writes: true });
  expect(calls).toEqual([]);
  const { service } = await boot();
  const agent = service("agent");
  const [gate] = await service("approvals").pending(USER);
  await (
    await agent.run({
      user: USER,
      channel: "test",
      thread: gate?.thread ?? "",
      input: { type: "approval", gate: gate?.id ?? "", decision: "once" },
    })
  ).record;
  const comparison = await service("comparisons").prepare({ ...scripted, threads: [gate?.thread ?? ""] });
  const [compared] = await Array.fromAsync(comparison.run(new AbortController().signal));
  expect(compared).toMatchObject({ calls: "same", before: { questions: 1 }, after: { questions: 1 } });
  expect(calls).toHaveLength(1);
});

test("a tool of the agent's own that prepares what it asks about is not made to, and its question counts", async () => {
  const model = await scriptedModel();
  const { service } = await bootAgent({ model });
  const agent = service("agent");
  let prepared = 0;
  agent.extend({
    tools: [
      {
        ...{
          name: "build",
          description: "Builds.",
          schema: { type: "object" },
          effect: "writes",
          needsPerson: true,
        },
        asks: () => [`build number ${++prepared}`],
        run: async () => ({ status: "ok", output: "built" }),
      },
    ],
  });
  const calling = { calls: [{ name: "build", arguments: { what: "it" } }] };
  model.script(calling, { text: "Not built." }, calling, { text: "Then not." });
  const turn = await agent.run({ user: USER, channel: "test", input: message("Build it") });
  const { gate, thread } = await turn.record;
  const input = { type: "approval", gate: gate?.id ?? "", decision: "deny" } as const;
  await (await agent.run({ user: USER, channel: "test", thread, input })).record;
  const comparison = await service("comparisons").prepare(scripted);
  const turns = await Array.fromAsync(comparison.run(new AbortController().signal));
  expect(turns).toMatchObject([
    {
      calls: "same",
      before: { answer: "Not built.", questions: 1 },
      after: { answer: "Then not.", questions: 1, calls: [{ name: "build" }] },
    },
  ]);
  expect(prepared).toBe(1);
  // The model is shown that the person said no.
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("did not allow this call");
});

test("a replay asks exactly what was asked when the turn ran, also on a branch and after a thread has gone on", async () => {
  const model = await scriptedModel();
  const { service } = await bootAgent({
    model,
    tools: { look: { run: () => ({ status: "ok", output: "a cat" }) } },
  });
  const say = async (text: string, thread?: string, after?: string) => {
    const turn = await service("agent").run({
      ...{ user: USER, channel: "test", input: message(text), preamble: { instructions: "Be kind." } },
      ...(thread && { thread }),
      ...(after && { after }),
    });
    return await turn.record;
  };
  const script = [
    { text: "Hello." },
    ...[{ calls: [{ id: "one", name: "look", arguments: {} }] }, { text: "It is a cat." }],
    { text: "A dog, then." },
    { text: "Bye." },
  ];
  model.script(...script);
  const first = await say("Hi");
  await say("What is there?", first.thread);
  const branch = await say("Or else?", first.thread, first.id);
  await say("Bye", first.thread, branch.id);
  const asked = [...model.requests];
  expect(asked).toHaveLength(5);

  model.script(...script);
  const comparison = await service("comparisons").prepare({ ...scripted, threads: [first.thread] });
  const turns = await Array.fromAsync(comparison.run(new AbortController().signal));
  expect(model.requests.slice(5)).toEqual(asked);
  expect(verdicts(turns)).toEqual(["same", "same", "same", "same"]);
  expect(turns.map(({ after }) => after.answer)).toEqual(turns.map(({ before }) => before.answer));
});

test("a model with a small window has the past summarised for itself alone, and a thread that goes takes its replays along", async () => {
  const model = await scriptedModel();
  const kernel = await bootAgent({ model });
  const long = "All work and no play. ".repeat(1000);
  let thread: string | undefined;
  for (const text of [long, long, "And now?"]) {
    const turn = await kernel
      .service("agent")
      .run({ user: USER, channel: "test", input: message(text), ...(thread && { thread }) });
    expect((await turn.record).status).toBe("completed");
    thread = turn.thread;
  }
  await kernel.stop();
  const small = await bootAgent({ home: kernel.home, model, variables: { MODEL_CONTEXT_TOKENS: "16000" } });
  const before = await stored(small);
  const comparison = await small.service("comparisons").prepare(scripted);
  const turns = await Array.fromAsync(comparison.run(new AbortController().signal));
  expect(verdicts(turns)).toEqual(["same", "same", "same"]);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("<summary>");
  expect(await stored(small)).toEqual(before);
  await small.service("threads").remove(USER, thread ?? "");
  const sql = await small.service("store").tables("agent", MIGRATIONS);
  expect(await sql.all("SELECT * FROM replays")).toEqual([]);
});

test("another user's turns are compared only if the user is named", async () => {
  const { boot } = await tenThreads();
  const { service } = await boot();
  await (await service("agent").run({ user: "ann", channel: "test", input: message("Hello from Ann") }))
    .record;
  const comparisons = service("comparisons");
  expect(await comparisons.prepare(scripted)).toMatchObject({ turns: 10 });
  const anns = await comparisons.prepare({ ...scripted, user: "ann" });
  const turns = await Array.fromAsync(anns.run(new AbortController().signal));
  expect(turns.map(({ text }) => text)).toEqual(["Hello from Ann"]);
  await expect(comparisons.prepare({ ...scripted, model: { name: "none" } })).rejects.toMatchObject({
    code: "unknown_model",
  });
});
