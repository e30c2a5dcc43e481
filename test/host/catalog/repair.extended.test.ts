/** `postern doctor --fix` on shipped tools whose installed copy is broken, and on what killed installs left. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { digestOf } from "../../../host/catalog/catalog.ts";
import { temporaryFolder } from "../../support/home.ts";
import { openPostgres } from "../../support/processes/engines.ts";
import { runHere } from "../../support/processes/in-process.ts";
import { describePostgres, execute, freshDatabase } from "../../support/processes/postgres/database.ts";
import { fixture } from "../../support/tools/components.ts";
import { builtComponent, capabilitiesOf, prepareShipped } from "../../support/tools/shipped.ts";
import { allowing, install, NOTHING, toolHost } from "../../support/tools/tool-host.ts";
import { afterThisTest } from "../../support/undo.ts";

const KEY = Buffer.alloc(32, 7).toString("base64");

interface Report {
  readonly ok: boolean;
  readonly findings: readonly { name: string; ok: boolean; detail: string; fix?: string }[];
  readonly fixes?: readonly { name: string; about: string; state: string; detail?: string }[];
}

/** The command on a home, about tools alone. */
function doctorOf(home: string, env: Readonly<Record<string, string>> = {}) {
  const run = (...args: string[]) =>
    runHere({
      args: ["doctor", ...args],
      env: { POSTERN_HOME: home, GATEWAY_PORT: "0", ...env },
      cwd: undefined,
      input: undefined,
    });
  return {
    run,
    async ask(...args: string[]) {
      const report = JSON.parse((await run(...args, "--json")).stdout) as Report;
      const isOfTools = ({ name }: { name: string }) => name.startsWith("tool ");
      return {
        findings: report.findings.filter(isOfTools),
        fixes: (report.fixes ?? []).filter(isOfTools).map(({ name, state }) => `${name}: ${state}`),
      };
    },
  };
}

/** With the shipped tools installed, as a first start does it. */
async function shippedHome() {
  const host = await toolHost();
  await prepareShipped();
  await host.provideShipped(() => {});
  const at = (...path: string[]) => join(host.home, "tools", ...path);
  return { host, home: host.home, at, ...doctorOf(host.home) };
}

