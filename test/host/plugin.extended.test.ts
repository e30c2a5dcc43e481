/** The plugin in the real kernel: what the agent sees of tools. */
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import tools from "../../host/plugin.ts";
import type { ToolCall } from "../../kernel/vocabulary/tool-call.ts";
import store from "../../plugins/store/plugin.ts";
import { temporaryFolder } from "../support/home.ts";
import { type Answering, openUpstream } from "../support/servers/upstream.ts";
import { type BootedKernel, bootKernel } from "../support/services/kernel.ts";
import { fixture } from "../support/tools/components.ts";
import { prepareShipped } from "../support/tools/shipped.ts";
import { allowing, install, installProber, toolHost } from "../support/tools/tool-host.ts";

const NEVER_SERVING = { only: ["tools", "toolHost"] } as const;

async function upstream(answer?: Answering) {
  const server = await openUpstream(answer);
  onTestFinished(() => server.close());
  return server;
}

const probe = (params: object): ToolCall => ({ id: "call", name: "prober", params: JSON.stringify(params) });

async function bootWithProber(variables = {}, capabilities = allowing("127.0.0.1")): Promise<BootedKernel> {
  const kernel = await bootKernel([store, tools], variables, NEVER_SERVING);
  await installProber(await kernel.service("toolHost").open(), capabilities);
  return kernel;
}

