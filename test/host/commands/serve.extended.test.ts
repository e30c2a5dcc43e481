/** `postern tool serve`, with the protocol's own client on standard input and output. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";
import { openToolHost } from "../../../host/library/tool-host.ts";
import { BIN } from "../../support/clone.ts";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { copyCode, fixture } from "../../support/tools/components.ts";
import { allowing, NOTHING } from "../../support/tools/tool-host.ts";
import { afterThisTest } from "../../support/undo.ts";

/** Three tools of which one is not set up and another needs a credential. */
async function makeFolder(): Promise<string> {
  const folder = join(temporaryFolder(), "tools");
  mkdirSync(folder, { mode: 0o700 });
  await using host = await openToolHost({ folder });
  const setting = { name: "server", description: "Where to ask.", format: "url", required: true };
  const bearer = { probe: { secret_name: "key", location: { type: "bearer" }, host_patterns: ["a.test"] } };
  for (const [name, file, capabilities] of [
    ["echo", "echo.js", NOTHING],
    ["unset", "echo.js", JSON.stringify({ ...JSON.parse(NOTHING), settings: [setting] })],
    ["prober", "prober.js", allowing("a.test", { credentials: bearer })],
  ] as const) {
    const component = await fixture(file);
    await copyCode(component, folder);
    await host.install({ component, capabilities }, { name, agree: () => true });
  }
  return folder;
}

test("an MCP host gets exactly the tools of the folder that are set up, calls them as the user it named, and ends it", async () => {
  const folder = await makeFolder();
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, "tool", "serve", folder, "--user", "ann"],
    env: { POSTERN_HOME: join(folder, "..", "home") },
    stderr: "inherit",
  });
  await client.connect(transport);
  afterThisTest(() => client.close());
  const { tools } = await client.listTools();
  expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
    ["echo", true],
    ["prober", true],
  ]);
  const call = (name: string, given: Record<string, unknown>) => client.callTool({ name, arguments: given });
  const textOf = (text: unknown, isError: boolean) => ({ content: [{ type: "text", text }], isError });
  expect(await call("echo", { text: "hello" })).toMatchObject(textOf('{"text":"hello"}', false));
  const wrong = expect.stringContaining("text");
  expect(await call("echo", { text: 1 })).toMatchObject(textOf(wrong, true));
  const asks = expect.stringContaining("postern tool setup prober");
  expect(await call("prober", { url: "https://a.test/v1/" })).toMatchObject(textOf(asks, true));
  expect(await call("nothing", {})).toMatchObject(textOf('There is no tool named "nothing".', true));

  // The folder is free again once its host is gone: it ends with its input.
  await client.close();
  const log = await postern(["tool", "log", "--json"], { env: { POSTERN_HOME: folder } });
  const { receipts } = JSON.parse(log.stdout) as {
    receipts: { tool: string; user: string; status: string }[];
  };
  expect(receipts.map(({ tool, user, status }) => [tool, user, status])).toEqual([
    ["prober", "ann", "unauthenticated"],
    ["echo", "ann", "error"],
    ["echo", "ann", "ok"],
  ]);
});
