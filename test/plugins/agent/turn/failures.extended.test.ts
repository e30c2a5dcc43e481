import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { CallOptions } from "../../../../host/services.ts";
import {
  type AnyPlugin,
  definePlugin,
  type ToolCall,
  type TurnEvent,
  type TurnRecord,
} from "../../../../kernel/plugin.ts";
import type { RunningTurn } from "../../../../plugins/agent/services.ts";
import store from "../../../../plugins/store/plugin.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { testOnSqlite } from "../../../support/run/engine.ts";
import { startModelServer } from "../../../support/servers/model-server.ts";
import { bootAgent, eventsOf, message, scriptedModel, textIn } from "../../../support/services/agent.ts";
import { agentPlugins } from "../../../support/services/agent-plugins.ts";
import { bootKernel } from "../../../support/services/kernel.ts";

const ASK = { user: "ann", channel: "test", input: message("Hi") } as const;

function textOf(record: TurnRecord | undefined): string {
  return (record?.items ?? [])
    .flatMap((item) => (item.type === "message" && item.role === "assistant" ? [item.text] : []))
    .join("|");
}

describe("a turn that cannot end well ends as failed, says why, and loses nothing:", () => {
  test("the model server is down", async () => {
    const server = await startModelServer();
    await server.close();
    const kernel = await bootAgent({ model: server });
    const events = await eventsOf(await kernel.service("agent").run(ASK));
    expect(events.at(-1)).toMatchObject({ type: "failed", code: "model_unreachable" });
    expect(events.filter(({ type }) => type === "notice")).toHaveLength(3);
    expect(await kernel.service("threads").turn("ann", (events[0] as { turn: string }).turn)).toMatchObject({
      status: "failed",
      error: { code: "model_unreachable", message: expect.stringContaining("cannot be reached") },
      items: [{ role: "user", text: "Hi" }],
    });
  });

  test("500 before the first token is tried again, then told", async () => {
    const model = await scriptedModel();
    model.script({ status: 500, headers: { "retry-after": "0" } }, { text: "Better." });
    const kernel = await bootAgent({ model });
    const events = await eventsOf(await kernel.service("agent").run(ASK));
    expect(events.map(({ type }) => type)).toEqual(["started", "notice", "text", "usage", "done"]);
    model.otherwise({ status: 500, headers: { "retry-after": "0" } });
    const failed = await (await kernel.service("agent").run(ASK)).record;
    expect(failed.error).toMatchObject({ code: "model_error", message: expect.stringContaining("500") });
    expect(model.requests).toHaveLength(6);
  });

  test("429 is waited out as the server asks", async () => {
    const model = await scriptedModel();
    model.script({ status: 429, headers: { "retry-after": "1" } }, { text: "Now." });
    const kernel = await bootAgent({ model });
    const events = await eventsOf(await kernel.service("agent").run(ASK));
    expect(events).toContainEqual(
      expect.objectContaining({ code: "model_retry", message: expect.stringContaining("Retrying in 1 s") }),
    );
    expect(textIn(events)).toBe("Now.");
    model.script({ status: 429, headers: { "retry-after": "3600" } });
    const far = await (await kernel.service("agent").run(ASK)).record;
    expect(far.error?.code).toBe("model_limited");
  });

  test("a refused key is not tried again", async () => {
    const model = await scriptedModel();
    model.otherwise({ status: 401 });
    const kernel = await bootAgent({ model });
    const record = await (await kernel.service("agent").run(ASK)).record;
    expect(record.error).toMatchObject({ code: "model_unauthorized" });
    expect(model.requests).toHaveLength(1);
  });

  test.each(["cut", "error"] as const)("a stream that ends in %s after the first token", async (end) => {
    const model = await scriptedModel();
    const heard = Promise.withResolvers<string>();
    model.script({ text: ["It is ", "almost", heard.promise], end }, { text: "Here I am again." });
    const kernel = await bootAgent({ model });
    const agent = kernel.service("agent");
    const turn = await agent.run(ASK);
    const events: TurnEvent[] = [];
    for await (const event of turn) {
      events.push(event);
      // A connection that is cut takes what has not been read with it.
      if (textIn(events) === "It is almost") heard.resolve("");
    }
    expect(events.at(-1)).toMatchObject({ type: "failed", code: "model_cut" });
    expect(textIn(events)).toBe("It is almost");
    expect(textOf(await kernel.service("threads").turn("ann", turn.id))).toBe("It is almost");
    expect(model.requests).toHaveLength(1);
    const next = await (await agent.run({ ...ASK, thread: turn.thread })).record;
    expect(next.status).toBe("completed");
    expect(JSON.stringify(model.requests[1]?.messages)).toContain("It is almost");
  });

  test("an answer with nothing in it", async () => {
    const model = await scriptedModel();
    model.script({});
    const kernel = await bootAgent({ model });
    expect((await (await kernel.service("agent").run(ASK)).record).error?.code).toBe("empty_answer");
  });

  test("a model that calls tools for ever", async () => {
    const model = await scriptedModel();
    model.otherwise({ calls: [{ name: "ping", arguments: {} }] });
    const kernel = await bootAgent({
      model,
      variables: { TURN_MAX_TOOL_CALLS: "5" },
      tools: { ping: { run: () => ({ status: "ok", output: "pong" }) } },
    });
    const record = await (await kernel.service("agent").run(ASK)).record;
    expect(record).toMatchObject({ status: "failed", error: { code: "too_many_tool_calls" } });
    expect(record.items.filter(({ type }) => type === "tool_result")).toHaveLength(5);
  });

  test("a model that hangs: silence ends the turn", async () => {
    const model = await scriptedModel();
    model.script({ text: "One moment", end: "stall" });
    const kernel = await bootAgent({ model });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    const turn = await kernel.service("agent").run(ASK);
    const events: TurnEvent[] = [];
    for await (const event of turn) {
      events.push(event);
      if (event.type === "text" && textIn(events) === "One moment") vi.advanceTimersByTime(600_000);
    }
    const record = await turn.record;
    expect(record).toMatchObject({ status: "failed", error: { code: "turn_timeout" } });
    expect(textOf(record)).toBe("One moment");
  });

  test("§8 a turn takes as long as it needs while something happens", async () => {
    const model = await scriptedModel();
    const pieces = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    const slow = Promise.withResolvers<string>();
    model.script(
      { text: ["One ", ...pieces.map(({ promise }) => promise)], calls: [{ name: "slow", arguments: {} }] },
      { text: "done." },
    );
    const kernel = await bootAgent({
      model,
      tools: { slow: { run: async () => ({ status: "ok", output: await slow.promise }) } },
    });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    const turn = await kernel.service("agent").run(ASK);
    const events: TurnEvent[] = [];
    const over = (async () => {
      for await (const event of turn) events.push(event);
    })();
    const seen = (type: TurnEvent["type"], count: number) =>
      expect.poll(() => events.filter((event) => event.type === type).length).toBe(count);
    for (const [at, { resolve }] of pieces.entries()) {
      await seen("text", at + 1);
      vi.advanceTimersByTime(599_000);
      resolve("and ");
    }
    await seen("tool_started", 1);
    vi.advanceTimersByTime(599_000);
    slow.resolve("ok");
    await over;
    expect(await turn.record).toMatchObject({ status: "completed" });
    expect(textIn(events)).toBe("One and and done.");
  });

  test("a tool that ignores its signal does not outlive the turn", async () => {
    const model = await scriptedModel();
    model.script({ calls: [{ id: "s", name: "sleeper", arguments: {} }] });
    const kernel = await bootAgent({
      model,
      variables: { TURN_IDLE_SECS: "1" },
      tools: { sleeper: { run: () => new Promise(() => {}) } },
    });
    const record = await (await kernel.service("agent").run(ASK)).record;
    expect(record.error?.code).toBe("turn_timeout");
  });

  testOnSqlite("a disk that fills during the turn", async () => {
    const model = await scriptedModel();
    const long = "All work and no play. ".repeat(20_000);
    model.script({ text: "First." }, { text: long }, { text: "Room again." });
    const kernel = await bootAgent({ model });
    const agent = kernel.service("agent");
    const first = await agent.run(ASK);
    await first.record;
    const sql = await kernel.service("store").tables("test", []);
    const pages = (await sql.get<{ page_count: number }>("PRAGMA page_count"))?.page_count ?? 0;
    await sql.get(`PRAGMA max_page_count = ${pages + 10}`);
    const second = await agent.run({ ...ASK, thread: first.thread });
    const events = await eventsOf(second);
    expect(events.at(-1)).toMatchObject({
      type: "failed",
      code: "store_full",
      message: expect.stringContaining("disk is full"),
    });
    expect(textIn(events)).toBe(long);
    expect(await kernel.service("threads").turn("ann", first.id)).toMatchObject({ status: "completed" });
    await sql.get("PRAGMA max_page_count = 1000000");
    // What lived in memory is written as soon as there is room.
    await expect.poll(async () => textOf(await kernel.service("threads").turn("ann", second.id))).toBe(long);
    const third = await (await agent.run({ ...ASK, thread: first.thread })).record;
    expect(third.status).toBe("completed");
  });

  testOnSqlite("a stop while what lived in memory is being written", async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const model = await scriptedModel();
    const long = "All work and no play. ".repeat(20_000);
    model.script({ text: long });
    const kernel = await bootAgent({ model });
    const sql = await kernel.service("store").tables("test", []);
    const pages = (await sql.get<{ page_count: number }>("PRAGMA page_count"))?.page_count ?? 0;
    await sql.get(`PRAGMA max_page_count = ${pages + 10}`);
    const { id } = await (await kernel.service("agent").run(ASK)).record;
    await sql.get("PRAGMA max_page_count = 1000000");
    vi.advanceTimersByTime(5000);
    await kernel.stop();
    const again = await bootAgent({ home: kernel.home });
    expect(textOf(await again.service("threads").turn("ann", id)) === long).toBe(true);
  });
});

