import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stop } from "esbuild";
import { afterAll, describe, expect, test } from "vitest";
import { checkConformance } from "../../../host/author/conformance/check.ts";
import { reviewSchema } from "../../../host/author/conformance/schema.ts";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { CACHE } from "../../support/tools/alone.ts";
import { fixture, toComponent } from "../../support/tools/components.ts";
import { buildOnce, newProject } from "../../support/tools/projects.ts";

// The bundler leaves a process running for the next build.
afterAll(() => stop());
const PLAIN = JSON.stringify({ version: "1.0.0", wit_version: "0.1.0" });

async function report(component: Uint8Array, capabilitiesText = PLAIN, recordings: readonly string[] = []) {
  const privateHosts = new Set<string>();
  const progress = () => {};
  // Transpiling is not what is tested here; what cannot be transpiled is tried again by the check.
  await toComponent(component)
    .load()
    .catch(() => {});
  const made = await checkConformance({
    component,
    capabilitiesText,
    recordings,
    privateHosts,
    codeFolder: CACHE,
    progress,
  });
  const about = (subject: string) => made.findings.filter((finding) => finding.subject === subject);
  return { ...made, about };
}

test("the report of a project that is as tool new made it, in words and as JSON", async () => {
  const folder = await newProject();
  const tool = (...args: string[]) =>
    postern(["tool", ...args], {
      cwd: dirname(folder),
      env: { POSTERN_HOME: join(temporaryFolder(), "home") },
    });
  const early = await tool("check", "countdown");
  expect(early.stderr).toContain('does not exist yet: run "postern tool build countdown"');

  await buildOnce(folder, "quickjs");
  const { code, stdout } = await tool("check", "countdown");
  expect(code).toBe(0);
  for (const line of [
    /^ok +exports +.*postern:tool\/tool@0\.1\.0/m,
    /^ok +imports +postern:tool\/host@0\.1\.0/m,
    /^ok +WIT version +0\.1\.0/m,
    /^ok +size +1\.\d MB, made by postern \d/m,
    /^ok +clock/m,
    /^ok +randomness/m,
    /start +\d+ ms to the first answer/,
    /^ok +memory +at most \d+\.\d MiB of 64 MiB/m,
    /^ok +malformed params +rejected with: /m,
    /^ok +empty params +rejected with: Give 'date' or 'country'/m,
    /^ok +next-holiday\.json +.*Christmas Day/m,
    /^ok +grants +exactly what 2 recorded calls used/m,
    /countdown\/dist\/countdown\.wasm can be installed/,
    /may GET https:\/\/date\.nager\.at\/api\/v3\/NextPublicHolidays\/\*/,
  ])
    expect(stdout).toMatch(line);

  const wasm = join(folder, "dist", "countdown.wasm");
  const capabilities = join(folder, "capabilities.json");
  const given = JSON.parse(readFileSync(capabilities, "utf8"));
  given.http.allowlist[0].methods = ["GET", "POST"];
  given.http.allowlist.push({ host: "*.example.com", path_prefix: "/", methods: ["GET"] });
  given.http.credentials = {
    spare: { secret_name: "spare_key", location: { type: "bearer" }, host_patterns: ["*.example.com"] },
  };
  writeFileSync(capabilities, JSON.stringify(given));
  const tape = join(folder, "recordings", "next-holiday.json");
  const wide = JSON.parse(
    (await tool("check", wasm, "--capabilities", capabilities, "--replay", tape, "--json")).stdout,
  );
  const details = wide.findings
    .filter(({ subject }: { subject: string }) => subject === "granted, not used")
    .map(({ detail }: { detail: string }) => detail);
  expect(wide.ok).toBe(true);
  expect(details).toEqual([
    "POST https://date.nager.at/api/v3/NextPublicHolidays/*: not used in 1 recorded call",
    "GET https://*.example.com/*: not used in 1 recorded call",
    'the credential "spare" (`spare_key`): not used in 1 recorded call',
  ]);

  const narrow = await report(readFileSync(wasm), PLAIN, [tape]);
  expect(narrow.about("used, not granted")[0]).toMatchObject({
    verdict: "warn",
    detail: expect.stringContaining("GET https://date.nager.at/api/v3/NextPublicHolidays/DE: "),
  });
});

