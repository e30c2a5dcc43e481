/** MCP servers of others: added, listed, called like any tool, removed. The servers are the SDK's own, over real sockets and pipes. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openMcpHttp } from "../../support/servers/mcp-http.ts";
import { ECHO, WRITE } from "../../support/servers/scripted-mcp.ts";
import { toolHost } from "../../support/tools/tool-host.ts";

const COMMAND = [
  process.execPath,
  fileURLToPath(new URL("../../fixtures/mcp/command-server.ts", import.meta.url)),
];
const OPERATOR = { user: "operator", agree: false };
const call = (name: string, params: object = {}) => ({ id: "c", name, params: JSON.stringify(params) });

test.each(["2026", "2025"] as const)(
  "a server of revision %s is added, called and removed",
  async (revision) => {
    const server = await openMcpHttp([ECHO, WRITE], revision);
    const host = await toolHost({ privateHosts: new Set([server.host]) });
    const { servers } = host.foreign;
    const added = await servers.add({ name: "far", url: server.url }, OPERATOR);
    expect(added).toMatchObject({
      kind: "http",
      status: "connected",
      revision: revision === "2026" ? "2026-07-28" : "2025-11-25",
      tools: [
        { name: "far_echo", readOnly: true, state: "asks" },
        { name: "far_write", readOnly: false, state: "asks" },
      ],
    });
    const { outcome, receipt } = await host.call(call("far_echo", { text: "hi" }), { user: "ada" });
    expect(outcome).toMatchObject({ status: "ok", output: "echo: hi" });
    expect(receipt).toMatchObject({ tool: "far_echo", user: "ada", status: "ok" });
    expect((await host.list()).map(({ name }) => name)).toEqual(["far_echo", "far_write"]);
    expect(await servers.remove("far")).toBe(true);
    expect(await host.list()).toEqual([]);
    expect((await host.call(call("far_echo"), { user: "ada" })).outcome).toMatchObject({
      code: "no_such_tool",
    });
  },
);

test("a command is a server too, with nothing in its environment but what was named", async () => {
  const host = await toolHost();
  const { servers } = host.foreign;
  const added = await servers.add(
    { name: "near", command: COMMAND, env: { NEAR_TOKEN: "a-secret-value" } },
    { user: "operator", agree: true },
  );
  expect(added).toMatchObject({ kind: "command", status: "connected", address: COMMAND.join(" ") });
  expect(added.tools.map(({ name, state }) => [name, state])).toEqual([
    ["near_echo", "runs"],
    ["near_write", "asks"],
    ["near_environment", "asks"],
  ]);
  const { outcome } = await host.call(call("near_environment"), { user: "ada" });
  expect(outcome).toMatchObject({ status: "ok", output: '{"NEAR_TOKEN":"[secret]"}' });
  expect(await servers.file("near")).not.toContain("a-secret-value");
});
