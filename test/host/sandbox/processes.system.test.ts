/** Which tool has a process, which call waits for one, and what calls of one tool are to each other. */
import { existsSync, readdirSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { createPool, type PoolCall, type PoolOptions } from "../../../host/sandbox/pool.ts";
import { childrenBytes } from "../../support/processes/children.ts";
import { fixture, toComponent } from "../../support/tools/components.ts";
import { NOTHING, toolHost } from "../../support/tools/tool-host.ts";

const reply = { ok: true as const, status: 200, body: new Uint8Array() };

/** A pool, and a tool that waits for `answer` in the middle of its call. */
async function open(options: PoolOptions) {
  const pool = createPool({ size: 1, ...options });
  onTestFinished(() => pool.close());
  const call = async (name: string, params: unknown, rest: Partial<PoolCall> = {}) =>
    pool.call({
      component: toComponent(await fixture(name)),
      params: JSON.stringify(params),
      timeoutMs: 120_000,
      secrets: [],
      http: async () => reply,
      ...rest,
    });
  const wait = () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<typeof reply>();
    const http = () => {
      asked.resolve();
      return answer.promise;
    };
    const stop = new AbortController();
    const outcome = call("echo.js", { url: "https://a" }, { http, signal: stop.signal });
    return { outcome, asked: asked.promise, answer: () => answer.resolve(reply), cancel: () => stop.abort() };
  };
  return { pool, call, wait };
}

test("another tool waits where every process is busy, and gets the place of one that is idle", async () => {
  const { call, wait } = await open({ processes: 1 });
  const first = wait();
  await first.asked;
  let isThrough = false;
  const second = call("smuggler.wat", "g").finally(() => {
    isThrough = true;
  });
  expect(await call("smuggler.wat", "g", { timeoutMs: 300 })).toMatchObject({ code: "timeout" });
  expect(isThrough).toBe(false);
  first.answer();
  expect(await first.outcome).toMatchObject({ ok: true });
  expect(await second).toMatchObject({ ok: true });
  await expect.poll(() => childrenBytes().size).toBe(1);
});

test("calls wait while all tools together hold too much memory; one alone always runs", async () => {
  const { wait, call } = await open({ memoryBytes: 2 ** 20 });
  const first = wait();
  await first.asked;
  expect(await call("echo.js", { text: "x" }, { timeoutMs: 300 })).toMatchObject({ code: "timeout" });
  const second = call("echo.js", { text: "x" });
  first.answer();
  expect(await first.outcome).toMatchObject({ ok: true });
  expect(await second).toMatchObject({ ok: true });
});

test("a call that waits is cancelled alone: others that wait on its thread go on", async () => {
  const { wait } = await open({});
  const [one, other] = [wait(), wait()];
  await Promise.all([one.asked, other.asked]);
  one.cancel();
  expect(await one.outcome).toMatchObject({ code: "cancelled" });
  other.answer();
  expect(await other.outcome).toMatchObject({ ok: true });
});

test("calls of a tool that were given to a thread which never comes to them are run on another", async () => {
  const { call } = await open({});
  const stop = new AbortController();
  const begun = Promise.withResolvers<void>();
  const http = async () => {
    begun.resolve();
    return reply;
  };
  expect(await call("endless-loop.js", "stop")).toMatchObject({ ok: true });
  const loops = Array.from({ length: 2 }, () =>
    call("endless-loop.js", "ask", { http, signal: stop.signal }),
  );
  await begun.promise;
  const behind = Array.from({ length: 6 }, () => call("endless-loop.js", "stop"));
  for (const outcome of await Promise.all(behind)) expect(outcome).toMatchObject({ ok: true });
  stop.abort();
  for (const outcome of await Promise.all(loops)) expect(outcome).toMatchObject({ code: "cancelled" });
});

test("calls behind one that never ends are run when it has been ended", async () => {
  const { call } = await open({});
  expect(await call("endless-loop.js", "stop")).toMatchObject({ ok: true });
  const begun = Promise.withResolvers<void>();
  const http = async () => {
    begun.resolve();
    return reply;
  };
  const stop = new AbortController();
  const loop = call("endless-loop.js", "ask", { http, signal: stop.signal });
  await begun.promise;
  const behind = Array.from({ length: 3 }, () => call("endless-loop.js", "stop"));
  stop.abort();
  expect(await loop).toMatchObject({ code: "cancelled" });
  for (const outcome of await Promise.all(behind)) expect(outcome).toMatchObject({ ok: true });
});

test("a tool that was forgotten gives its process back", async () => {
  const { pool, call } = await open({});
  expect(await call("echo.js", { text: "x" })).toMatchObject({ ok: true });
  pool.forget(toComponent(await fixture("echo.js")));
  await expect.poll(() => childrenBytes().size).toBe(0);
  expect(await call("echo.js", { text: "x" })).toMatchObject({ ok: true });
});

test("a process killed in the middle of an install is a refusal that leaves nothing behind", async () => {
  const host = await toolHost();
  const examined = host.examine(await fixture("echo.js"), NOTHING);
  let isOver = false;
  const result = examined.then(
    () => "installed",
    (error: unknown) => (error as Error).message,
  );
  void result.finally(() => {
    isOver = true;
  });
  await expect.poll(() => childrenBytes().size).toBe(1);
  while (!isOver) {
    for (const pid of childrenBytes().keys()) process.kill(pid, "SIGKILL");
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await result).toContain(
    "This component cannot be a tool: it cannot be read (its process ended (SIGKILL))",
  );
  expect(await host.catalog.list()).toEqual([]);
  expect(existsSync(host.code.folder) ? readdirSync(host.code.folder) : []).toEqual([]);
});