describe("a second model", () => {
  test("takes over when the first gives up before its first token, and the person is told", async () => {
    const model = await scriptedModel();
    const spare = await scriptedModel();
    model.otherwise({ status: 401 });
    spare.script({ text: "I am the spare." });
    const kernel = await bootAgent({
      model,
      variables: {
        MODEL_FALLBACK_PROVIDER: "openai-compatible",
        MODEL_FALLBACK_BASE_URL: spare.url,
        MODEL_FALLBACK_NAME: "spare",
      },
    });
    const turn = await kernel.service("agent").run(ASK);
    const events = await eventsOf(turn);
    expect(events).toContainEqual(expect.objectContaining({ type: "notice", code: "model_failover" }));
    expect(textIn(events)).toBe("I am the spare.");
    expect((await turn.record).model.name).toBe("spare");
  });

  test("with a smaller window leaves the first what it knew of the thread, should it come back", async () => {
    const model = await scriptedModel();
    const spare = await scriptedModel();
    const home = temporaryFolder();
    const window = (tokens: number) => ({ prices: [{ input: "0", output: "0" }], window: tokens });
    const models = { scripted: window(200_000), spare: window(8000) };
    writeFileSync(join(home, "models.json"), JSON.stringify({ models }));
    const kernel = await bootAgent({
      model,
      home,
      tools: { clock: { run: () => ({ status: "ok", output: "noon" }) } },
      variables: {
        MODEL_FALLBACK_PROVIDER: "openai-compatible",
        MODEL_FALLBACK_BASE_URL: spare.url,
        MODEL_FALLBACK_NAME: "spare",
      },
    });
    const agent = kernel.service("agent");
    let thread: string | undefined;
    for (let at = 0; at < 4; at++) {
      model.script({ text: `Noted, ${at}.` });
      const text = `Remember word-${at}. ${"Lorem ipsum. ".repeat(800)}`;
      const turn = await agent.run({ ...ASK, input: message(text), ...(thread && { thread }) });
      await turn.record;
      thread = turn.thread;
    }
    model.script({ status: 401 }, { text: "Back." });
    // Asked for a summary it is given no tools.
    spare.otherwise(({ tools }) =>
      tools ? { calls: [{ id: "c", name: "clock", arguments: {} }] } : { text: "They said words." },
    );
    const record = await (await agent.run({ ...ASK, ...(thread && { thread }) })).record;
    expect(textOf(record)).toBe("Back.");
    expect(JSON.stringify(model.requests.at(-1))).toContain("word-0");
  });
});

