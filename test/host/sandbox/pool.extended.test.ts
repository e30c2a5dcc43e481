import { hash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createComponent } from "../../../host/compile/transpile.ts";
import { createPool, type Pool, type PoolCall } from "../../../host/sandbox/pool.ts";
import { moveTime } from "../../support/clock/moved-time.ts";
import { CACHE } from "../../support/tools/alone.ts";
import { componentizeJsFixture, fixture, repeated, toComponent } from "../../support/tools/components.ts";
import { afterThisTest } from "../../support/undo.ts";

let pool: Pool;
beforeAll(() => {
  pool = createPool({ size: 2 });
});
afterAll(() => pool.close());

async function call(name: string, params: unknown, rest: Partial<PoolCall> = {}) {
  return pool.call({
    component: toComponent(await fixture(name)),
    params: JSON.stringify(params),
    timeoutMs: 120_000,
    secrets: [],
    http: async () => ({ ok: false, error: "no network here" }),
    ...rest,
  });
}

/** A call of a tool that loops for ever, and the moment at which it does: its last request has been answered. */
function loop(timeoutMs = 100_000, rest: Partial<PoolCall> = {}) {
  const begun = Promise.withResolvers<void>();
  const http = async () => {
    begun.resolve();
    return { ok: true as const, status: 200, body: new Uint8Array() };
  };
  return { begun: begun.promise, outcome: call("endless-loop.js", "ask", { http, timeoutMs, ...rest }) };
}

describe("a call", () => {
  test("its output comes back, with what the receipt needs", async () => {
    const outcome = await call("echo.js", { text: "hello", line: "a line" });
    expect(outcome).toMatchObject({ ok: true, output: '{"text":"hello"}', droppedLogs: 0 });
    expect(outcome.logs).toEqual([{ level: "info", message: "a line" }]);
    expect(outcome.memoryPeakBytes).toBeGreaterThan(65_536);
    expect(outcome.millis).toBeGreaterThan(0);
  });

  test("what a componentize-js tool prints becomes log entries, and its clock and network work alike", async () => {
    const component = toComponent(await componentizeJsFixture("echo.js"));
    const http = async () => ({ ok: true as const, status: 200, body: Buffer.from("body") });
    const params = { text: "hello", print: "two\nlines", url: "https://a" };
    const outcome = await call("echo.js", params, { component, http });
    expect(outcome).toMatchObject({ ok: true, output: '{"text":"hello","status":200,"body":"body"}' });
    expect(outcome.logs).toEqual([
      { level: "info", message: "two" },
      { level: "info", message: "lines" },
    ]);
  });

  test("http-request reaches the one who answers for this call, as the tool wrote it", async () => {
    const asked: unknown[] = [];
    const outcome = await call(
      "echo.js",
      { url: "https://example.com/x", body: "please" },
      {
        http: async (request) => {
          asked.push({ ...request, body: Buffer.from(request.body ?? []).toString() });
          return { ok: true, status: 203, body: Buffer.from("hello") };
        },
      },
    );
    expect(outcome).toMatchObject({ ok: true, output: '{"status":203,"body":"hello"}' });
    expect(asked).toEqual([
      {
        method: "GET",
        url: "https://example.com/x",
        headersJson: '{"accept":"text/plain"}',
        body: "please",
        timeoutMs: 1500,
      },
    ]);
  });

  test("a refused request, and one whose answerer breaks, are errors the tool can read", async () => {
    const refused = await call("echo.js", { url: "https://a" });
    expect(refused).toMatchObject({ code: "tool_error", message: "HTTP request failed: no network here" });
    const broken = await call(
      "echo.js",
      { url: "https://a" },
      { http: () => Promise.reject(new Error("it broke")) },
    );
    expect(broken).toMatchObject({ code: "tool_error", message: "HTTP request failed: it broke" });
  });

  test("§4.4 secret-exists knows the names it was given and no others", async () => {
    const ask = async (secret: string) => call("echo.js", { secret }, { secrets: ["token"] });
    expect(await ask("token")).toMatchObject({ output: '{"secret":true}' });
    expect(await ask("other")).toMatchObject({ output: '{"secret":false}' });
  });

  test("a component describes itself, without network", async () => {
    const described = await pool.describe(toComponent(await fixture("echo.js")));
    expect(described.description).toBe("Gives back what it was given.");
    expect(JSON.parse(described.schema)).toMatchObject({ type: "object" });
  });

  test("one that cannot describe itself is refused with the reason", async () => {
    const component = toComponent(await fixture("traps.wit"));
    await expect(pool.describe(component)).rejects.toMatchObject({
      kind: "invalid",
      code: "cannot_describe_itself",
    });
  });
});

