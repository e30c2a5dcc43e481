/** The contract of `postern/tool-host`, on the sources. What it is on the packed package: `packed.extended.test.ts`. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createOpenAI } from "@ai-sdk/openai";
import { stepCountIs, streamText } from "ai";
import { beforeAll, expect, test } from "vitest";
import {
  aiTools,
  type Grant,
  openToolHost,
  type ToolEvent,
  type ToolFiles,
  type ToolHostOptions,
  toolFunctions,
} from "../../../host/library/tool-host.ts";
import { ROOT } from "../../support/clone.ts";
import { temporaryFolder } from "../../support/home.ts";
import { openUpstream } from "../../support/servers/upstream.ts";
import { scriptedModel } from "../../support/services/agent.ts";
import { copyCode, fixture } from "../../support/tools/components.ts";
import { openHomeStore } from "../../support/tools/home-store.ts";
import { afterThisTest } from "../../support/undo.ts";

const ANN = { user: "ann" };
const TEXT = { text: "hello" };
const yes = () => true;

async function echo(more: object = {}): Promise<ToolFiles> {
  const capabilities = JSON.stringify({ version: "1.0.0", wit_version: "0.1.0", ...more });
  return { component: await fixture("echo.js"), capabilities };
}

/** What a bearer token is sent with, to a server on this machine. */
const BEARER = {
  http: {
    allowlist: [{ host: "127.0.0.1", path_prefix: "/", methods: ["GET"] }],
    credentials: {
      main: { secret_name: "token", location: { type: "bearer" }, host_patterns: ["127.0.0.1"] },
    },
  },
  auth: { secret_name: "token", env_var: "ECHO_TOKEN" },
};

/** An installed tool is a folder, which can be copied: to look at a component takes a busy machine seconds. */
let installed: string;
beforeAll(async () => {
  const undos: (() => unknown)[] = [];
  installed = join(
    temporaryFolder((undo) => undos.push(undo)),
    "tools",
  );
  await copyCode(await fixture("echo.js"), installed);
  await using host = await openToolHost({ folder: installed });
  await host.install(await echo(BEARER), { name: "echo", agree: yes });
  return async () => {
    for (const undo of undos) await undo();
  };
});

const VALUES = { ECHO_TOKEN: "value-of-an-option" };

/** A host that has the tool and its credential. */
async function openWithEcho(options: Partial<ToolHostOptions> = {}) {
  const folder = join(temporaryFolder(), "tools");
  cpSync(installed, folder, { recursive: true });
  return open({ values: VALUES, ...options, folder });
}

async function open(options: Partial<ToolHostOptions> = {}) {
  const folder = options.folder ?? join(temporaryFolder(), "tools");
  await copyCode(await fixture("echo.js"), folder);
  const host = await openToolHost({ ...options, folder });
  afterThisTest(host.close);
  return { ...host, folder };
}

test("a tool is installed after it was agreed to, called, recorded and removed", async () => {
  const host = await open();
  const events: ToolEvent[] = [];
  const stop = host.events((event) => void events.push(event));
  const grants: Grant[] = [];
  const agree = (grant: Grant) => grants.push(grant) > 0;
  const tool = await host.install(await echo(), { name: "echo", agree });
  expect(grants[0]).toMatchObject({
    name: "echo",
    version: "1.0.0",
    sentences: expect.arrayContaining(["may not use the network"]),
  });
  expect(await host.list()).toEqual([tool]);
  expect(await host.describe("echo")).toEqual(tool);

  const outcome = await host.call("echo", TEXT, ANN);
  expect(outcome).toMatchObject({ status: "ok", output: JSON.stringify(TEXT) });
  expect(await host.call("echo", { text: 1 }, ANN)).toMatchObject({ code: "invalid_params" });
  expect(await host.call("echo", "no JSON", ANN)).toMatchObject({ code: "invalid_params" });
  expect(await host.call("nothing", {}, ANN)).toMatchObject({ code: "no_such_tool" });
  const receipts = await host.receipts({ user: "ann" });
  expect(receipts.map(({ status }) => status)).toEqual(["error", "error", "ok"]);

  expect(await host.remove("echo")).toBe(true);
  expect(await host.remove("echo")).toBe(false);
  stop();
  expect(events.map(({ type }) => type)).toEqual(["installed", "called", "called", "called", "removed"]);
});

