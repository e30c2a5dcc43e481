/** Components of WASI 0.3, made by componentize-qjs: what they get, what they do not, and what becomes of those that mean harm. */
import { expect, test } from "vitest";
import { inspect } from "../../../host/compile/component.ts";
import { createPool } from "../../../host/sandbox/pool.ts";
import type { ToolReply, ToolRequest } from "../../../host/sandbox/protocol.ts";
import { fixture, toComponent } from "../../support/tools/components.ts";
import { afterThisTest } from "../../support/undo.ts";

const NO_ANSWER: ToolReply = { ok: false, error: "nobody is there" };

async function open() {
  const bytes = await fixture("wasi-3.js");
  const pool = createPool({ size: 1 });
  afterThisTest(() => pool.close());
  const component = toComponent(bytes);
  const call = async (
    params: object,
    {
      http = async () => NO_ANSWER,
      timeoutMs = 60_000,
    }: { http?: (request: ToolRequest) => Promise<ToolReply>; timeoutMs?: number } = {},
  ) => {
    const outcome = await pool.call({
      component,
      params: JSON.stringify(params),
      timeoutMs,
      secrets: [],
      http,
    });
    return { ...outcome, said: outcome.ok ? JSON.parse(outcome.output) : undefined };
  };
  return { bytes, call };
}

test("requests of wasi:http 0.3 go to the broker, and its refusals come back in words", async () => {
  const { call } = await open();
  const asked: ToolRequest[] = [];
  const http = async (request: ToolRequest): Promise<ToolReply> => {
    asked.push(request);
    const body = Buffer.from(`heard ${Buffer.from(request.body ?? []).toString()}`);
    return { ok: true, status: 201, headers: [["x-kind", "test"]], body };
  };
  const answer = { status: 201, headers: [["x-kind", "test"]] };
  const get = { deed: "send", authority: "api.test" };
  expect((await call(get, { http })).said).toEqual({ calls: 1, ...answer, text: "heard " });
  const post = { ...get, method: "post", body: "a body" };
  expect((await call(post, { http })).said).toEqual({ calls: 1, ...answer, text: "heard a body" });
  const common = { url: "https://api.test/path?q=1", headersJson: '{"accept":"text/plain"}' };
  expect(asked).toMatchObject([
    { method: "GET", ...common, body: undefined },
    { method: "POST", ...common, body: new TextEncoder().encode("a body") },
  ]);
  const refused = async (what: object) =>
    (await call({ ...get, ...what, deed: "refused" }, { http })).said.error;
  expect((await call({ ...get, deed: "refused" })).said.error).toEqual({
    tag: "internal-error",
    val: "nobody is there",
  });
  expect(await refused({ body: "x".repeat((1 << 20) + 1) })).toMatchObject({
    val: "The request body is over 1 MiB: nothing was sent.",
  });
  expect(await refused({ body: "x", trailers: true })).toMatchObject({
    val: "The request body was given up: nothing was sent.",
  });
  expect(asked).toHaveLength(2);
});

test("it gets clocks and a log, and neither files, environment, input nor sockets", async () => {
  const { bytes, call } = await open();
  expect((await inspect(bytes)).denied).toEqual(["sockets"]);
  const denied = { tag: "access-denied" };
  expect((await call({ deed: "look" })).said).toEqual({
    calls: 1,
    environment: [],
    arguments: [],
    folder: null,
    input: "",
    folders: 0,
    tcp: denied,
    udp: denied,
    names: denied,
  });
  const printed = await call({ deed: "print", text: "one\ntwo" });
  expect(printed.said).toEqual({ calls: 1, tag: "ok" });
  expect(printed.logs.map(({ message }) => message)).toEqual(["one", "two"]);
  expect((await call({ deed: "wait", millis: 20 })).said.millis).toBeGreaterThanOrEqual(20);
});

test("no call sees another, and one that never answers or waits too long is ended", async () => {
  const { call } = await open();
  for (let round = 0; round < 3; round++) expect((await call({})).said).toEqual({ calls: 1 });
  expect(await call({ deed: "wait", millis: 3_600_000 }, { timeoutMs: 500 })).toMatchObject({
    code: "timeout",
  });
  expect(await call({ deed: "never" }, { timeoutMs: 2000 })).toMatchObject({ ok: false });
  expect((await call({})).said).toEqual({ calls: 1 });
});

test("ten thousand streams, streams that never end and futures nobody reads stay within the call", async () => {
  const { call } = await open();
  expect((await call({ deed: "open", count: 1000 })).said).toEqual({ calls: 1, opened: 1000 });
  expect(await call({ deed: "open", count: 10_000 })).toMatchObject({ ok: false });
  expect((await call({ deed: "leave", count: 100 })).said).toEqual({ calls: 1, left: 100 });
  expect((await call({})).said).toEqual({ calls: 1 });
  const poured = await call({ deed: "pour", megabytes: 8 });
  expect(poured.said).toEqual({ calls: 1, tag: "ok" });
  expect(poured.logs.length).toBeLessThanOrEqual(1000);
  expect((await call({})).said).toEqual({ calls: 1 });
});