describe("tools of the agent", () => {
  test("a tool is listed with its words, its schema and its grants in sentences", async () => {
    const kernel = await bootWithProber();
    expect(await kernel.service("tools").list()).toEqual([
      {
        name: "prober",
        hints: { readOnly: true, destructive: false, openWorld: true },
        version: "1.0.0",
        description: "Probes what its host lets it do.",
        hosts: ["127.0.0.1"],
        schema: expect.objectContaining({ type: "object" }),
        grants: expect.arrayContaining([
          "may GET https://127.0.0.1/v1/*, up to 60 requests per minute and 500 per hour",
        ]),
        writes: false,
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
  });

  test("a tool that may do more than GET and HEAD is said to write", async () => {
    const kernel = await bootWithProber({}, allowing("127.0.0.1").replace('["GET"]', '["GET","POST"]'));
    expect((await kernel.service("tools").list())[0]?.writes).toBe(true);
  });

  test("an allowed request reaches the upstream, and the receipt says where, with what and how long", async () => {
    const { port, requests } = await upstream();
    const kernel = await bootWithProber({ TOOLS_PRIVATE_HOSTS: `127.0.0.1:${port}` });
    const outcome = await kernel
      .service("tools")
      .call(probe({ url: `http://127.0.0.1:${port}/v1/x` }), { user: "ada" });
    expect(outcome).toEqual({ status: "ok", output: '{"answers":[200]}', receipt: expect.any(String) });
    expect(requests).toHaveLength(1);
    const { receipts } = await kernel.service("toolHost").open();
    expect(await receipts.list()).toEqual([
      {
        id: outcome.status === "ok" ? outcome.receipt : "",
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        tool: "prober",
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        user: "ada",
        millis: expect.any(Number),
        status: "ok",
        requests: [
          {
            method: "GET",
            host: `127.0.0.1:${port}`,
            status: 200,
            bytes: 2,
            millis: expect.any(Number),
            credentials: [],
          },
        ],
        credentials: [],
        memoryPeak: expect.any(Number),
        logs: [{ level: "info", message: `probing http://127.0.0.1:${port}/v1/x` }],
        logsDropped: 0,
      },
    ]);
    expect((await receipts.list())[0]?.memoryPeak).toBeGreaterThan(100_000);
  });

  test("a request under way when its call is cancelled or out of time is in the receipt", async () => {
    const { port, requests } = await upstream(() => {});
    const kernel = await bootWithProber(
      { TOOLS_PRIVATE_HOSTS: `127.0.0.1:${port}` },
      JSON.stringify({ ...JSON.parse(allowing("127.0.0.1")), limits: { timeout_secs: 2 } }),
    );
    const tools = kernel.service("tools");
    // The first call pays for loading, which takes longer than these two seconds on a busy machine.
    await expect.poll(() => tools.call(probe({}), { user: "ada" })).toMatchObject({ status: "ok" });
    const call = probe({ url: `http://127.0.0.1:${port}/v1/x` });
    const controller = new AbortController();
    const { signal } = controller;
    const cancelled = tools.call(call, { user: "ada", signal });
    await expect.poll(() => requests).toHaveLength(1);
    controller.abort();
    await cancelled;
    await tools.call(call, { user: "ada" });
    const { receipts } = await kernel.service("toolHost").open();
    const [late, stopped] = await receipts.list();
    expect([late?.code, stopped?.code]).toEqual(["timeout", "cancelled"]);
    for (const receipt of [late, stopped])
      expect(receipt?.requests).toMatchObject([{ host: `127.0.0.1:${port}`, error: expect.any(String) }]);
  });

  test("private hosts can be allowed and taken away while it runs, and tools say so", async () => {
    const { port, requests } = await upstream();
    const kernel = await bootWithProber({});
    const host = `127.0.0.1:${port}`;
    const [tools, settings] = [kernel.service("tools"), kernel.service("settings")];
    const answers = async () => {
      const outcome = await tools.call(probe({ url: `http://${host}/v1/x` }), { user: "ada" });
      return outcome.status === "ok" ? outcome.output : outcome.status;
    };
    const grants = async () => (await tools.list())[0]?.grants.join();
    const without = await grants();
    expect(await answers()).not.toContain("200");
    await settings.change({ TOOLS_PRIVATE_HOSTS: host }, "operator");
    expect(await answers()).toBe('{"answers":[200]}');
    expect(await grants()).not.toBe(without);
    await settings.change({ TOOLS_PRIVATE_HOSTS: null }, "operator");
    expect(await answers()).not.toContain("200");
    expect(await grants()).toBe(without);
    expect(requests).toHaveLength(1);
    await expect(settings.change({ TOOLS_PRIVATE_HOSTS: "http://x/" }, "operator")).rejects.toMatchObject({
      code: "bad_settings",
    });
  });

  test("§4.4 a host that is not listed is blocked, and the receipt keeps the refusal", async () => {
    const { port, requests } = await upstream();
    const kernel = await bootWithProber(
      { TOOLS_PRIVATE_HOSTS: `127.0.0.1:${port}` },
      allowing("api.example.com"),
    );
    const outcome = await kernel
      .service("tools")
      .call(probe({ url: `http://127.0.0.1:${port}/v1/x` }), { user: "ada" });
    expect(outcome).toMatchObject({ status: "ok", output: expect.stringContaining("127.0.0.1") });
    expect(requests).toEqual([]);
    const [receipt] = await (await kernel.service("toolHost").open()).receipts.list();
    expect(receipt?.requests[0]).toMatchObject({ bytes: 0, error: expect.stringContaining("127.0.0.1") });
    expect(receipt?.requests[0]?.status).toBeUndefined();
  });

  test("§8 the 61st request of a minute is refused with the time to wait, for this user only", async () => {
    const { port, requests } = await upstream();
    const kernel = await bootWithProber({ TOOLS_PRIVATE_HOSTS: `127.0.0.1:${port}` });
    const ask = async (times: number, user: string): Promise<(number | string)[]> => {
      const params = { url: `http://127.0.0.1:${port}/v1/x`, times };
      const outcome = await kernel.service("tools").call(probe(params), { user });
      if (outcome.status === "question") throw new Error("a component asks no questions");
      return outcome.status === "ok" ? JSON.parse(outcome.output).answers : [outcome.message];
    };
    expect(new Set(await ask(50, "ada"))).toEqual(new Set([200]));
    const answers = await ask(11, "ada");
    expect(answers.slice(0, 10)).toEqual(Array(10).fill(200));
    expect(answers[10]).toMatch(
      /^rate_limit_exceeded: The rate limit of 60 requests a minute is reached; next request in \d+ s\.$/,
    );
    expect(requests).toHaveLength(60);
    expect(await ask(1, "grace")).toEqual([200]);
  });

  test("a loop without end is killed at its deadline, reported, and the next call works", async () => {
    const capabilities = JSON.stringify({
      ...JSON.parse(allowing("127.0.0.1")),
      limits: { timeout_secs: 2 },
    });
    const kernel = await bootWithProber({}, capabilities);
    const call = (params: object) => kernel.service("tools").call(probe(params), { user: "ada" });
    // The first call pays for loading, which takes longer than these two seconds on a busy machine.
    await expect.poll(() => call({})).toMatchObject({ status: "ok" });
    expect(await call({ loop: true })).toMatchObject({
      status: "error",
      code: "timeout",
      message: "The tool did not answer within 2 seconds and was ended.",
    });
    // The next one may have to wait for another thread.
    await expect.poll(() => call({})).toMatchObject({ status: "ok" });
    const { receipts } = await kernel.service("toolHost").open();
    expect(await receipts.list()).toContainEqual(
      expect.objectContaining({
        status: "error",
        code: "timeout",
        logs: [{ level: "info", message: "probing nothing" }],
      }),
    );
  });

  test("a call ends when its signal does", async () => {
    const cancel = new AbortController();
    const { port } = await upstream((_, response) => {
      response.on("close", () => cancel.abort()).end();
    });
    const kernel = await bootWithProber({ TOOLS_PRIVATE_HOSTS: `127.0.0.1:${port}` });
    // It asks, and has its answer, before it loops.
    const call = probe({ url: `http://127.0.0.1:${port}/v1/x`, loop: true });
    expect(await kernel.service("tools").call(call, { user: "ada", signal: cancel.signal })).toMatchObject({
      status: "error",
      code: "cancelled",
    });
  });

  test("params that do not match the schema never reach the tool", async () => {
    const kernel = await bootWithProber();
    expect(await kernel.service("tools").call(probe({ times: 0 }), { user: "ada" })).toMatchObject({
      status: "error",
      code: "invalid_params",
      message: "Invalid parameters: 'times' must be between 1 and 100, given 0",
    });
  });

  test("a credential that is not set stops the call before any request, as an auth gate", async () => {
    const kernel = await bootWithProber(
      {},
      allowing("127.0.0.1", {
        credentials: {
          probe: { secret_name: "probe_token", location: { type: "bearer" }, host_patterns: ["127.0.0.1"] },
        },
      }),
    );
    expect(await kernel.service("tools").call(probe({}), { user: "ada" })).toMatchObject({
      status: "unauthenticated",
      tool: "prober",
      secret: "probe_token",
    });
  });

  test("a tool that was changed on disk is refused by its digest, a removed one is gone", async () => {
    const installer = await toolHost();
    await installProber(installer, allowing("127.0.0.1"));
    const kernel = await bootKernel([store, tools], {}, { ...NEVER_SERVING, home: installer.home });
    const host = await kernel.service("toolHost").open();
    const call = () => kernel.service("tools").call(probe({}), { user: "ada" });
    await writeFile(join(installer.home, "tools", "prober", "component.wasm"), "something else");
    expect(await call()).toMatchObject({
      status: "error",
      code: "unavailable",
      message: expect.stringContaining("was changed on disk"),
    });
    await host.remove("prober");
    expect(await call()).toMatchObject({ status: "error", code: "no_such_tool" });
    expect(await kernel.service("tools").list()).toEqual([]);
  });

  test("calls in flight finish when their tool is removed or replaced", async () => {
    const removed = Promise.withResolvers<void>();
    const server = await openUpstream((_, response) => void removed.promise.then(() => response.end("late")));
    onTestFinished(() => server.close());
    const kernel = await bootWithProber({ TOOLS_PRIVATE_HOSTS: `127.0.0.1:${server.port}` });
    const host = await kernel.service("toolHost").open();
    const running = kernel
      .service("tools")
      .call(probe({ url: `http://127.0.0.1:${server.port}/v1/x` }), { user: "ada" });
    await expect.poll(() => server.requests.length).toBe(1);
    await host.remove("prober");
    removed.resolve();
    expect(await running).toMatchObject({ status: "ok", output: '{"answers":[200]}' });
  });

  test("another process's install is there at the next call, without a restart", async () => {
    const kernel = await bootKernel([store, tools], {}, NEVER_SERVING);
    const call = () => kernel.service("tools").call(probe({}), { user: "ada" });
    expect(await call()).toMatchObject({ code: "no_such_tool" });
    const other = await toolHost({}, kernel.home);
    await installProber(other, allowing("api.example.com"));
    expect(await call()).toMatchObject({ status: "ok" });
  });
});

describe("the plugin", () => {
  test("bad settings are refused by name", async () => {
    const boot = bootKernel([store, tools], {
      TOOLS_PRIVATE_HOSTS: "10.0.0.1",
      POSTERN_SECRETS_KEY: "short",
    });
    await expect(boot).rejects.toThrow(/TOOLS_PRIVATE_HOSTS: got/);
    await expect(boot).rejects.toThrow(/POSTERN_SECRETS_KEY: got \(hidden\)/);
  });

  test("the readiness check answers", async () => {
    const kernel = await bootKernel([store, tools], {}, NEVER_SERVING);
    expect(await kernel.service("kernel").readiness()).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: "tools", ok: true })]),
    );
  });

  test("a service offers the shipped tools once: what a user removed stays removed", async () => {
    const home = temporaryFolder();
    await prepareShipped();
    const kernel = await bootKernel([store, tools], {}, { home });
    const names = async (running: BootedKernel) =>
      (await running.service("tools").list()).map(({ name }) => name);
    await expect
      .poll(() => names(kernel))
      .toEqual(["convert", "read-page", "run-code", "weather", "web-search"]);
    await expect
      .poll(
        () =>
          kernel
            .service("kernel")
            .plugins()
            .find(({ name }) => name === "tools")?.detail,
      )
      .toBe("convert, read-page, run-code, weather, web-search");
    const host = await kernel.service("toolHost").open();
    await host.remove("weather");
    await host.provideShipped(() => {});
    expect(await names(kernel)).toEqual(["convert", "read-page", "run-code", "web-search"]);
    // Their code came with them.
    expect(existsSync(join(kernel.home, "cache"))).toBe(false);
  });

  test("a tool of the user's own under a shipped name is left alone", async () => {
    const host = await toolHost();
    await prepareShipped();
    const own = await install(host, "weather", await fixture("prober.js"), allowing("api.example.com"));
    await host.provideShipped(() => {});
    expect((await host.catalog.find("weather"))?.digest).toBe(own.digest);
    await rm(join(host.home, "tools", "weather"), { recursive: true });
    await host.provideShipped(() => {});
    expect((await host.catalog.list()).map(({ name }) => name)).toEqual([
      "convert",
      "read-page",
      "run-code",
      "web-search",
    ]);
  });
});
