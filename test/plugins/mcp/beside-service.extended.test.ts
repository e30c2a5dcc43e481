/** One home, a running service and `postern mcp` beside it, and a client that is none of the SDK's. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createMCPClient, type MCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, expect, test } from "vitest";
import { BIN } from "../../support/clone.ts";
import { temporaryFolder } from "../../support/home.ts";
import { postern, startPostern } from "../../support/processes/postern.ts";
import { freePort } from "../../support/servers/port.ts";
import { prepareShipped } from "../../support/tools/shipped.ts";
import { afterThisFile, afterThisTest } from "../../support/undo.ts";

const later = afterThisFile();
let folder = "";
let port = 0;

const settings = () => ({
  PATH: process.env["PATH"] ?? "",
  POSTERN_HOME: join(folder, "home"),
  GATEWAY_PORT: String(port),
  MODEL_PROVIDER: "builtin",
  TOOLS_SHIPPED: "true",
  TOOL_APPROVALS: "convert=ask",
});
const token = () => readFileSync(join(folder, "home", "webui-token"), "utf8").trim();
const headers = () => ({ authorization: `Bearer ${token()}` });
const endpoint = () => `http://127.0.0.1:${port}/mcp`;
const COMMAND = { command: process.execPath, args: [BIN, "mcp"] };

beforeAll(async () => {
  folder = temporaryFolder(later);
  port = await freePort();
  await prepareShipped();
  const service = startPostern(["serve"], { env: settings(), cwd: folder, later });
  await service.printed("web-search: installed");
});

/** The SDK's client, with a person who allows everything for good. */
async function connect(transport: StreamableHTTPClientTransport | StdioClientTransport) {
  const client = new Client({ name: "test", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  let asked = 0;
  client.setRequestHandler("elicitation/create", async () => {
    asked += 1;
    return { action: "accept", content: { decision: "always" } };
  });
  await client.connect(transport);
  afterThisTest(() => client.close());
  const convert = { name: "convert", arguments: { value: 5, from: "km", to: "m" } };
  return {
    convert: () => client.callTool(convert),
    asked: () => asked,
  };
}

const onStdio = (...args: readonly string[]) =>
  new StdioClientTransport({
    command: COMMAND.command,
    args: [...COMMAND.args, ...args],
    env: settings(),
    cwd: folder,
    stderr: "ignore",
  });
const onHttp = (bearer: string) =>
  new StreamableHTTPClientTransport(new URL(endpoint()), {
    requestInit: { headers: { authorization: `Bearer ${bearer}` } },
  });

test("what is allowed on standard input and output is allowed in the service, and the other way round", async () => {
  const [stdio, http] = await Promise.all([connect(onStdio()), connect(onHttp(token()))]);
  expect((await stdio.convert()).structuredContent).toMatchObject({ result: 5000 });
  expect(stdio.asked()).toBe(1);
  expect((await http.convert()).structuredContent).toMatchObject({ result: 5000 });
  expect(http.asked()).toBe(0);

  await postern(["user", "add", "ann"], { env: settings() });
  const made = await postern(["token", "create", "ann", "--name", "test", "--json"], { env: settings() });
  const ann = await connect(onHttp(JSON.parse(made.stdout).token));
  await ann.convert();
  expect(ann.asked()).toBe(1);
  const beside = await connect(onStdio("--user", "ann"));
  expect((await beside.convert()).structuredContent).toMatchObject({ result: 5000 });
  expect(beside.asked()).toBe(0);
});

test.each(["http", "stdio"] as const)("the AI SDK's client lists and calls tools over %s", async (kind) => {
  const client: MCPClient = await createMCPClient({
    transport:
      kind === "http"
        ? { type: "http", url: endpoint(), headers: headers() }
        : new Experimental_StdioMCPTransport({ ...COMMAND, env: settings(), cwd: folder, stderr: "ignore" }),
  });
  afterThisTest(() => client.close());
  const tools = await client.tools();
  expect(Object.keys(tools).sort()).toEqual([
    "ask",
    "convert",
    "read-page",
    "run-code",
    "weather",
    "web-search",
  ]);
  const call = async (name: string, params: object) =>
    tools[name]?.execute?.(params, { toolCallId: "1", messages: [], context: undefined });
  expect(await call("convert", { value: 5, from: "km", to: "m" })).toMatchObject({
    structuredContent: { result: 5000 },
  });
  // No city: the tool itself says so, and asks nobody outside.
  expect(await call("weather", { action: "get_current" })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("city") }],
  });
});