describe("§4.4 a hostile tool ends in an outcome", () => {
  test.each([
    ["both", "bad_response", "both output and error"],
    ["none", "bad_response", "neither output nor error"],
    ["text", "bad_response", "not JSON"],
    ["giant", "bad_response", "over 1 MiB"],
    ["error", "tool_error", "The city is not known."],
    ["throw", "threw", "a plain failure"],
    ["number", "threw", ""],
    ["nothing", "threw", ""],
  ])("an answer that is %s: %s", async (params, code, words) => {
    const outcome = await call("bad-answers.js", params);
    expect(outcome).toMatchObject({ ok: false, code, message: expect.stringContaining(words) });
  });

  test("a trap", async () => {
    expect(await call("traps.wit", {})).toMatchObject({ ok: false, code: "trap" });
  });

  test.each(["small", "large"])(
    "an allocation bomb of %s pieces runs out of its own memory",
    async (pieces) => {
      const outcome = await call("allocation-bomb.js", pieces);
      expect(outcome).toMatchObject({ ok: false, code: "out_of_memory" });
      expect(outcome.memoryPeakBytes).toBeLessThanOrEqual(64 * 2 ** 20);
    },
  );

  test("a flood of logs is cut to 1000 entries of 4 KiB, and the rest is counted", async () => {
    const outcome = await call("log-flood.js", {});
    expect(outcome).toMatchObject({ ok: true, droppedLogs: 4000 });
    expect(outcome.logs).toHaveLength(1000);
    for (const { message } of outcome.logs) expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4096);
  });

  test("an endless loop is ended at its deadline, keeps its logs, and only that call is lost", async () => {
    const asked = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const slow = call(
      "echo.js",
      { url: "https://slow" },
      {
        http: async () => {
          asked.resolve();
          await ended.promise;
          return { ok: true, status: 200, body: new Uint8Array() };
        },
      },
    );
    await asked.promise;
    const { advance } = moveTime(afterThisTest);
    const { begun, outcome } = loop(5000);
    await begun;
    await advance(5000);
    const lost = await outcome;
    expect(lost).toMatchObject({ ok: false, code: "timeout", message: expect.stringContaining("5 seconds") });
    expect(lost.logs).toEqual([{ level: "info", message: "before the loop" }]);
    ended.resolve();
    expect(await slow).toMatchObject({ ok: true });
    expect(await call("endless-loop.js", "stop")).toMatchObject({ ok: true, output: '"stopped"' });
  });

  test("more loops than workers do not keep others from running", async () => {
    const stop = new AbortController();
    const loops = Array.from({ length: 4 }, () => loop(100_000, { signal: stop.signal }));
    await Promise.all(loops.map(({ begun }) => begun));
    expect(await call("echo.js", { text: "me too" }, { timeoutMs: 90_000 })).toMatchObject({ ok: true });
    stop.abort();
    for (const { outcome } of loops) expect(await outcome).toMatchObject({ code: "cancelled" });
  });

  test("after every kind of failure the pool answers as before", async () => {
    for (let round = 0; round < 3; round++) {
      await Promise.all([
        call("traps.wit", {}),
        call("bad-answers.js", "throw"),
        call("allocation-bomb.js", "small"),
      ]);
    }
    expect(await call("echo.js", { text: "still here" })).toMatchObject({ ok: true });
  });
});

describe("cancelling", () => {
  test("a call that waits for an answer is cancelled at once, and the request with it", async () => {
    const controller = new AbortController();
    let requestSignal: AbortSignal | undefined;
    const outcome = await call(
      "echo.js",
      { url: "https://never" },
      {
        signal: controller.signal,
        http: (_request, signal) => {
          requestSignal = signal;
          setImmediate(() => controller.abort());
          return new Promise(() => {});
        },
      },
    );
    expect(outcome).toMatchObject({ ok: false, code: "cancelled" });
    expect(requestSignal?.aborted).toBe(true);
  });

  test("a call that was cancelled before it began never runs", async () => {
    const outcome = await call("echo.js", { line: "ran" }, { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ code: "cancelled", logs: [] });
  });

  test("closing the pool ends calls in flight as cancelled", async () => {
    const other = createPool({ size: 1 });
    const component = toComponent(await fixture("endless-loop.js"));
    const begun = Promise.withResolvers<void>();
    const http = async () => {
      begun.resolve();
      return { ok: true as const, status: 200, body: new Uint8Array() };
    };
    const inFlight = other.call({ component, params: '"ask"', timeoutMs: 100_000, secrets: [], http });
    await begun.promise;
    await other.close();
    expect(await inFlight).toMatchObject({ ok: false, code: "cancelled" });
  });
});