test("secrets that may be asked for and never are, and those asked for without leave, are told", async () => {
  const folder = temporaryFolder();
  const play = (secret: string) => {
    const file = join(folder, `${secret}.json`);
    writeFileSync(file, JSON.stringify({ params: { secret }, exchanges: [] }));
    return file;
  };
  const capabilities = {
    ...JSON.parse(PLAIN),
    http: {
      credentials: {
        key: { secret_name: "spare", location: { type: "bearer" }, host_patterns: ["example.com"] },
      },
    },
    secrets: { allowed_names: ["asked", "spare", "forgotten"] },
  };
  const { about } = await report(await fixture("prober.js"), JSON.stringify(capabilities), [
    play("asked"),
    play("foreign"),
  ]);
  expect(about("asked.json")[0]?.detail).toContain('"isSet":true');
  expect(about("foreign.json")[0]?.detail).toContain('"isSet":false');
  expect(about("granted, not used").map(({ detail }) => detail)).toEqual([
    'the credential "key" (`spare`): not used in 2 recorded calls',
    "asking whether `spare` is set: not used in 2 recorded calls",
    "asking whether `forgotten` is set, which no credential uses either: not used in 2 recorded calls",
  ]);
  expect(about("used, not granted").map(({ detail }) => detail)).toEqual([
    "asking whether `foreign` is set: it is not in secrets.allowed_names",
  ]);
});

test("what an operator excepts in TOOLS_PRIVATE_HOSTS, check lets through as run does, and says so", async () => {
  const cwd = temporaryFolder();
  const url = "http://hub.home.arpa:8123/api";
  const rule = { host: "hub.home.arpa", path_prefix: "/api", methods: ["GET"] };
  writeFileSync(join(cwd, "prober.wasm"), await fixture("prober.js"));
  writeFileSync(
    join(cwd, "capabilities.json"),
    JSON.stringify({ ...JSON.parse(PLAIN), http: { allowlist: [rule] } }),
  );
  const exchange = { request: { method: "GET", url }, reply: { status: 200 } };
  writeFileSync(join(cwd, "hub.json"), JSON.stringify({ params: { url }, exchanges: [exchange] }));
  const check = async (excepted: string) => {
    const env = { POSTERN_HOME: join(cwd, "home"), TOOLS_PRIVATE_HOSTS: excepted };
    const given = ["prober.wasm", "--capabilities", "capabilities.json", "--replay", "hub.json"];
    return (await postern(["tool", "check", ...given], { cwd, env })).stdout;
  };
  expect(await check("")).toMatch(/^WARN +used, not granted +GET .*Plain http to hub\.home\.arpa:8123/m);
  const excepted = await check("hub.home.arpa:8123");
  expect(excepted).toMatch(/^ok +hub\.json +.*"answers":\[200\]/m);
  expect(excepted).toMatch(/^NOTE +private hosts +hub\.home\.arpa:8123 works only where/m);
  expect(excepted).toMatch(/^ok +grants/m);
});

test("recordings that cannot be played say why", async () => {
  const folder = temporaryFolder();
  const write = (name: string, value: object) => {
    writeFileSync(join(folder, name), JSON.stringify(value));
    return join(folder, name);
  };
  const prober = await fixture("prober.js");
  const { about } = await report(prober, PLAIN, [
    write("old.json", { exchanges: [] }),
    write("wrong.json", { params: { times: 0 }, exchanges: [] }),
    write("right.json", { params: {}, exchanges: [] }),
  ]);
  expect(about("old.json")[0]).toMatchObject({
    verdict: "warn",
    detail: expect.stringContaining('add "params", or record it again'),
  });
  expect(about("wrong.json")[0]).toMatchObject({
    verdict: "warn",
    detail: expect.stringContaining("'times' must be between 1 and 100"),
  });
  expect(about("right.json")[0]).toMatchObject({ verdict: "ok", detail: '{"answers":[]}' });
});

