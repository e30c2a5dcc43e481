/** Tool hosts on several homes and one database: what one of them changes is the others' too. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { digestOf } from "../../host/catalog/catalog.ts";
import type { ServiceHostConfig } from "../../host/service-host.ts";
import { temporaryFolder } from "../support/home.ts";
import { openPostgres } from "../support/processes/engines.ts";
import { postern } from "../support/processes/postern.ts";
import { describePostgres, execute, freshDatabase } from "../support/processes/postgres/database.ts";
import { openUpstream } from "../support/servers/upstream.ts";
import { copyCode, fixture } from "../support/tools/components.ts";
import { builtComponent, prepareShipped } from "../support/tools/shipped.ts";
import { allowing, BEARER, bombIn, install, NOTHING, toolHost } from "../support/tools/tool-host.ts";
import { afterThisTest } from "../support/undo.ts";

const KEY = Buffer.alloc(32, 7).toString("base64");

async function fleet(config: Partial<ServiceHostConfig> = {}) {
  const url = await freshDatabase(afterThisTest);
  const open = async () => toolHost(config, temporaryFolder(), await openPostgres(url));
  return { url, first: await open(), second: await open() };
}

type Host = Awaited<ReturnType<typeof toolHost>>;

const echo = (host: Host, params: object = { text: "hello" }) =>
  host.run({ id: "c", name: "echo", params: JSON.stringify(params) }, { user: "ada" });

const bearerFor = (host: string) =>
  JSON.stringify({ ...JSON.parse(allowing(host, { credentials: BEARER.credentials })), auth: BEARER.auth });

const namesOn = async ({ catalog }: Host) => (await catalog.list()).map(({ name }) => name);

describePostgres("the tools of a fleet", () => {
  test("one that is installed, replaced or removed on one node is so on all; nothing is in the homes", async () => {
    const { first, second } = await fleet();
    await install(first, "echo", await fixture("echo.js"), NOTHING);
    await copyCode(await fixture("echo.js"), second.home);
    await expect.poll(() => namesOn(second)).toEqual(["echo"]);
    expect((await echo(second)).outcome).toMatchObject({ status: "ok", output: '{"text":"hello"}' });
    const before = await second.catalog.find("echo");
    expect(before).not.toHaveProperty("folder");

    await install(second, "echo", await fixture("prober.js"), NOTHING);
    await copyCode(await fixture("prober.js"), first.home);
    const onFirst = async () => (await first.catalog.find("echo"))?.description;
    await expect.poll(onFirst).toBe("Probes what its host lets it do.");
    expect((await echo(first, {})).outcome).toMatchObject({ output: '{"answers":[]}' });

    const { component, ...previous } = (await first.catalog.previous("echo")) ?? {};
    expect(previous).toMatchObject({ capabilitiesText: NOTHING, tool: { digest: before?.digest } });
    expect(digestOf(component ?? new Uint8Array())).toBe(before?.digest);

    expect(await first.remove("echo")).toBe(true);
    expect(await first.catalog.previous("echo")).toBeUndefined();
    expect(await first.remove("echo")).toBe(false);
    await expect.poll(() => namesOn(second)).toEqual([]);
    expect((await echo(second, {})).outcome).toMatchObject({ code: "no_such_tool" });
  });

  test("a call under way finishes with the version it began with", async () => {
    const held = Promise.withResolvers<void>();
    const upstream = await openUpstream((_, response) => void held.promise.then(() => response.end("done")));
    onTestFinished(() => upstream.close());
    const { first, second } = await fleet({ privateHosts: new Set([`127.0.0.1:${upstream.port}`]) });
    await install(first, "echo", await fixture("prober.js"), allowing("127.0.0.1"));
    for (const name of ["prober.js", "echo.js"]) await copyCode(await fixture(name), second.home);
    await expect.poll(() => namesOn(second)).toEqual(["echo"]);
    const running = echo(second, { url: `http://127.0.0.1:${upstream.port}/v1/` });
    await expect.poll(() => upstream.requests.length).toBe(1);
    await install(first, "echo", await fixture("echo.js"), NOTHING);
    const version = async () => (await second.catalog.find("echo"))?.description;
    await expect.poll(version).toBe("Gives back what it was given.");
    expect((await echo(second)).outcome).toMatchObject({ output: '{"text":"hello"}' });
    held.resolve();
    expect((await running).outcome).toMatchObject({ output: '{"answers":[200]}' });
  });

  test("settings that one node is given hold on the others", async () => {
    const { first, second } = await fleet();
    const settings = [{ name: "base_url", description: "A server.", format: "url" }];
    const capabilities = JSON.stringify({ version: "1.0.0", wit_version: "0.1.0", settings });
    const tool = await install(first, "echo", await fixture("echo.js"), capabilities);
    await first.configure(tool, { base_url: "https://one.example" }, () => true);
    const value = async () => (await second.catalog.find("echo"))?.capabilities.settings[0]?.value;
    await expect.poll(value).toBe("https://one.example");
    await expect(first.catalog.configure(tool, tool.choices)).rejects.toMatchObject({ code: "tool_exists" });
  });

  test("of two nodes that install one name at once one wins, and the other is told in words", async () => {
    const { first, second } = await fleet();
    const candidates = [
      await first.examine(await fixture("echo.js"), NOTHING),
      await second.examine(await fixture("prober.js"), NOTHING),
    ] as const;
    const placed = (force: boolean) =>
      Promise.allSettled([
        first.place("echo", candidates[0], force),
        second.place("echo", candidates[1], force),
      ]);
    for (const force of [false, true]) {
      const attempts = await placed(force);
      expect(attempts.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      const { reason } = attempts.find(({ status }) => status === "rejected") as PromiseRejectedResult;
      expect(reason).toMatchObject({
        code: "tool_exists",
        message: expect.stringMatching(
          /^echo was installed on another node.* Nothing was changed: .* install yours again/,
        ),
      });
      const winner = attempts.findIndex(({ status }) => status === "fulfilled");
      for (const host of [first, second]) {
        const digest = async () => (await host.catalog.find("echo"))?.digest;
        await expect.poll(digest).toBe(candidates[winner]?.digest);
      }
    }
  });

  test("tools in the home of a node are named as not used", async () => {
    const alone = await toolHost();
    await install(alone, "echo", await fixture("echo.js"), NOTHING);
    const url = await freshDatabase(afterThisTest);
    const node = await toolHost({}, alone.home, await openPostgres(url));
    expect(await namesOn(node)).toEqual([]);
    expect(node.logged.join("")).toContain(`not used in ${join(alone.home, "tools")}: echo.`);
  });

  test("a component that is not what was installed is refused by its digest", async () => {
    const { url, first } = await fleet();
    await install(first, "echo", await fixture("echo.js"), NOTHING);
    const tool = await first.catalog.find("echo");
    await execute(url, "UPDATE tools SET component = 'something else'");
    await expect(first.catalog.read(tool as NonNullable<typeof tool>)).rejects.toThrow(
      /^echo was changed in the database after it was installed: .* Install it again\./,
    );
  });

  test("shipped tools are installed once, and one that is removed stays removed", async () => {
    const { url, first, second } = await fleet();
    await prepareShipped();
    const lines: string[] = [];
    await Promise.all([first, second].map((host) => host.provideShipped((line) => lines.push(line))));
    expect(lines.filter((line) => line.endsWith(": installed")).sort()).toEqual([
      "convert: installed",
      "read-page: installed",
      "run-code: installed",
      "weather: installed",
      "web-search: installed",
    ]);
    const rows = await execute(url, "SELECT name, digest FROM shipped_tools ORDER BY name");
    expect(rows).toMatchObject([
      { name: "convert" },
      { name: "read-page" },
      { name: "run-code" },
      { name: "weather", digest: digestOf(await builtComponent("weather")) },
      { name: "web-search" },
    ]);
    for (const host of [first, second])
      await expect
        .poll(() => namesOn(host))
        .toEqual(["convert", "read-page", "run-code", "weather", "web-search"]);
    await first.remove("weather");
    await expect.poll(() => namesOn(second)).toEqual(["convert", "read-page", "run-code", "web-search"]);
    await second.provideShipped(() => {});
    expect(await namesOn(second)).toEqual(["convert", "read-page", "run-code", "web-search"]);
  });
});

describePostgres("commands beside a fleet", () => {
  test('a tool that "postern tool install" installs on another machine is there, and doctor finds it', async () => {
    const { url, first } = await fleet();
    const machine = temporaryFolder();
    const run = (...args: string[]) =>
      postern(args, {
        env: { POSTERN_HOME: join(machine, "home"), STORE_URL: url, POSTERN_SECRETS_KEY: KEY },
        cwd: machine,
      });
    writeFileSync(join(machine, "echo.wasm"), await fixture("echo.js"));
    writeFileSync(join(machine, "echo.json"), NOTHING);
    await copyCode(await fixture("echo.js"), join(machine, "home"));
    const installed = await run(
      "tool",
      "install",
      "echo.wasm",
      "--capabilities",
      "echo.json",
      "--name",
      "echo",
    );
    expect(installed).toMatchObject({ code: 0, stdout: expect.stringContaining("Installed echo 1.0.0") });
    await expect.poll(() => namesOn(first)).toEqual(["echo"]);
    const { stdout } = await run("doctor");
    expect(stdout).toMatch(/ok\s+tool echo\s+version 1\.0\.0, in the database, unchanged/);
    expect(stdout).toMatch(/ok\s+store\s+PostgreSQL/);
    expect((await run("tool", "remove", "echo")).code).toBe(0);
    await expect.poll(() => namesOn(first)).toEqual([]);
  });
});

describePostgres("switches and secrets of a fleet", () => {
  test("deaths count together, the third switches the tool off on all, and any node switches it on", async () => {
    const { first, second } = await fleet();
    const tool = await install(first, "bomb", await bombIn(0), NOTHING);
    for (const host of [first, second]) expect(await host.switches.off(tool)).toBeUndefined();
    for (const host of [first, second, first]) await host.switches.died(tool, "it was ended by SIGKILL");
    await expect.poll(() => second.switches.off(tool)).toMatchObject({ digest: tool.digest });
    expect(await second.switches.enable(tool)).toBe(true);
    await expect.poll(() => first.switches.off(tool)).toBeUndefined();
    expect(await first.switches.enable(tool)).toBe(false);
  });

  test("a secret that is set on one node is used and hidden by all", async () => {
    const upstream = await openUpstream(({ headers }, response) =>
      response.end(headers.authorization ?? "none"),
    );
    onTestFinished(() => upstream.close());
    const { first, second } = await fleet({ privateHosts: new Set([`127.0.0.1:${upstream.port}`]) });
    await install(first, "echo", await fixture("echo.js"), bearerFor("127.0.0.1"));
    await copyCode(await fixture("echo.js"), second.home);
    await expect.poll(() => namesOn(second)).toEqual(["echo"]);
    await first.admin.setSecret("echo", "probe_token", "the-value-of-the-token");
    await expect.poll(() => second.mask.hide("the-value-of-the-token")).not.toContain("value");
    const { outcome } = await echo(second, { url: `http://127.0.0.1:${upstream.port}/v1/` });
    expect(outcome).toMatchObject({ status: "ok" });
    expect(upstream.requests[0]?.headers.authorization).toBe("Bearer the-value-of-the-token");
  });
});
