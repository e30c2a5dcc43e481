/** Ten threads of the built-in model, replayed with a scripted one: real sockets, a real store, tools that count their calls. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { ComparedTurn } from "../../../../plugins/agent/services.ts";
import { postern, startPostern } from "../../../support/processes/postern.ts";
import type { ChatRequest, ModelReply } from "../../../support/servers/model-server.ts";
import { bootAgent, message, scriptedModel, type TestTool } from "../../../support/services/agent.ts";
import { weather } from "../../../support/services/builtin-tools.ts";

const CITIES = ["Berlin", "Oslo", "Rome", "Lima", "Cairo", "Paris", "Tokyo", "Quito"];
const ASKED = [...CITIES.map((city) => `What is the weather in ${city}?`), "Hello", "What can you do?"];
const USER = "operator";

/** A home with ten threads, each with one turn of the built-in model, and the calls that were made of the tool. */
async function tenThreads(more: Partial<TestTool> = {}) {
  const calls: unknown[] = [];
  const tools = {
    weather: {
      ...{ description: weather.description, schema: weather.schema, ...more },
      run: (params: unknown) => ({ status: "ok" as const, output: `{"temperature": ${calls.push(params)}}` }),
    },
  };
  const { service, home, stop } = await bootAgent({ tools });
  const threads: string[] = [];
  for (const text of ASKED) {
    const turn = await service("agent").run({ user: USER, channel: "test", input: message(text) });
    expect((await turn.record).status).toMatch(/completed|waiting/);
    threads.push(turn.thread);
  }
  await stop();
  const model = await scriptedModel();
  model.otherwise(answer);
  const variables = { MODEL_PROVIDER: "openai-compatible" };
  const boot = (others = {}) => bootAgent({ home, tools, model, variables: { ...variables, ...others } });
  return { home, threads, calls, model, boot };
}

/** Calls the tool as the built-in model did; for Rome with other arguments, and for Lima not at all. */
function answer({ messages }: ChatRequest): ModelReply {
  const usage = { input: 1000, output: 50 };
  const last = messages.at(-1);
  const said = last?.content as string;
  const city = CITIES.find((name) => said.includes(`in ${name}?`));
  if (last?.role === "tool") return { text: "It is mild.", usage };
  if (city === undefined || city === "Lima") return { text: `An answer to: ${said}`, usage };
  const params = { city, action: "get_current", ...(city === "Rome" && { units: "imperial" }) };
  return { calls: [{ name: "weather", arguments: params }], usage };
}

/** All that is stored of threads. */
function stored(home: string): unknown {
  using database = new DatabaseSync(join(home, "store.sqlite"), { readOnly: true });
  const tables = ["threads", "turns", "turn_items", "turn_pieces", "attachments", "approvals"];
  return tables.map((table) => database.prepare(`SELECT * FROM ${table}`).all());
}

const PRICED = { models: { scripted: { window: 100_000, prices: [{ input: "1000", output: "1000" }] } } };

const scripted = { user: USER, model: { name: "scripted" } };
const verdicts = (turns: readonly ComparedTurn[]) => turns.map(({ calls }) => calls);

test("turns are replayed with recorded results: nothing is executed, and nothing is written to the threads", async () => {
  const { home, threads, calls, model, boot } = await tenThreads();
  expect(calls).toHaveLength(CITIES.length);
  const before = stored(home);
  const { service } = await boot();
  const comparison = await service("comparisons").prepare(scripted);
  expect(comparison).toMatchObject({ turns: 10, missing: 10, host: new URL(model.url).host });
  const turns = await Array.fromAsync(comparison.run(new AbortController().signal));

  expect(calls).toHaveLength(CITIES.length);
  expect(stored(home)).toEqual(before);
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
  const { home, boot } = await tenThreads();
  writeFileSync(join(home, "models.json"), JSON.stringify(PRICED));
  const { service } = await boot({ DAILY_USD_CAP: "5" });
  const comparison = await service("comparisons").prepare(scripted);
  expect(Number(comparison.estimate.totalCost)).toBeGreaterThan(5);
  const turns: ComparedTurn[] = [];
  const capped = async () => {
    for await (const turn of comparison.run(new AbortController().signal)) turns.push(turn);
  };
  // Each request costs $1.05, and the one that passes the cap is the last.
  await expect(capped()).rejects.toMatchObject({ code: "daily_cap" });
  expect(turns).toHaveLength(3);
  const turn = await service("agent").run({ user: USER, channel: "test", input: message("Hello") });
  expect((await turn.record).error?.code).toBe("daily_cap");
  expect(await service("comparisons").prepare(scripted)).toMatchObject({ missing: 7 });
});

test("a call that waits for the person counts as a question, in the turn as it ran and in the replay", async () => {
  const { home, boot, calls } = await tenThreads({ writes: true });
  expect(calls).toEqual([]);
  const before = stored(home);
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
  expect(before).not.toEqual(stored(home));
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

test("postern models compare says what it costs, asks, prints both answers and a summary, and writes a page", async () => {
  const { home, model } = await tenThreads();
  model.otherwise((request) => {
    const said = answer(request);
    return "text" in said ? { ...said, text: "<script>alert(1)</script> & more" } : said;
  });
  const env = { POSTERN_HOME: home, MODEL_BASE_URL: model.url, MODEL_NAME: "scripted", LOG_LEVEL: "error" };
  const compare = (...args: string[]) =>
    postern(["models", "compare", "scripted", ...args], { env, cwd: home });
  const unasked = await compare();
  expect(unasked).toMatchObject({ code: 1, stderr: expect.stringContaining("pass --yes to agree") });
  expect(unasked.stderr).toContain(`their texts go to ${new URL(model.url).host}. It costs about $`);
  expect(model.requests).toEqual([]);

  const stopped = startPostern(["models", "compare", "scripted", "--yes", "--last", "2"], { env, cwd: home });
  const wait = Promise.withResolvers<string>();
  model.script({ text: "first" }, { text: ["sec", wait.promise] });
  await stopped.printed("1/2");
  await expect.poll(() => model.requests.length).toBe(2);
  stopped.kill("SIGINT");
  expect(await stopped.ended).toBe(1);
  wait.resolve("ond");
  expect(stopped.stderr()).toContain("The same command continues the comparison.");

  const { stdout, stderr } = await compare("--yes", "--page", "compare.html");
  expect(stderr).toContain("9 turns to replay with scripted (openai-compatible) (1 of 10 replayed already)");
  expect(stdout).toMatch(
    /^10\/10 › What can you do\?\n {2}same calls\n {2}builtin \(0 \+ 0 tokens, .*, 0 questions\)$/m,
  );
  expect(stdout).toContain("called weather");
  expect(stdout).toMatch(/^10 turns: \d same calls, /m);
  const page = readFileSync(join(home, "compare.html"), "utf8");
  expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt; &amp; more");
  expect(page).not.toContain("<script");
  const { turns } = JSON.parse((await compare("--json", "--last", "1")).stdout);
  expect(turns).toMatchObject([{ text: "What can you do?", calls: "same", after: { usage: { cost: 0 } } }]);
  expect((await compare("--page", "compare.html")).stderr).toContain("is there already: use --replace");
});