describe("cancelling", () => {
  test("stops a streaming turn at once, keeps what was said, and the thread goes on", async () => {
    const model = await scriptedModel();
    model.script({ text: "Once upon a time", end: "stall" }, { text: "Yes?" });
    const kernel = await bootAgent({ model });
    const agent = kernel.service("agent");
    const turn = await agent.run(ASK);
    for await (const event of turn) {
      if (event.type !== "text") continue;
      expect(await agent.cancel("eve", turn.id)).toBe(false);
      expect(await agent.cancel("ann", turn.id)).toBe(true);
      break;
    }
    const record = await turn.record;
    expect(record.status).toBe("cancelled");
    expect(textOf(await kernel.service("threads").turn("ann", turn.id))).toBe("Once upon a time");
    expect(await agent.cancel("ann", turn.id)).toBe(false);
    expect((await (await agent.run({ ...ASK, thread: turn.thread })).record).status).toBe("completed");
  });

  test("stops a tool call through its signal", async () => {
    const model = await scriptedModel();
    model.script({ calls: [{ id: "s", name: "sleeper", arguments: {} }] });
    const stopped = Promise.withResolvers<void>();
    const kernel = await bootAgent({
      model,
      tools: {
        sleeper: {
          run: (_params, signal) => {
            signal?.addEventListener("abort", () => stopped.resolve());
            return new Promise(() => {});
          },
        },
      },
    });
    const turn = await kernel.service("agent").run(ASK);
    for await (const event of turn) if (event.type === "tool_started") turn.cancel();
    await stopped.promise;
    expect((await turn.record).status).toBe("cancelled");
  });
});