test("a QuickJS component that another builder made is warned of numbers that repeat", async () => {
  const { about } = await report(await fixture("prober.js"));
  expect(about("randomness")[0]).toMatchObject({
    verdict: "warn",
    detail: expect.stringContaining("the same numbers"),
  });
  expect(about("schema").map(({ detail }) => detail)).toContain(
    "'url' of params has no description: the model sees only its name",
  );
  expect(about("grants")[0]?.verdict).toBe("note");
});

test.each([
  ["incoming-http.wit", "imports", /wasi:http/],
  ["sockets.wit", "types", /wasi:sockets\/instance-network is not that of WASI 0\.2/],
  ["missing-export.wit", "exports", /must export postern:tool\/tool/],
  ["wrong-version.wit", "WIT version", /speaks version 0\.1\.0/],
  ["wrong-types.wit", "types", /is not that of version 0\.1\.0/],
  ["traps.wit", "start", /does not describe itself/],
  ["endless-loop.js", "schema", /must have "type": "object"/],
])("%s fails at its %s, with the reason", async (name, subject, why) => {
  const { ok, about } = await report(await fixture(name));
  expect(ok).toBe(false);
  expect(about(subject).at(-1)).toMatchObject({ verdict: "fail", detail: expect.stringMatching(why) });
});

test("bytes that are no component and a capabilities file with problems fail", async () => {
  expect((await report(Buffer.from("nothing of the kind"))).about("component")[0]?.verdict).toBe("fail");
  const { about } = await report(await fixture("prober.js"), '{"version":"1.0.0","shell":true}');
  expect(about("capabilities")[0]).toMatchObject({
    verdict: "fail",
    detail: expect.stringContaining("shell"),
  });
});

test("a tool whose execute crashes on a probe fails, and the command ends with 1", async () => {
  const folder = await newProject("js");
  writeFileSync(
    join(folder, "tool.js"),
    `export const tool = {
       description: () => "Breaks on everything that is not a name.",
       schema: () => '{"type":"object","properties":{"name":{"type":"string","description":"who"}},"additionalProperties":false}',
       execute: ({ params }) => ({ output: JSON.stringify(JSON.parse(params).name.toUpperCase() + Math.random()) }),
     };`,
  );
  for (const name of ["date.json", "next-holiday.json"]) rmSync(join(folder, "recordings", name));
  writeFileSync(join(folder, "recordings", "ada.json"), '{"params":{"name":"Ada"},"exchanges":[]}');
  await buildOnce(folder, "quickjs");
  const { code, stdout } = await postern(["tool", "check", folder], {
    env: { POSTERN_HOME: join(temporaryFolder(), "home") },
  });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^FAIL +empty params +its schema allows this, but it crashed: /m);
  expect(stdout).toMatch(/^FAIL +malformed params +it crashed instead of returning an error: /m);
  // The engine alone would draw the same number in every call.
  expect(stdout).toMatch(/^NOTE +ada\.json +a different answer the second time/m);
  expect(stdout).toContain("is not ready: 5 problems must be fixed");
});

describe("a schema", () => {
  const about = (schema: object) =>
    reviewSchema("A description that is long enough.", { type: "object", ...schema });
  const warnings = (schema: object) =>
    about(schema).flatMap(({ verdict, detail }) => (verdict === "warn" ? [detail] : []));

  test("that describes every property and closes every object is fine", () => {
    const inner = { type: "object", properties: { x: { type: "number", description: "x" } } };
    expect(
      warnings({
        properties: {
          kind: { const: "a" },
          at: { ...inner, description: "where", additionalProperties: false },
        },
        additionalProperties: false,
      }),
    ).toEqual([]);
  });

  test("that leaves something open or undescribed is told where, also in branches and lists", () => {
    const open = { type: "object", properties: { x: { type: "number" } } };
    expect(warnings({ oneOf: [open], properties: { list: { items: open, description: "all" } } })).toEqual([
      expect.stringContaining("params allows additional properties"),
      expect.stringContaining("params.oneOf[0] allows additional properties"),
      expect.stringContaining("'x' of params.oneOf[0] has no description"),
      expect.stringContaining("params.list[] allows additional properties"),
      expect.stringContaining("'x' of params.list[] has no description"),
    ]);
  });
});
