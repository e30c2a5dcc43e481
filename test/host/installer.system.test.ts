/** What the operator's page does with a reference, and tools at an address of the web. */
import { expect, test } from "vitest";
import { withCapabilitiesSection } from "../../host/compile/capabilities-section.ts";
import { openUpstream } from "../support/servers/upstream.ts";
import { copyCode, fixture } from "../support/tools/components.ts";
import { allowing, toolHost } from "../support/tools/tool-host.ts";
import { afterThisTest } from "../support/undo.ts";

async function open() {
  const files = new Map<string, Uint8Array>();
  const server = await openUpstream(({ path }, response) => {
    const file = files.get(path.split("?")[0] ?? "");
    if (file === undefined) response.writeHead(404).end();
    else response.end(file);
  });
  afterThisTest(server.close);
  const host = await toolHost({ privateHosts: new Set([`127.0.0.1:${server.port}`]) });
  const component = await fixture("prober.js");
  await copyCode(component, host.home);
  return { host, files, component, url: `http://127.0.0.1:${server.port}/prober.wasm` };
}

test("a download is shown with its capabilities and as not signed, and is installed only as what was shown", async () => {
  const { host, files, component, url } = await open();
  const { find, installFound } = host.admin;
  files.set("/prober.wasm", component);
  await expect(find(url)).rejects.toThrow(
    /no http.*prober\.capabilities\.json, and there is none inside the component\.$/,
  );
  files.set("/prober.capabilities.json", Buffer.from(allowing("one.example")));
  const found = await find(`${url}?key=1`);
  expect(found).toMatchObject({ name: "prober", signature: "not signed", signed: false });
  expect(found.grants[0]).toContain("one.example");

  const agreed = { name: "prober", digest: found.origin.digest, replace: false, allowUnsigned: true };
  await expect(installFound(url, { ...agreed, allowUnsigned: false })).rejects.toThrow(/^not signed/);
  files.set("/prober.wasm", withCapabilitiesSection(component, allowing("two.example")));
  await expect(installFound(url, agreed)).rejects.toThrow(/has changed since you looked at it/);
  expect(await host.catalog.list()).toEqual([]);

  files.set("/prober.wasm", component);
  files.set("/prober.capabilities.json", Buffer.from(allowing("three.example")));
  await expect(installFound(url, agreed)).rejects.toThrow(/has changed since you looked at it/);
  files.set("/prober.capabilities.json", Buffer.from(allowing("one.example")));
  const { origin } = await installFound(`${url}?key=1`, agreed);
  expect(origin).toEqual({ kind: "https", reference: url, digest: found.origin.digest });
  expect((await host.catalog.find("prober"))?.origin?.reference).toBe(`${url}?key=1`);
});

test("the capabilities inside a component win over those beside it", async () => {
  const { host, files, component, url } = await open();
  files.set("/prober.wasm", withCapabilitiesSection(component, allowing("inside.example")));
  files.set("/prober.capabilities.json", Buffer.from(allowing("beside.example")));
  expect((await host.admin.find(url)).grants[0]).toContain("inside.example");
});

test.each([
  ["a path on the server", "/etc/passwd", /is a path: upload/],
  ["a path that looks like a file", "./x.wasm", /is a path: upload/],
  ["a private address", "https://10.0.0.1/x.wasm", /private address/],
  ["plain http", "http://example.org/x.wasm", /Plain http/],
  ["a poisoned name", "wea\u202ether", /cannot be seen/],
])("%s is refused on the page", async (_what, from, why) => {
  const host = await toolHost();
  await expect(host.admin.find(from)).rejects.toThrow(why);
});
