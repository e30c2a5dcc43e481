import { cp, mkdir, readdir, readFile, rename, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkName } from "../../../host/catalog/install.ts";
import { fixture } from "../../support/tools/components.ts";
import { allowing, installProber, toolHost } from "../../support/tools/tool-host.ts";

const PLAIN = JSON.stringify({ version: "1.0.0", wit_version: "0.1.0" });

test.each(["weather", "a", "A-b_9", "x".repeat(64)])("%s is a tool's name", (name) => {
  expect(() => checkName(name)).not.toThrow();
});

test.each([
  ["", "1 to 64 letters"],
  ["x".repeat(65), "1 to 64 letters"],
  ["../up", "1 to 64 letters"],
  [".hidden", "1 to 64 letters"],
  ["mission_x", "mission_ are reserved"],
  ["skill_x", "skill_ are reserved"],
  ["Memory_search", "memory_ are reserved"],
  ["get_weather", "common clients"],
  ["exec_command", "common clients"],
])("%j cannot be a tool's name", (name, why) => {
  expect(() => checkName(name)).toThrow(why);
});

test("an installed component is there with its digest, its own words and what it may do", async () => {
  const host = await toolHost();
  const component = await fixture("prober.js");
  const candidate = await host.examine(component, allowing("api.example.com"));
  expect(candidate.grants[0]).toBe(
    "may GET https://api.example.com/v1/*, up to 60 requests per minute and 500 per hour",
  );
  const tool = await host.place("prober", candidate, false);
  expect(tool).toMatchObject({ name: "prober", description: "Probes what its host lets it do." });
  expect(tool.digest).toMatch(/^[0-9a-f]{64}$/);
  expect(Buffer.from(await host.catalog.read(tool)).equals(component)).toBe(true);
  const record = JSON.parse(await readFile(join(host.home, "tools", "prober", "tool.json"), "utf8"));
  expect(record).toMatchObject({ sha256: tool.digest, version: "1.0.0" });
});

test.each([
  ["a capabilities file with problems", "prober.js", `{"version":"1","shell":true}`, /shell/],
  [
    "another wit_version",
    "prober.js",
    `{"version":"1.0.0","wit_version":"9.0.0"}`,
    /wit_version is "9.0.0".*0\.1\.0/s,
  ],
  [
    "sockets of other types",
    "sockets.wit",
    PLAIN,
    /its wasi:sockets\/instance-network is not that of WASI 0\.2/,
  ],
  [
    "settings that its file does not declare",
    "settings.js",
    PLAIN,
    /its capabilities file declares no settings/,
  ],
  ["incoming HTTP", "incoming-http.wit", PLAIN, /wasi:http/],
  ["an import nobody provides", "unknown-import.wit", PLAIN, /nothing here provides it/],
  ["no export", "missing-export.wit", PLAIN, /must export postern:tool\/tool/],
  ["a schema that is no object's", "endless-loop.js", PLAIN, /schema\(\) must have "type": "object"/],
])(
  "a component with %s is refused with the reason, and nothing is left behind",
  async (_what, name, capabilities, why) => {
    const host = await toolHost();
    await expect(host.examine(await fixture(name), capabilities)).rejects.toThrow(why);
    expect(await readdir(host.home)).not.toContain("tools");
    expect(await host.catalog.list()).toEqual([]);
  },
);

test.each([
  ["random bytes", Buffer.from("these are no wasm bytes at all")],
  ["an empty file", Buffer.alloc(0)],
])("%s are refused as no component", async (_what, bytes) => {
  const host = await toolHost();
  await expect(host.examine(bytes, PLAIN)).rejects.toThrow(/not those of a WebAssembly component/);
});

test("a truncated component is refused, and leaves no entry in the cache", async () => {
  const host = await toolHost();
  const whole = await fixture("prober.js");
  await expect(host.examine(whole.slice(0, whole.length / 2), PLAIN)).rejects.toThrow(/cannot be a tool/);
  expect(await readdir(host.home)).not.toContain("cache");
});

