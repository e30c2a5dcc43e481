/** Tools that come with Postern: offered once, renewed while they are ours, otherwise left alone. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestOf } from "../../../host/catalog/catalog.ts";
import { fixture } from "../../support/tools/components.ts";
import { builtComponent, capabilitiesOf, prepareShipped } from "../../support/tools/shipped.ts";
import { allowing, install, toolHost } from "../../support/tools/tool-host.ts";

/** A home to which an older weather tool was offered; a probing one stands for it. */
async function offeredBefore(capabilities: string) {
  const host = await toolHost();
  await prepareShipped();
  const { digest } = await install(host, "weather", await fixture("prober.js"), capabilities);
  await writeFile(join(host.home, "tools", ".shipped.json"), JSON.stringify({ weather: digest }));
  return { host, older: digest, current: digestOf(await builtComponent("weather")) };
}

test("a shipped tool that is still ours is renewed", async () => {
  const { host, current } = await offeredBefore(capabilitiesOf("weather"));
  await host.provideShipped(() => {});
  expect((await host.catalog.find("weather"))?.digest).toBe(current);
  const record = JSON.parse(await readFile(join(host.home, "tools", ".shipped.json"), "utf8"));
  expect(record).toMatchObject({ weather: current });
});

test("a new version that may do more waits for the operator", async () => {
  const { host, older } = await offeredBefore(allowing("api.open-meteo.com"));
  const lines: string[] = [];
  await host.provideShipped((line) => lines.push(line));
  expect((await host.catalog.find("weather"))?.digest).toBe(older);
  expect(lines.join("\n")).toContain("To accept it, run: postern tool install");
});

test("what is built twice at once is installed once", async () => {
  const service = await toolHost();
  await prepareShipped();
  const command = await toolHost({}, service.home);
  await Promise.all([service.provideShipped(() => {}), command.provideShipped(() => {})]);
  const installed = (await service.catalog.list()).map(({ name, digest }) => [name, digest]);
  expect(installed).toEqual([
    ["convert", expect.any(String)],
    ["read-page", expect.any(String)],
    ["run-code", expect.any(String)],
    ["weather", digestOf(await builtComponent("weather"))],
    ["web-search", expect.any(String)],
  ]);
});