describe("one turn at a time", () => {
  test("others wait in line, in order; a line that is too long is refused", async () => {
    const model = await scriptedModel();
    const gate = Promise.withResolvers<void>();
    model.script({ calls: [{ name: "wait", arguments: {} }] });
    const kernel = await bootAgent({
      model,
      tools: { wait: { run: () => gate.promise.then(() => ({ status: "ok", output: "" })) } },
    });
    const agent = kernel.service("agent");
    const first = await agent.run(ASK);
    const next = { ...ASK, thread: first.thread };
    const waiting: RunningTurn[] = [];
    for (const count of [1, 2, 3, 4])
      waiting.push(await agent.run({ ...next, input: message(`Number ${count}`) }));
    await expect(agent.run(next)).rejects.toThrow(
      expect.objectContaining({ kind: "limited", code: "thread_busy" }),
    );
    expect((await kernel.service("threads").turn("ann", waiting[0]?.id ?? ""))?.status).toBe("queued");
    await agent.cancel("ann", waiting[1]?.id ?? "");
    expect((await waiting[1]?.record)?.status).toBe("cancelled");
    gate.resolve();
    const records = await Promise.all([first, ...waiting].map((turn) => turn.record));
    expect(records.map(({ status }) => status)).toEqual([
      "completed",
      "completed",
      "cancelled",
      "completed",
      "completed",
    ]);
    const last = model.requests.at(-1)?.messages.filter(({ role }) => role === "user");
    expect(last?.map(({ content }) => content)).toEqual([
      "Hi",
      "Number 1",
      "Number 2",
      "Number 3",
      "Number 4",
    ]);
  });
});