test("a name that is taken is refused; a replacement says exactly what is new", async () => {
  const host = await toolHost();
  await installProber(host, allowing("api.example.com"));
  const { propose, install } = host.installer;
  const offer = { component: await fixture("prober.js"), capabilitiesText: allowing("*.example.com") };
  const wider = await propose("prober", offer, { unsigned: () => false });
  expect(wider.replaces).toMatchObject({
    version: "1.0.0",
    added: ["may GET https://*.example.com/v1/*"],
  });
  await expect(install(wider, { replace: () => false })).rejects.toThrow(
    "prober is already installed (version 1.0.0).",
  );
  expect((await propose("fresh", offer, { unsigned: () => false })).replaces).toBeUndefined();
  const replaced = await install(wider, { replace: () => true });
  expect(replaced.capabilities.http?.allowlist[0]?.host).toBe("*.example.com");
  expect(await readdir(join(host.home, "tools"))).toEqual([".previous-prober", "prober"]);
});

test("of two installs of one name at once without --force one wins and the other is told", async () => {
  const host = await toolHost();
  const candidate = await host.examine(await fixture("prober.js"), PLAIN);
  const attempts = await Promise.allSettled([
    host.place("prober", candidate, false),
    host.place("prober", candidate, false),
  ]);
  expect(attempts.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await readdir(join(host.home, "tools"))).toEqual(["prober"]);
});

describe("an install that was killed", () => {
  const aside = ".was-prober.0a1b2c3d-0000-4000-8000-000000000000";

  async function installed() {
    const host = await toolHost();
    await installProber(host, PLAIN);
    const folder = join(host.home, "tools");
    return { host, tool: join(folder, "prober"), aside: join(folder, aside) };
  }

  test("between its two renames: the tool is back with the next start", async () => {
    const { host, ...paths } = await installed();
    await rename(paths.tool, paths.aside);
    const next = await toolHost({}, host.home);
    expect((await next.catalog.list()).map(({ name }) => name)).toEqual(["prober"]);
    expect(await readdir(join(next.home, "tools"))).toEqual(["prober"]);
  });

  test("and then another of the same tool: the newest of the sound ones is back, whatever its name", async () => {
    const { host, ...paths } = await installed();
    const was = (first: string) => paths.aside.replace("0a1b2c3d", first);
    await rename(paths.tool, was("11111111"));
    await installProber(host, allowing("api.example.com"));
    await rename(paths.tool, was("22222222"));
    await installProber(host, allowing("newest.example.com"));
    // What a kill in the middle of its deletion leaves.
    await rm(join(paths.tool, "component.wasm"));
    await rename(paths.tool, was("00000000"));
    const next = await toolHost({}, host.home);
    const [tool] = await next.catalog.list();
    expect(tool?.capabilities.http?.allowlist[0]?.host).toBe("api.example.com");
    expect(await readdir(join(next.home, "tools"))).toEqual(["prober"]);
  });

  test("after them: the successor stays and what it replaced is the previous version", async () => {
    const { host, ...paths } = await installed();
    await cp(paths.tool, paths.aside, { recursive: true });
    const next = await toolHost({}, host.home);
    expect(await readdir(join(next.home, "tools"))).toEqual([".previous-prober", "prober"]);
    expect(await next.catalog.previous("prober")).toMatchObject({ tool: { name: "prober" } });
  });

  test("after them, and the tool is removed: what it replaced does not come back", async () => {
    const { host, ...paths } = await installed();
    await cp(paths.tool, paths.aside, { recursive: true });
    expect(await host.remove("prober")).toBe(true);
    const next = await toolHost({}, host.home);
    expect(await next.catalog.list()).toEqual([]);
  });

  test("before them: its draft goes after an hour, since a young one may still be written", async () => {
    const host = await toolHost();
    const draft = (name: string) => join(host.home, "tools", name);
    for (const name of [".new-a", ".new-b", ".old-c"]) await mkdir(draft(name), { recursive: true });
    const before = Date.now() / 1000 - 2 * 60 * 60;
    for (const name of [".new-a", ".old-c"]) await utimes(draft(name), before, before);
    await toolHost({}, host.home);
    expect(await readdir(join(host.home, "tools"))).toEqual([".new-b"]);
  });
});