describe("a shipped tool that is broken", () => {
  test("is put back, byte for byte, and what it may do stays as the operator set it", async () => {
    const { host, at, run, ask } = await shippedHome();
    const whole = await builtComponent("weather");
    expect((await ask()).findings.map(({ name, ok }) => [name, ok])).toEqual([
      ["tool convert", true],
      ["tool read-page", true],
      ["tool run-code", true],
      ["tool weather", true],
      ["tool web-search", true],
    ]);
    const { http: _, ...narrow } = JSON.parse(capabilitiesOf("weather"));
    writeFileSync(at("weather", "capabilities.json"), JSON.stringify(narrow));
    writeFileSync(at("weather", "component.wasm"), whole.subarray(0, 1000));
    // The record of the other cannot be read.
    writeFileSync(at("convert", "tool.json"), "");

    const found = await ask("--fix", "--dry-run");
    expect(found.fixes.sort()).toEqual(["tool convert: would fix", "tool weather: would fix"]);
    expect(found.findings.find(({ name }) => name === "tool weather")).toMatchObject({
      ok: false,
      detail: expect.stringContaining("was changed on disk"),
      fix: "put the shipped weather back",
    });
    expect(readFileSync(at("weather", "component.wasm")).length).toBe(1000);

    const { stdout } = await run("--fix");
    expect(stdout).toContain("fixed: tool weather: put the shipped weather back");
    expect(stdout).toContain("fixed: tool convert: put the shipped convert back");
    expect(stdout).toMatch(/ok\s+tool weather\s+version \S+, file unchanged/);
    expect(stdout).toMatch(/ok\s+tool convert\s+version \S+, file unchanged/);
    expect(digestOf(readFileSync(at("weather", "component.wasm")))).toBe(digestOf(whole));
    expect(JSON.parse(readFileSync(at("weather", "capabilities.json"), "utf8"))).toEqual(narrow);
    expect(readdirSync(at()).sort()).toEqual([
      ".shipped.json",
      "convert",
      "read-page",
      "run-code",
      "weather",
      "web-search",
    ]);

    // The service that runs on this home sees it, and nothing is left to do.
    const tool = await host.catalog.find("convert");
    expect(tool && digestOf(await host.catalog.read(tool))).toBe(digestOf(await builtComponent("convert")));
    expect((await ask("--fix")).fixes).toEqual([]);

    // A component that is gone, or that is none.
    rmSync(at("weather", "component.wasm"));
    rmSync(at("convert", "component.wasm"));
    mkdirSync(at("convert", "component.wasm", "odd"), { recursive: true });
    expect((await ask("--fix")).fixes.sort()).toEqual(["tool convert: fixed", "tool weather: fixed"]);
    expect((await ask()).findings.every(({ ok }) => ok)).toBe(true);
  });

  test("and does not even say that it was ours: only with --yes, and what was there is put aside", async () => {
    const { at, ask } = await shippedHome();
    for (const file of ["tool.json", "component.wasm"]) rmSync(at("weather", file));
    writeFileSync(at("weather", "notes.txt"), "mine");
    expect((await ask("--fix")).fixes).toEqual(["tool weather: needs --yes"]);
    expect(readdirSync(at("weather")).sort()).toEqual(["capabilities.json", "notes.txt"]);
    expect((await ask("--fix", "--yes")).fixes).toEqual(["tool weather: fixed"]);
    const aside = readdirSync(at()).find((name) => name.startsWith(".unusable-weather-")) ?? "";
    expect(readFileSync(at(aside, "notes.txt"), "utf8")).toBe("mine");
    expect((await ask()).findings.every(({ ok }) => ok)).toBe(true);
  });

  test("of an older Postern is replaced by this one's, unless that may do more", async () => {
    const { host, at, run, ask } = await shippedHome();
    const older = async (capabilities: string) => {
      const { digest } = await install(host, "weather", await fixture("prober.js"), capabilities);
      writeFileSync(at(".shipped.json"), JSON.stringify({ weather: digest, convert: "" }));
      rmSync(at("weather", "component.wasm"));
      return digest;
    };
    const digest = await older(allowing("api.open-meteo.com"));
    const { stdout } = await run("--fix", "--yes");
    expect(stdout).toContain(
      "failed: tool weather: put the shipped weather back (the new version can do more",
    );
    expect(JSON.parse(readFileSync(at("weather", "tool.json"), "utf8")).sha256).toBe(digest);

    rmSync(at("weather"), { recursive: true });
    rmSync(at(".previous-weather"), { recursive: true });
    await older(capabilitiesOf("weather"));
    expect((await ask("--fix")).fixes).toEqual(["tool weather: fixed"]);
    const current = digestOf(await builtComponent("weather"));
    expect(digestOf(readFileSync(at("weather", "component.wasm")))).toBe(current);
    expect(JSON.parse(readFileSync(at(".shipped.json"), "utf8"))).toEqual({ weather: current, convert: "" });
    // The damaged one is nothing to go back to.
    expect(readdirSync(at()).sort()).toEqual([
      ".shipped.json",
      "convert",
      "read-page",
      "run-code",
      "weather",
      "web-search",
    ]);
  });

  test("is left alone where the operator removed it, replaced it, or wants none", async () => {
    const { host, home, at, ask } = await shippedHome();
    await host.remove("convert");
    expect((await ask("--fix", "--yes")).fixes).toEqual([]);
    expect(readdirSync(at()).sort()).toEqual([
      ".shipped.json",
      "read-page",
      "run-code",
      "weather",
      "web-search",
    ]);

    rmSync(at("weather", "component.wasm"));
    const unwanted = await doctorOf(home, { TOOLS_SHIPPED: "false" }).ask("--fix", "--yes");
    expect(unwanted.fixes).toEqual([]);
    expect(unwanted.findings.filter(({ ok }) => !ok)).toMatchObject([{ name: "tool weather" }]);

    await install(host, "weather", await fixture("prober.js"), NOTHING);
    rmSync(at("weather", "component.wasm"));
    const replaced = await ask("--fix", "--yes");
    expect(replaced.fixes).toEqual([]);
    expect(replaced.findings.filter(({ ok }) => !ok)).toMatchObject([{ name: "tool weather" }]);
    expect(readdirSync(at("weather")).sort()).toEqual(["capabilities.json", "tool.json"]);
  });
});