describe("a restart", () => {
  test("closes a turn that was running as interrupted, keeps its items, and the thread goes on", async () => {
    const model = await scriptedModel();
    model.script({ text: "Half a ", end: "stall" }, { text: "And on." });
    const before = await bootAgent({ model });
    const turn = await before.service("agent").run(ASK);
    for await (const event of turn) if (event.type === "text") break;
    // As a crash leaves it: the row says running.
    await before.stop();
    expect((await turn.record).error?.code).toBe("interrupted");
    const kernel = await bootAgent({ model, home: before.home });
    const record = await kernel.service("threads").turn("ann", turn.id);
    expect(record).toMatchObject({ status: "failed", error: { code: "interrupted" } });
    expect(textOf(record)).toBe("Half a ");
    const next = await (await kernel.service("agent").run({ ...ASK, thread: turn.thread })).record;
    expect(next.status).toBe("completed");
  });
});

test("a tool host that cannot list its tools costs the turn its tools, not its answer", async () => {
  const model = await scriptedModel();
  const broken = definePlugin({
    name: "broken-tools",
    provides: ["tools"],
    configure: () => ({}),
    start: () => ({
      tools: {
        list: () => Promise.reject(new Error("the catalog is unreadable")),
        call: () => Promise.reject(new Error("never")),
      },
    }),
  });
  const kernel = await bootKernel([store, broken, ...agentPlugins] as readonly AnyPlugin[], {
    MODEL_BASE_URL: model.url,
  });
  const events = await eventsOf(await kernel.service("agent").run(ASK));
  expect(events).toContainEqual(expect.objectContaining({ type: "notice", code: "tools_unavailable" }));
  expect(events.at(-1)?.type).toBe("done");
});

test("a call that waits for its tool to be prepared says so, and when that is over", async () => {
  const model = await scriptedModel();
  model.script({ calls: [{ id: "c", name: "weather", arguments: {} }] });
  const unprepared = definePlugin({
    name: "unprepared-tools",
    provides: ["tools"],
    configure: () => ({}),
    start: () => ({
      tools: {
        list: async () => [
          { name: "weather", version: "1", description: "", schema: {}, grants: [], writes: false },
        ],
        async call(_: ToolCall, { onPreparing }: CallOptions) {
          onPreparing?.(true);
          onPreparing?.(false);
          return { status: "ok", output: "sunny" } as const;
        },
      },
    }),
  });
  const kernel = await bootKernel([store, unprepared, ...agentPlugins] as readonly AnyPlugin[], {
    MODEL_BASE_URL: model.url,
  });
  const events = await eventsOf(await kernel.service("agent").run(ASK));
  const told = events.filter(({ type }) => ["tool_started", "notice", "tool_finished"].includes(type));
  expect(told).toMatchObject([
    { type: "tool_started" },
    { type: "notice", code: "tools_getting_ready", message: "Preparing weather", call: "c" },
    { type: "notice", code: "tools_ready", call: "c" },
    { type: "tool_finished" },
  ]);
});

test("a turn that waits for the shipped tools says so", async () => {
  const model = await scriptedModel();
  const slow = definePlugin({
    name: "slow-tools",
    provides: ["tools"],
    configure: () => ({}),
    start: () => ({
      tools: {
        ready: async (onWait?: (at: number, of: number) => void) => onWait?.(3, 5),
        list: async () => [],
        call: () => Promise.reject(new Error("never")),
      },
    }),
  });
  const kernel = await bootKernel([store, slow, ...agentPlugins] as readonly AnyPlugin[], {
    MODEL_BASE_URL: model.url,
  });
  const events = await eventsOf(await kernel.service("agent").run(ASK));
  expect(events.filter(({ type }) => type === "notice")).toEqual([
    { type: "notice", code: "tools_getting_ready", message: "Preparing tools 3/5" },
    { type: "notice", code: "tools_ready", message: "The tools are ready." },
  ]);
  expect(events.at(-1)?.type).toBe("done");
});
