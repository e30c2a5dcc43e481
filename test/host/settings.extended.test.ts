/** Settings of an installation, given to a real component, and sockets that a component asks for and does not get. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { playBack } from "../../host/broker/recording.ts";
import { createSettings, NO_CHOICES } from "../../host/catalog/settings.ts";
import { diagnoseTools } from "../../host/diagnosis.ts";
import type { Lookup } from "../../kernel/kit/outbound.ts";
import { openUpstream } from "../support/servers/upstream.ts";
import { diagnosing } from "../support/services/diagnosis.ts";
import { copyCode, fixture } from "../support/tools/components.ts";
import { NOTHING, toolHost } from "../support/tools/tool-host.ts";
import { afterThisTest } from "../support/undo.ts";

const capabilities = (more: object = {}) =>
  JSON.stringify({
    version: "1.0.0",
    wit_version: "0.1.0",
    settings: [
      { name: "base_url", description: "The server to ask.", format: "url", required: true },
      { name: "language", description: "The language of answers.", format: "text", default: "en" },
    ],
    http: { allowlist: [{ host: { setting: "base_url" }, path_prefix: "/v1/", methods: ["GET"] }] },
    ...more,
  });

async function open() {
  const server = await openUpstream();
  afterThisTest(server.close);
  const host = await toolHost();
  const component = await fixture("settings.js");
  await copyCode(component, host.home);
  const propose = (settings: Record<string, string>, agrees = true, text = capabilities()) =>
    host.installer.propose(
      "notes",
      { component, capabilitiesText: text },
      { unsigned: () => true, privateHost: () => agrees },
      undefined,
      settings,
    );
  const install = async (settings: Record<string, string>, text?: string) =>
    host.installer.install(await propose(settings, true, text), { replace: () => true });
  const call = async (params: object) => {
    const { outcome } = await host.run(
      { id: "1", name: "notes", params: JSON.stringify(params) },
      { user: "ada" },
    );
    return outcome.status === "ok" ? JSON.parse(outcome.output) : outcome;
  };
  const find = async () => {
    const tool = await host.catalog.find("notes");
    if (tool === undefined) throw new Error("it is not installed");
    return tool;
  };
  return { server, host, propose, install, call, find, url: `http://127.0.0.1:${server.port}` };
}

test("a tool reads the settings its operator gave, and asks where they lead, with every call", async () => {
  const { server, host, install, call, url } = await open();
  const tool = await install({ base_url: `${url}/`, language: "de" });
  expect(tool.choices).toEqual({
    settings: { base_url: url, language: "de" },
    privateHosts: [`127.0.0.1:${server.port}`],
  });
  expect(await call({ name: "base_url" })).toBe(url);
  expect(await call({ name: "language" })).toBe("de");
  expect(await call({ name: "toString" })).toBeNull();
  expect(await call({ path: "/v1/x" })).toBe(200);
  expect(await call({ path: "/v2/x" })).toContain('The path "/v2/x"');
  expect(tool.description).toContain("base_url is not there");
  const { grants } = await host.describe(tool);
  expect(grants[0]).toContain(`http(s)://127.0.0.1:${server.port}/v1/* (the setting \`base_url\`)`);
  const record = JSON.parse(await readFile(join(host.home, "tools", "notes", "tool.json"), "utf8"));
  expect(record).toMatchObject({
    settings: { language: "de" },
    private_hosts: [`127.0.0.1:${server.port}`],
  });
});

test("without a required setting a tool is not offered, and a call, the list and doctor say what to do", async () => {
  const { host, install, call } = await open();
  const needs = async () => (await host.list()).map((tool) => tool.needs);
  const diagnosed = async () => (await diagnosing(host.home, {}, diagnoseTools))[0];
  await install({});
  const why =
    "notes needs the setting `base_url`. Give what is missing on the page, or with: postern tool setup notes";
  const refusal = { status: "error", code: "not_set_up", message: why };
  expect(await call({ name: "language" })).toMatchObject(refusal);
  const params = '{"name":"language"}';
  expect(await host.refusal({ id: "1", name: "notes", params }, "ada")).toEqual(refusal);
  expect(await needs()).toEqual([{ names: ["base_url"], why, isOffered: false }]);
  expect(await diagnosed()).toMatchObject({ warning: true, detail: expect.stringContaining(why) });
  await install({ base_url: "https://search.example.com" });
  expect(await needs()).toEqual([undefined]);
  expect(await diagnosed()).toMatchObject({ ok: true, detail: "version 1.0.0, file unchanged" });
  expect(await call({ name: "language" })).toBe("en");
});

test("a private host is asked about; who does not agree has nothing installed", async () => {
  const { host, propose, url } = await open();
  for (const value of [url, "https://10.0.0.7", "https://[::1]/x", "https://169.254.169.254"])
    await expect(propose({ base_url: value }, false)).rejects.toMatchObject({
      code: "private_host",
      message: expect.stringMatching(
        /^It would reach .*, which only you can allow: .*\. Nothing was installed\.$/,
      ),
    });
  expect(await host.catalog.list()).toEqual([]);
});

test("a name that leads to a private address is asked about like the address", async () => {
  const catalog = { configure: () => Promise.reject(new Error("nothing is saved here")) };
  const lookup: Lookup = async (name) => [
    { address: name === "intranet.example" ? "10.0.0.7" : "192.0.2.7", family: 4 },
  ];
  const { choose } = createSettings({ catalog, privateHosts: new Set(), lookup });
  const ask = (base_url: string) => choose(capabilities(), NO_CHOICES, { base_url });
  expect(await ask("https://intranet.example/x")).toMatchObject({
    choices: { privateHosts: ["intranet.example:443"] },
    asks: [expect.stringMatching(/^It would reach intranet\.example:443, which only you can allow: /)],
  });
});

test.each([
  ["an unknown name", { other: "x" }, "unknown_setting", "the capabilities file declares base_url, language"],
  ["another scheme", { base_url: "file:///etc/passwd" }, "bad_setting", "must be an address such as"],
  ["a scheme trick", { base_url: "https://a.test\\@b.test/" }, "bad_setting", "must be an address such as"],
  ["a template", { base_url: "https://{host}/" }, "bad_setting", "must be an address such as"],
  ["a line break", { language: "de\nen" }, "bad_setting", "must not hold control"],
] as const)("%s is refused with the reason", async (_, settings, code, message) => {
  const { propose } = await open();
  await expect(propose({ ...settings })).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
  });
});

describe("changing a setting", () => {
  test("is asked about where the tool may then go elsewhere, and not for other words", async () => {
    const { host, install, call, find } = await open();
    await install({ base_url: "https://one.example" });
    const asked: (readonly string[])[] = [];
    const agrees = (answer: boolean) => (added: readonly string[]) => {
      asked.push(added);
      return answer;
    };
    await expect(
      host.configure(await find(), { base_url: "https://two.example" }, agrees(false)),
    ).rejects.toMatchObject({ code: "not_agreed" });
    expect(await call({ name: "base_url" })).toBe("https://one.example");
    const changed = await host.configure(await find(), { base_url: "https://two.example" }, agrees(true));
    expect(asked[1]).toEqual(["may GET https://two.example/v1/* (the setting `base_url`)"]);
    expect(changed.capabilities.http?.allowlist[0]?.host).toBe("two.example");
    expect(await call({ name: "base_url" })).toBe("https://two.example");
    await host.configure(await find(), { language: "fr" }, agrees(false));
    expect(await call({ name: "language" })).toBe("fr");
    await host.configure(await find(), { language: "" }, agrees(false));
    expect(await call({ name: "language" })).toBe("en");
    expect(asked).toHaveLength(2);
  });

  test("makes it another tool for whoever always allowed it", async () => {
    const { host, install, find } = await open();
    const before = await host.describe(await install({ base_url: "https://one.example" }));
    await host.configure(await find(), { base_url: "https://two.example" }, () => true);
    expect((await host.describe(await find())).fingerprint).not.toBe(before.fingerprint);
  });

  test("on the page saves nothing before the person agrees to the sentences", async () => {
    const { host, install, url, server } = await open();
    await install({ base_url: "https://one.example" });
    const { setSetting, setup } = host.admin;
    const asks = [
      `It would reach 127.0.0.1:${server.port}, which only you can allow: 127.0.0.1 is a loopback address, and ${url} uses plain http`,
      `may GET https://127.0.0.1/v1/* or http(s)://127.0.0.1:${server.port}/v1/* (the setting \`base_url\`)`,
      `may reach 127.0.0.1:${server.port}, also if it is private, because you allowed it`,
    ];
    expect(await setSetting("notes", "base_url", url, false)).toEqual({ saved: false, asks });
    expect((await setup("notes")).settings?.[0]).toMatchObject({
      value: "https://one.example",
      isDefault: false,
    });
    expect(await setSetting("notes", "base_url", url, true)).toEqual({ saved: true, asks: [] });
    expect((await setup("notes")).settings).toMatchObject([{ value: url }, { value: "en", isDefault: true }]);
    await expect(setSetting("notes", "base_url", "nonsense", true)).rejects.toMatchObject({
      code: "bad_setting",
    });
  });
});

test("a new version keeps the settings and the agreed host, and going elsewhere is a wider grant", async () => {
  const { propose, install, url, find } = await open();
  await install({ base_url: url });
  const next = await propose({}, false, capabilities({ version: "1.1.0" }));
  expect(next.replaces?.added).toEqual([]);
  const moved = await propose({ base_url: "https://two.example" }, false, capabilities({ version: "1.1.0" }));
  expect(moved.replaces?.added).toEqual(["may GET https://two.example/v1/* (the setting `base_url`)"]);
  await install({}, capabilities({ version: "1.1.0" }));
  expect((await find()).choices.settings).toEqual({ base_url: url });
});

test("a recording is played with the settings of its call, where the operator gave none", async () => {
  const { host, propose, url } = await open();
  const { candidate } = await propose({});
  const play = async (settings: unknown) => {
    const exchanges = [{ request: { method: "GET", url: `${url}/v1/x` }, reply: { status: 200, body: "" } }];
    const text = JSON.stringify({ params: { path: "/v1/x" }, settings, exchanges });
    const [answered] = await host.replay(candidate, [{ name: "a.json", text }]);
    return answered;
  };
  expect(await play({ base_url: url })).toMatchObject({ ok: true });
  // The same with the installed tool, as `tool run --replay` does it: nobody is asked.
  await host.place("notes", candidate, false);
  const reply = { status: 204, body: "" };
  const exchanges = [{ request: { method: "GET", url: "https://recorded.example/v1/x" }, reply }];
  const tape = playBack({ settings: { base_url: "https://recorded.example" }, exchanges }, "b.json");
  const call = { id: "1", name: "notes", params: '{"path":"/v1/x"}' };
  expect((await host.run(call, { user: "ada", tape })).outcome).toMatchObject({
    status: "ok",
    output: "204",
  });
  expect(await play([])).toMatchObject({
    ok: false,
    detail: expect.stringContaining("its settings are not"),
  });
});

test("a component that asks for sockets is installed, told so, and every call is denied", async () => {
  const host = await toolHost();
  const component = await fixture("sockets.js");
  await copyCode(component, host.home);
  const candidate = await host.examine(component, NOTHING);
  expect(candidate.grants).toContain("asks for sockets; gets none");
  await host.place("sockets", candidate, false);
  const { outcome } = await host.run({ id: "1", name: "sockets", params: "{}" }, { user: "ada" });
  expect(outcome).toMatchObject({ status: "ok" });
  expect(JSON.parse(outcome.status === "ok" ? outcome.output : "{}")).toEqual({
    tcp: "access-denied",
    udp: "access-denied",
    names: "access-denied",
  });
});