describe("many calls", () => {
  test("24 calls that wait for slow servers wait together, not behind two workers", async () => {
    let waiting = 0;
    const all = Promise.withResolvers<void>();
    const http = async () => {
      // All of them must get here before any goes on.
      if (++waiting === 24) all.resolve();
      await all.promise;
      return { ok: true as const, status: 200, body: new Uint8Array() };
    };
    const calls = Array.from({ length: 24 }, () =>
      call("echo.js", { url: "https://slow" }, { http, timeoutMs: 80_000 }),
    );
    for (const outcome of await Promise.all(calls)) expect(outcome).toMatchObject({ ok: true });
  });

  test("calls that have their reply go on before others are begun", async () => {
    const fresh = createPool({ size: 2 });
    afterThisTest(fresh.close);
    const component = toComponent(await fixture("echo.js"));
    const params = JSON.stringify({ url: "https://a" });
    /** Of 150 calls at once, how many had ended when the last one asked. */
    const countEnded = async () => {
      let ended = 0;
      let endedBefore = 0;
      const http = async () => {
        endedBefore = ended;
        return { ok: true as const, status: 200, body: new Uint8Array() };
      };
      const calls = Array.from({ length: 150 }, async () => {
        expect(await fresh.call({ component, params, timeoutMs: 120_000, secrets: [], http })).toMatchObject({
          ok: true,
        });
        ended++;
      });
      await Promise.all(calls);
      return endedBefore;
    };
    // Only a few of those that were begun before the last one had not ended. While this process gets no time, it replies to none.
    await expect.poll(countEnded).toBeGreaterThan(100);
  });

  test("200 calls at once of two tools each get their own answer", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        index % 2 === 0 ? call("echo.js", { text: `${index}` }) : call("smuggler.wat", "g"),
      ),
    );
    for (const [index, outcome] of outcomes.entries()) {
      const output = index % 2 === 0 ? JSON.stringify({ text: `${index}` }) : '"0000000000"';
      expect(outcome).toMatchObject({ ok: true, output });
    }
  });
});

describe("a component that makes the host hold things ends itself, not the service", () => {
  test.each([
    ["a list of millions", "poll", "a list is too long"],
    ["handles without end", "handles", "100000 handles"],
  ])("%s", async (_what, way, why) => {
    const outcome = await call("hoarder.wat", way, { timeoutMs: 60_000 });
    expect(outcome).toMatchObject({ ok: false, code: "trap", message: expect.stringContaining(why) });
    expect(await call("echo.js", { text: "on" })).toMatchObject({ ok: true });
  });
});

describe("a component that instantiates one core module many times", () => {
  test("shares its one limit of memory out among all of them", async () => {
    const component = toComponent(await repeated("eater.wat", 100), 32);
    const before = process.memoryUsage.rss();
    const outcome = await call("echo.js", "g", { component });
    expect(outcome).toMatchObject({ ok: true, output: '"0000000000"' });
    expect(outcome.memoryPeakBytes).toBeLessThanOrEqual(32 * 2 ** 20);
    // The memories, the copy they are put back from, and a million table entries.
    expect(process.memoryUsage.rss() - before).toBeLessThan(1024 * 2 ** 20);
  });

  test("is refused where there are more than a thousand", async () => {
    const component = toComponent(await repeated("eater.wat", 500, 2));
    await expect(component.load()).rejects.toThrow("it makes 1001 core instances; 1000 are allowed");
  });
});

describe("the component's file", () => {
  test("a file that is not the one that was installed is not run", async () => {
    const bytes = await fixture("echo.js");
    const component = createComponent({
      sha256: hash("sha256", "something else"),
      read: async () => bytes,
      cache: CACHE,
      memoryMb: 64,
    });
    expect(await call("echo.js", {}, { component })).toMatchObject({
      ok: false,
      code: "unavailable",
      message: expect.stringContaining("not the one that was installed"),
    });
  });

  test("a file that cannot be read is an outcome, and the worker lives on", async () => {
    const component = createComponent({
      sha256: hash("sha256", ""),
      read: () => Promise.reject(new Error("the disk is gone")),
      cache: CACHE,
      memoryMb: 64,
    });
    expect(await call("echo.js", {}, { component })).toMatchObject({
      ok: false,
      message: expect.stringContaining("disk is gone"),
    });
    expect(await call("echo.js", { text: "on" })).toMatchObject({ ok: true });
  });
});