describe("what a killed install left", () => {
  const aside = ".was-prober.0a1b2c3d-0000-4000-8000-000000000000";

  test("goes once nobody can be at it any more; a tool that was set aside is back", async () => {
    const host = await toolHost();
    const { digest } = await install(host, "prober", await fixture("prober.js"), NOTHING);
    const { run, ask } = doctorOf(host.home);
    const tools = (name: string) => join(host.home, "tools", name);
    const cache = (name: string) => join(host.home, "cache", name);
    const used = readdirSync(cache("."));
    const ago = (path: string, hours: number) => {
      const time = Date.now() / 1000 - hours * 3600;
      utimesSync(path, time, time);
    };
    const [old, young] = ["1".repeat(64), "2".repeat(64)];
    for (const path of [
      tools(".new-old"),
      tools(".new-young"),
      tools(".old-old"),
      cache(`${digest}-0.a.draft`),
      cache(`${digest}-0.b.draft`),
      cache(`${old}-0`),
      cache(`${young}-0`),
    ])
      mkdirSync(path);
    writeFileSync(tools(".shipped.json.4711"), "{");
    const doomed = [
      tools(".new-old"),
      tools(".old-old"),
      tools(".shipped.json.4711"),
      cache(`${digest}-0.a.draft`),
    ];
    for (const path of doomed) ago(path, 2);
    ago(cache(`${old}-0`), 25);
    ago(cache(`${young}-0`), 2);

    const dry = await run("--fix", "--dry-run");
    expect(dry.stdout.match(/would fix: tool leftover: remove /g)).toHaveLength(5);
    for (const path of doomed) expect(existsSync(path)).toBe(true);
    const { stdout } = await run("--fix");
    for (const path of [...doomed, cache(`${old}-0`)])
      expect(stdout).toContain(`fixed: tool leftover: remove ${path}`);
    expect(readdirSync(tools(".")).sort()).toEqual([".new-young", "prober"]);
    expect(readdirSync(cache(".")).sort()).toEqual([...used, `${digest}-0.b.draft`, `${young}-0`].sort());

    // Killed between its two renames.
    renameSync(tools("prober"), tools(aside));
    expect((await ask()).findings).toMatchObject([
      { name: "tool prober", detail: expect.stringContaining("its replacement was interrupted") },
    ]);
    expect((await ask("--fix")).fixes).toEqual(["tool prober: fixed"]);
    expect(await ask()).toMatchObject({ findings: [{ name: "tool prober", ok: true }] });
    expect(readdirSync(tools(".")).sort()).toEqual([".new-young", "prober"]);
  });
});

describePostgres("a shipped tool that is broken in the database", () => {
  test("is put back for every node, unless the operator replaced it", async () => {
    const url = await freshDatabase(afterThisTest);
    const host = await toolHost({}, temporaryFolder(), await openPostgres(url));
    await prepareShipped();
    await host.provideShipped(() => {});
    const { ask, run } = doctorOf(host.home, { STORE_URL: url, POSTERN_SECRETS_KEY: KEY });
    await execute(url, "UPDATE tools SET component = 'nothing' WHERE name = 'weather'");
    await execute(url, "UPDATE tools SET record = '{' WHERE name = 'convert'");
    expect((await ask("--fix", "--dry-run")).fixes.sort()).toEqual([
      "tool convert: would fix",
      "tool weather: would fix",
    ]);
    expect((await run("--fix")).stdout).toContain("fixed: tool convert: put the shipped convert back");
    expect((await ask()).findings.map(({ name, ok }) => [name, ok])).toEqual([
      ["tool convert", true],
      ["tool read-page", true],
      ["tool run-code", true],
      ["tool weather", true],
      ["tool web-search", true],
    ]);
    await expect
      .poll(async () => (await host.catalog.list()).map(({ name }) => name))
      .toEqual(["convert", "read-page", "run-code", "weather", "web-search"]);

    await install(host, "weather", await fixture("prober.js"), NOTHING);
    await execute(url, "UPDATE tools SET component = 'nothing' WHERE name = 'weather'");
    const left = await ask("--fix", "--yes");
    expect(left.fixes).toEqual([]);
    expect(left.findings.find(({ name }) => name === "tool weather")).toMatchObject({ ok: false });
  });
});
