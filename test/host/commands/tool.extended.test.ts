/** `postern tool …`, beside a running service where that matters. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Receipt } from "../../../host/calls/receipts.ts";
import { postern, startPostern } from "../../support/processes/postern.ts";
import { posternInTerminal } from "../../support/processes/terminal.ts";
import { fixture } from "../../support/tools/components.ts";
import { prepareShipped, recordingOf } from "../../support/tools/shipped.ts";
import { allowing, BEARER } from "../../support/tools/tool-host.ts";
import { workplace } from "../../support/tools/workplace.ts";

describe("on a running service", () => {
  test("install, list, run, a blocked host, a used-up limit, a killed loop, and the receipts of it all", async () => {
    const { env, cwd, tool, install, url, server } = await workplace({
      env: { TOOLS_SHIPPED: "true" },
    });
    await prepareShipped();
    const service = startPostern(["serve"], { env, cwd });
    await service.printed("ready in");

    const installed = await install();
    expect(installed.stderr + installed.stdout).toContain(
      `may GET https://127.0.0.1/v1/* or http(s)://${new URL(url).host}/v1/*, up to 60 requests per minute and 500 per hour`,
    );
    expect(installed.code).toBe(0);

    const listed = async () =>
      JSON.parse((await tool("list", "--json")).stdout).tools.map(({ name }: { name: string }) => name);
    await expect
      .poll(listed)
      .toEqual(["convert", "prober", "read-page", "run-code", "weather", "web-search"]);

    const berlin = '{"action":"get_current","city":"Berlin"}';
    const replayed = await tool(
      "run",
      "weather",
      berlin,
      "--replay",
      recordingOf("weather", "current-berlin"),
      "--json",
    );
    const answer = JSON.parse(replayed.stdout);
    expect(JSON.parse(answer.output)).toMatchObject({ city: "Berlin", temperature: 7.4 });
    expect(answer.error).toBeNull();
    expect(answer.receipt).toMatchObject({ tool: "weather", status: "ok", user: "operator" });

    const blocked = await tool("run", "prober", '{"url":"https://evil.example.com/v1/x"}');
    expect(blocked.stdout).toContain("evil.example.com");

    const run = (times: number) => tool("run", "prober", JSON.stringify({ url, times }));
    expect((await run(50)).code).toBe(0);
    expect((await run(11)).stdout).toMatch(
      /rate_limit_exceeded: The rate limit of 60 requests a minute is reached; next request in \d+ s/,
    );
    expect(server.requests).toHaveLength(60);

    const impatient = { version: "1.0.0", wit_version: "0.1.0", limits: { timeout_secs: 2 } };
    writeFileSync(join(cwd, "looper.json"), JSON.stringify(impatient));
    await tool("install", "prober.wasm", "--capabilities", "looper.json", "--name", "looper");
    const looped = await tool("run", "looper", '{"loop":true}');
    expect(looped.stderr).toContain("did not answer within 2 seconds and was ended");
    expect(looped.code).toBe(1);

    const { receipts } = JSON.parse((await tool("log", "--json")).stdout) as { receipts: Receipt[] };
    expect(receipts.map(({ tool: name, code, status }) => `${name} ${code ?? status}`)).toEqual([
      "looper timeout",
      "prober ok",
      "prober ok",
      "prober ok",
      "weather ok",
    ]);
    expect(receipts[2]?.requests).toHaveLength(50);
    const text = (await tool("log", "looper", "--limit", "1")).stdout;
    expect(text).toMatch(/^WHEN +TOOL +USER +OUTCOME/);
    expect(text).toContain("timeout");
    expect((await tool("remove", "prober")).code).toBe(0);
    expect((await tool("run", "prober")).stderr).toContain('there is no tool "prober"');
    service.kill("SIGTERM");
    expect(await service.ended).toBe(0);
  });
});

describe("settings", () => {
  test("are given with --set, asked about where they lead elsewhere, and shown", async () => {
    const { cwd, tool } = await workplace();
    writeFileSync(join(cwd, "finder.wasm"), await fixture("settings.js"));
    const settings = [{ name: "base_url", description: "The server.", format: "url", required: true }];
    const allowlist = [{ host: { setting: "base_url" }, path_prefix: "/v1/", methods: ["GET"] }];
    const file = { version: "1.0.0", wit_version: "0.1.0", settings, http: { allowlist } };
    writeFileSync(join(cwd, "finder.json"), JSON.stringify(file));
    const install = (...more: string[]) =>
      tool("install", "finder.wasm", "--capabilities", "finder.json", "--name", "finder", ...more);
    const private_ = await install("--set", "base_url=http://127.0.0.1:9");
    expect(private_.code).not.toBe(0);
    expect(private_.stderr).toContain(
      "It would reach 127.0.0.1:9, which only you can allow: 127.0.0.1 is a loopback",
    );
    expect((await install("--set", "nonsense")).stderr).toContain("Write it as name=value.");
    const why =
      "finder needs the setting `base_url`. Give what is missing on the page, or with: postern tool setup finder";
    expect((await install()).stdout).toContain(why);
    expect((await tool("run", "finder", "{}")).stderr).toContain(why);
    const listed = JSON.parse((await tool("list", "--json")).stdout).tools;
    expect(listed).toMatchObject([{ name: "finder", needs: { names: ["base_url"], why } }]);
    expect((await tool("list")).stdout).toMatch(/finder +needs setup +finder needs the setting/);
    expect((await tool("info", "finder")).stdout).toContain(why);

    const one = await tool("setup", "finder", "--set", "base_url=https://one.example", "--yes");
    expect(one.stdout).toContain("finder has base_url.");
    const two = await tool("setup", "finder", "--set", "base_url=https://two.example");
    expect(two.stderr).toContain("may GET https://two.example/v1/* (the setting `base_url`)");
    expect(two.stderr).toContain("pass --yes to agree");
    expect((await tool("run", "finder", '{"name":"base_url"}')).stdout.trim()).toBe('"https://one.example"');
    const { grants } = JSON.parse((await tool("info", "finder", "--json")).stdout);
    expect(grants[0]).toContain(
      "may GET https://one.example/v1/* (the setting `base_url`), up to 60 requests",
    );
  });
});

describe("install", () => {
  test("a replacement that may do more says what is new and needs --yes where nobody can be asked", async () => {
    const { cwd, tool, install } = await workplace();
    expect((await install()).code).toBe(0);
    const again = await install();
    expect(again.stderr).toContain("prober is already installed (version 1.0.0); pass --force to replace it");
    expect(again.code).toBe(1);

    writeFileSync(join(cwd, "prober.json"), allowing("*.example.com"));
    const refused = await install("--force");
    expect(refused.stderr).toContain("- may GET https://*.example.com/v1/*");
    expect(refused.stderr).toContain("--yes");
    expect(refused.code).toBe(1);
    const info = async () => JSON.parse((await tool("info", "prober", "--json")).stdout);
    expect((await info()).grants[0]).toContain("127.0.0.1");

    const agreed = JSON.parse((await install("--force", "--yes", "--json")).stdout);
    expect(agreed.replaced.added).toEqual(["may GET https://*.example.com/v1/*"]);
    expect((await info()).grants[0]).toContain("*.example.com");
  });

  test("what is wrong is said, and nothing is left behind", async () => {
    const { cwd, home, tool, install } = await workplace({ capabilities: "{}" });
    const bad = await install();
    expect(bad.stderr).toContain("wit_version");
    expect(bad.code).toBe(1);
    expect(existsSync(join(home, "tools")) ? readdirSync(join(home, "tools")) : []).toEqual([]);
    expect((await tool("install", "prober.wasm", "--name", "prober")).code).toBe(2);
    expect(
      (await tool("install", "gone.wasm", "--capabilities", "prober.json", "--name", "x")).stderr,
    ).toContain("gone.wasm cannot be read");
    const named = await tool("install", "prober.wasm", "--capabilities", "prober.json", "--name", "skill_x");
    expect(named.stderr).toContain("are reserved for the agent");
    writeFileSync(join(cwd, "prober.json"), allowing("127.0.0.1"));
    const checked = JSON.parse(
      (await tool("check", "prober.wasm", "--capabilities", "prober.json", "--json")).stdout,
    );
    expect(checked).toMatchObject({
      description: "Probes what its host lets it do.",
      bytes: expect.any(Number),
    });
    expect(JSON.parse((await tool("list", "--json")).stdout)).toEqual({ tools: [], broken: [] });
  });
});

describe("run", () => {
  test("a tool that is there runs at once, without those that come with Postern", async () => {
    const { installed, tool } = await workplace({ env: { TOOLS_SHIPPED: "true" } });
    await installed();
    const { stdout, stderr } = await tool("run", "prober");
    expect(JSON.parse(stdout)).toEqual({ answers: [] });
    expect(stderr).toBe("info: probing nothing\n");
  });

  test("what was recorded plays back without the network", async () => {
    const { cwd, tool, installed, url, server } = await workplace();
    await installed();
    const params = JSON.stringify({ url });
    expect((await tool("run", "prober", params, "--record", "tape.json")).code).toBe(0);
    await server.close();
    const replayed = await tool("run", "prober", params, "--replay", join(cwd, "tape.json"));
    expect(JSON.parse(replayed.stdout)).toEqual({ answers: [200] });
    expect((await tool("run", "prober", params, "--replay", "a", "--record", "b")).code).toBe(2);
    const failed = JSON.parse((await tool("run", "prober", "[]", "--json")).stdout);
    expect(failed).toMatchObject({
      output: null,
      error: "Invalid parameters: params must be an object, given an array",
      receipt: { code: "invalid_params" },
    });
  });
});

describe("on a terminal", () => {
  test("a replacement that may do more is asked about, and No changes nothing", async () => {
    const { cwd, env, tool, installed } = await workplace();
    await installed();
    writeFileSync(join(cwd, "prober.json"), allowing("*.example.com"));
    const args = [
      "tool",
      "install",
      "prober.wasm",
      "--capabilities",
      "prober.json",
      "--name",
      "prober",
      "--force",
    ];
    const grants = async () => JSON.parse((await tool("info", "prober", "--json")).stdout).grants[0];

    const refused = posternInTerminal(args, { env, cwd });
    await refused.shows("Replace prober with a version that can do more?");
    expect(refused.text()).toContain("may GET https://*.example.com/v1/*");
    refused.type("n");
    expect(await refused.ended).toBe(1);
    expect(await grants()).toContain("127.0.0.1");

    // Enter as a terminal sends it to a program that does not ask yet.
    const hasty = posternInTerminal(args, { env, cwd });
    await hasty.shows("Replace prober with a version that can do more?");
    hasty.type("\n");
    expect(await hasty.ended).toBe(1);

    const agreed = posternInTerminal(args, { env, cwd });
    await agreed.shows("Replace prober with a version that can do more?");
    agreed.type("y");
    expect(await agreed.ended).toBe(0);
    expect(await grants()).toContain("*.example.com");
  });

  test("a token is asked for with its hint, and never shown", async () => {
    const auth = { secret_name: "probe_token", display_name: "Probe", token_hint: "begins with tok" };
    const capabilities = {
      ...JSON.parse(allowing("127.0.0.1")),
      auth,
      secrets: { allowed_names: ["probe_token"] },
    };
    const { cwd, env, tool, installed } = await workplace({ capabilities: JSON.stringify(capabilities) });
    await installed();
    const session = posternInTerminal(["tool", "auth", "prober"], { env, cwd });
    await session.shows("Probe token");
    expect(session.text()).toContain("begins with tok");
    session.type("tok-3f9a1c77e2\r");
    expect(await session.ended).toBe(0);
    expect(session.text()).not.toContain("3f9a");
    const { stdout } = await tool("run", "prober", '{"secret":"probe_token"}');
    expect(JSON.parse(stdout)).toMatchObject({ isSet: true });
  });
});

describe("secrets", () => {
  test("a piped token is stored, never shown, and the tool then runs", async () => {
    const token = "tok-3f9a1c77e2";
    const { credentials } = BEARER;
    const auth = { ...BEARER.auth, env_var: "PROBE_TOKEN" };
    const capabilities = { ...JSON.parse(allowing("127.0.0.1", { credentials })), auth };
    const { cwd, env, tool, installed, url, server } = await workplace({
      capabilities: JSON.stringify(capabilities),
    });
    await installed();
    const params = JSON.stringify({ url });
    const unset = await tool("run", "prober", params);
    expect(unset.stderr).toContain("postern tool auth prober");
    expect((await tool("info", "prober")).stdout).toContain("missing: probe_token");

    const given = await postern(["tool", "auth", "prober", "--json"], { env, cwd, input: `${token}\n` });
    expect(JSON.parse(given.stdout)).toEqual({ name: "prober", secret: "probe_token", by: "manual" });
    expect(given.stderr).toContain("Ask Ada.");
    const used = await tool("run", "prober", params, "--json");
    expect(JSON.parse(used.stdout).receipt.credentials).toEqual(["probe_token"]);
    expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${token}`);
    const log = await tool("log", "--json");
    for (const { stdout, stderr } of [unset, given, used, log]) expect(stdout + stderr).not.toContain(token);

    const fromEnvironment = await postern(["tool", "auth", "prober"], {
      env: { ...env, PROBE_TOKEN: "tok-other-1" },
      cwd,
    });
    expect(fromEnvironment.stdout).toContain("from the environment");
  });

  test("one for a single user is taken for an account or an identity of a channel, and for nobody else", async () => {
    const { cwd, env, installed } = await workplace({
      capabilities: JSON.stringify({ ...JSON.parse(allowing("127.0.0.1")), auth: BEARER.auth }),
    });
    await installed();
    const run = (...args: string[]) => postern(args, { env, cwd, input: "tok-3f9a1c77e2\n" });
    const auth = (user: string) => run("tool", "auth", "prober", "--user", user);
    expect(await auth("ann")).toMatchObject({ code: 1, stderr: expect.stringContaining('no user "ann"') });
    expect((await run("tool", "setup", "prober", "--user", "ann")).stderr).toContain('no user "ann"');
    await run("user", "add", "ann");
    for (const user of ["ann", "operator", "webhook/bob"])
      expect((await auth(user)).stdout).toContain(`probe_token for ${user}`);
    await run("user", "pair", "webhook/bob", "ann");
    expect((await auth("webhook/bob")).stderr).toContain("use --user ann");
  });
});

test("on a terminal a new tool is installed only after a yes; what it may do is shown before", async () => {
  const { env, cwd } = await workplace();
  const args = ["tool", "install", "prober.wasm", "--capabilities", "prober.json", "--name", "prober"];
  const no = posternInTerminal(args, { env, cwd });
  await no.shows("Install prober?");
  expect(no.text()).toContain("may GET https://127.0.0.1/v1/*");
  no.type("n");
  expect(await no.ended).toBe(1);
  const yes = posternInTerminal(args, { env, cwd });
  await yes.shows("Install prober?");
  yes.type("y");
  expect(await yes.ended).toBe(0);
  expect(yes.text()).toContain("Installed prober");
  expect(yes.text().split("may GET https://127.0.0.1/v1/*")).toHaveLength(2);
});