test("what nobody agrees to is not installed, and a replacement says what changes", async () => {
  const host = await openWithEcho();
  const before = await host.list();
  const wrong = { ...(await echo()), capabilities: "{}" };
  await expect(host.install(wrong, { name: "echo", agree: yes })).rejects.toMatchObject({
    kind: "invalid",
    code: "tool_capabilities",
  });
  const grants: Grant[] = [];
  const agree = (grant: Grant) => grants.push(grant) === 0;
  const http = { allowlist: [{ host: "example.org", path_prefix: "/", methods: ["GET"] }] };
  await expect(host.install(await echo({ http }), { name: "echo", agree })).rejects.toMatchObject({
    kind: "forbidden",
    code: "not_agreed",
  });
  expect(await host.list()).toEqual(before);
  expect(grants[0]?.replaces).toMatchObject({ version: "1.0.0" });
  expect(grants[0]?.replaces?.added.join()).toContain("example.org");
  expect(grants[0]?.replaces?.removed.join()).toContain("127.0.0.1");
  expect(await host.call("echo", TEXT, ANN)).toMatchObject({ status: "ok" });
});

test("a credential comes from an option or is set, never from the environment", async () => {
  const upstream = await openUpstream(({ headers }, response) =>
    response.end(headers.authorization?.slice(-4)),
  );
  afterThisTest(upstream.close);
  const params = { url: `http://127.0.0.1:${upstream.port}/` };
  const privateHosts = [`127.0.0.1:${upstream.port}`];
  process.env["ECHO_TOKEN"] = "of-the-environment";
  afterThisTest(() => delete process.env["ECHO_TOKEN"]);

  const host = await openWithEcho({ privateHosts, values: {} });
  expect(await host.call("echo", params, ANN)).toMatchObject({ status: "unauthenticated" });
  expect(await host.secrets.list("echo")).toMatchObject([{ name: "token", isSet: false }]);
  await host.secrets.set("echo", "token", "value-that-was-set");
  expect(await host.secrets.list("echo")).toMatchObject([{ name: "token", isSet: true }]);
  expect(await host.call("echo", params, ANN)).toMatchObject({ output: '{"status":200,"body":"-set"}' });
  await expect(host.secrets.set("echo", "other", "x")).rejects.toMatchObject({ code: "unknown_secret" });
  await host.close();

  const again = await open({ folder: host.folder, privateHosts, values: VALUES });
  expect(await again.call("echo", params, ANN)).toMatchObject({ output: '{"status":200,"body":"tion"}' });
});

test("a call runs only if `approve` says so", async () => {
  const asked: unknown[] = [];
  const approve: ToolHostOptions["approve"] = ({ tool, ...call }) => {
    asked.push({ name: tool.name, ...call });
    return call.user === "ann";
  };
  const host = await openWithEcho({ approve });
  expect(await host.call("echo", TEXT, { user: "bob" })).toMatchObject({ code: "not_approved" });
  expect(await host.receipts()).toEqual([]);
  expect(await host.call("echo", TEXT, ANN)).toMatchObject({ status: "ok" });
  expect(asked).toEqual(["bob", "ann"].map((user) => ({ name: "echo", params: JSON.stringify(TEXT), user })));
});

test("a folder belongs to one host at a time, in this process and in others", async () => {
  const { folder, close } = await open();
  await expect(openToolHost({ folder })).rejects.toMatchObject({ kind: "config", code: "folder_in_use" });
  const other = () => {
    const library = JSON.stringify(join(ROOT, "host/library/tool-host.ts"));
    const program = `const { openToolHost } = await import(${library});
      await using host = await openToolHost({ folder: ${JSON.stringify(folder)} });`;
    const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", program];
    return spawnSync(process.execPath, args, { encoding: "utf8" });
  };
  expect(other().stderr).toContain("is in use: another tool host");
  await close();
  expect(other()).toMatchObject({ status: 0, stderr: "" });
});

test("two hosts in one process do not meet", async () => {
  const [one, two] = [await openWithEcho({ values: {} }), await openWithEcho()];
  expect(await one.secrets.list("echo")).toMatchObject([{ isSet: false }]);
  expect(await two.secrets.list("echo")).toMatchObject([{ isSet: true }]);
  await two.call("echo", TEXT, ANN);
  expect(await one.receipts()).toEqual([]);
  await one.close();
  expect(await two.call("echo", TEXT, ANN)).toMatchObject({ status: "ok" });
});

