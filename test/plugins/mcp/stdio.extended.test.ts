/** `postern mcp` as a host starts it: a process that speaks the protocol on its input and output. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, describe, expect, test } from "vitest";
import { BIN } from "../../support/clone.ts";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { REVISIONS, type Revision, textOf } from "../../support/services/mcp.ts";
import { prepareShipped } from "../../support/tools/shipped.ts";
import { afterThisFile, afterThisTest } from "../../support/undo.ts";

const later = afterThisFile();
const home = () => join(folder, "home");
let folder = "";
const settings = () => ({
  PATH: process.env["PATH"] ?? "",
  POSTERN_HOME: home(),
  MODEL_PROVIDER: "builtin",
});

beforeAll(async () => {
  folder = temporaryFolder(later);
  await prepareShipped();
  // Installs the shipped tools.
  await postern(["tool", "list"], { env: { ...settings(), TOOLS_SHIPPED: "true" }, later });
});

async function host(revision: Revision, args: readonly string[] = []): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { versionNegotiation: { mode: revision === "2026-07-28" ? { pin: revision } : "legacy" } },
  );
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [BIN, "mcp", ...args],
      env: settings(),
      cwd: folder,
      stderr: "pipe",
    }),
  );
  afterThisTest(() => client.close());
  return client;
}

describe.each(REVISIONS)("%s", (revision) => {
  test("the SDK's client lists and calls the shipped tools, and asks the agent", async () => {
    const client = await host(revision);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "ask",
      "convert",
      "read-page",
      "run-code",
      "weather",
      "web-search",
    ]);
    const converted = await client.callTool({
      name: "convert",
      arguments: { value: 5, from: "km", to: "m" },
    });
    expect(converted.structuredContent).toMatchObject({ result: 5000 });
    const refused = await client.callTool({ name: "weather", arguments: { action: "get_current" } });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain("city");
    const asked = await client.callTool({ name: "ask", arguments: { message: "What is 2 + 3?" } });
    expect(textOf(asked)).toContain("5");
  });
});

/** Its output and error, once it has ended. */
async function raw(lines: readonly object[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [BIN, "mcp"], { env: { ...settings(), ...env }, cwd: folder });
  afterThisTest(() => child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const closed = once(child, "close");
  for (const line of lines) child.stdin.write(`${JSON.stringify(line)}\n`);
  const ended = async () => {
    const [code] = await closed;
    return { code, stdout, stderr };
  };
  return { child, answered: () => stdout.split("\n").length > 1, ended };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1.0.0" },
  },
};

test("it says nothing but the protocol on standard output, and ends when its input is closed", async () => {
  const plugin = join(import.meta.dirname, "../../fixtures/third-party/talker.js");
  const { child, answered, ended } = await raw([INITIALIZE], { PLUGINS: plugin, LOG_LEVEL: "debug" });
  await expect.poll(answered).toBe(true);
  child.stdin.end();
  const { code, stdout, stderr } = await ended();
  expect(code).toBe(0);
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id),
  ).toEqual([1]);
  expect(stderr).toContain("a plugin that prints");
});

test("it ends on SIGTERM while its input is open", async () => {
  const { child, answered, ended } = await raw([INITIALIZE]);
  await expect.poll(answered).toBe(true);
  child.kill("SIGTERM");
  expect((await ended()).code).toBe(0);
});

test("a user who does not exist, or settings that cannot be used, are refused on standard error", async () => {
  const unknown = await postern(["mcp", "--user", "nobody"], { env: settings() });
  expect(unknown).toMatchObject({ code: 2, stdout: "" });
  expect(unknown.stderr).toContain('There is no user "nobody"');
  const wrong = await postern(["mcp"], { env: { ...settings(), DAILY_USD_CAP: "much" } });
  expect(wrong).toMatchObject({ code: 78, stdout: "" });
  expect(wrong.stderr).toContain("DAILY_USD_CAP");
});

test("--user acts for another: its threads are that user's", async () => {
  await postern(["user", "add", "ann"], { env: settings() });
  const client = await host("2025-11-25", ["--user", "ann"]);
  const { structuredContent } = await client.callTool({ name: "ask", arguments: { message: "Hello" } });
  const { thread_id: thread } = structuredContent as { thread_id: string };
  const other = await host("2025-11-25");
  const foreign = await other.callTool({ name: "ask", arguments: { message: "Hello", thread_id: thread } });
  expect(foreign.isError).toBe(true);
});