test("nothing is left after closing, and signals and other listeners were left alone", async () => {
  const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
  const before = listeners();
  const host = await openWithEcho();
  await host.call("echo", TEXT, ANN);
  expect(listeners()).toEqual(before);
  const [tool, ...others] = readdirSync(join(host.folder, "tools"));
  expect([tool, others]).toEqual(["echo", []]);
  await host.close();
  await host.close();
  await expect(host.call("echo", TEXT, ANN)).rejects.toMatchObject({ code: "tool_host_closed" });
  expect(existsSync(join(host.folder, "store.sqlite-wal"))).toBe(false);
});

test("a call can be cancelled, and closing ends those that run", async () => {
  const held = Promise.withResolvers<void>();
  const upstream = await openUpstream(() => held.resolve());
  afterThisTest(upstream.close);
  const host = await openWithEcho({ privateHosts: [`127.0.0.1:${upstream.port}`] });
  const params = { url: `http://127.0.0.1:${upstream.port}/` };
  const cancelled = new AbortController();
  const first = host.call("echo", params, { ...ANN, signal: cancelled.signal });
  await held.promise;
  cancelled.abort();
  expect(await first).toMatchObject({ status: "error", code: "cancelled" });
  const second = host.call("echo", params, ANN);
  await host.close();
  expect(await second).toMatchObject({ status: "error" });
});

test("closing answers no to whoever is being asked, also if they wait for it to be closed", async () => {
  const asked = Promise.withResolvers<void>();
  const approve: ToolHostOptions["approve"] = async ({ user }) => {
    if (user === "bob") return new Promise(() => {});
    asked.resolve();
    await host.close();
    return true;
  };
  const host = await openWithEcho({ approve });
  const agreed = Promise.withResolvers<void>();
  const agree = () => {
    agreed.resolve();
    return new Promise<boolean>(() => {});
  };
  const refused = expect(host.install(await echo(), { name: "echo", agree })).rejects.toMatchObject({
    code: "not_agreed",
  });
  await agreed.promise;
  const calls = ["bob", "ann"].map((user) => host.call("echo", TEXT, { user }));
  await asked.promise;
  await host.close();
  expect(await Promise.all(calls)).toMatchObject([{ code: "not_approved" }, { code: "not_approved" }]);
  await refused;
  const again = await open({ folder: host.folder });
  expect(await again.list()).toMatchObject([{ name: "echo" }]);
});

test("closing leaves nothing open if a part of it fails, and says what failed", async () => {
  const store = openHomeStore(temporaryFolder());
  afterThisTest(store.close);
  const changes = {
    ...store.changes,
    follow: (...given: Parameters<typeof store.changes.follow>) => {
      const unfollow = store.changes.follow(...given);
      return () => {
        unfollow();
        throw new Error("the store is gone");
      };
    },
  };
  const folder = join(temporaryFolder(), "tools");
  const host = await openToolHost({ folder, store: { ...store, changes } });
  await expect(host.close()).rejects.toThrow("the store is gone");
  await using again = await openToolHost({ folder });
  expect(await again.list()).toEqual([]);
});

test("params that JSON cannot hold are refused", async () => {
  const host = await open();
  const circle: { self?: object } = {};
  circle.self = circle;
  for (const params of [circle, { large: 1n }, () => {}])
    await expect(host.call("echo", params, ANN)).rejects.toMatchObject({
      kind: "invalid",
      code: "invalid_json",
      param: "params",
    });
});

test("tools are functions with a JSON Schema, and tools of the AI SDK", async () => {
  const host = await openWithEcho();
  const [tool] = await toolFunctions(host, ANN);
  expect(tool).toMatchObject({ name: "echo", parameters: { type: "object" } });
  expect(await tool?.call(TEXT)).toBe(JSON.stringify(TEXT));
  await expect(tool?.call({ text: 1 })).rejects.toMatchObject({ name: "Fault", code: "invalid_params" });

  const model = await scriptedModel();
  model.script({ calls: [{ id: "call_1", name: "echo", arguments: TEXT }] }, { text: "It said hello." });
  const openai = createOpenAI({ apiKey: "none", baseURL: model.url });
  const told = streamText({
    model: openai.chat("gpt-5"),
    prompt: "Say hello.",
    tools: await aiTools(host, ANN),
    stopWhen: stepCountIs(3),
  });
  expect(await told.text).toBe("It said hello.");
  expect((await told.steps)[0]?.toolResults).toMatchObject([
    { toolName: "echo", output: JSON.stringify(TEXT) },
  ]);
  expect(model.requests[0]).toMatchObject({ tools: [{ function: { name: "echo" } }] });
});
