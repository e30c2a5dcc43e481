import { expect, test } from "vitest";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import { openGateway } from "../../support/services/gateway.ts";
import { mcpServersPlugin } from "../../support/services/mcp-servers.ts";

async function openWithServers() {
  const done: unknown[] = [];
  const gateway = await openGateway({ plugins: [mcpServersPlugin(done) as AnyPlugin] });
  const ann = await gateway.addUser("ann");
  const as = (token?: string) => (method: string, path: string, body?: unknown) =>
    gateway.ask(`/api/mcp/servers${path}`, {
      method,
      ...(body !== undefined && { body }),
      ...(token && { token }),
    });
  return { done, gateway, operator: as(), ann: as(ann) };
}

test("an operator adds, looks at, edits, tests, agrees to and removes servers", async () => {
  const { done, operator } = await openWithServers();
  const added = await operator("POST", "", { name: "news", url: "https://news.example/mcp", agree: true });
  expect(added).toMatchObject({ status: 201, body: { name: "news", kind: "http", per_user: false } });
  const env = { API_KEY: "x", some_Name: "y" };
  await operator("POST", "", { name: "local", command: ["node", "server.js"], env, per_user: true });
  expect(done).toEqual([
    ["add", { name: "news", url: "https://news.example/mcp" }, { agree: true, user: "operator" }],
    [
      "add",
      { name: "local", command: ["node", "server.js"], env, perUser: true },
      { agree: false, user: "operator" },
    ],
  ]);
  expect((await operator("POST", "", { name: "No!", url: "x" })).body.error).toMatchObject({ param: "name" });
  expect((await operator("POST", "", { name: 7 })).status).toBe(400);

  expect((await operator("GET", "/shop")).body).toMatchObject({
    status: "connected",
    tools: [
      { state: "runs", read_only: true },
      { state: "held", change: { differences: expect.any(Array) } },
    ],
  });
  expect((await operator("GET", "/shop/file")).body.file).toContain('"order": "ask"');
  expect((await operator("PUT", "/shop/file", { file: "no" })).body.error).toMatchObject({ param: "file" });
  expect((await operator("PUT", "/shop/file", { file: "{}" })).status).toBe(200);
  expect((await operator("POST", "/shop/agree", {})).body.error).toMatchObject({ param: "tools" });
  const seen = { tools: [{ tool: "order", digest: "order-2" }] };
  expect((await operator("POST", "/shop/agree", seen)).body.tools[1].state).toBe("asks");
  expect((await operator("POST", "/shop/test")).status).toBe(200);
  expect((await operator("POST", "/files/test")).status).toBe(503);
  expect((await operator("DELETE", "/news")).status).toBe(204);
  for (const [method, path, body] of [
    ["GET", "/news"],
    ["DELETE", "/news"],
    ["GET", "/news/file"],
    ["PUT", "/news/file", { file: "{}" }],
    ["POST", "/news/agree", { tools: [] }],
    ["POST", "/news/test"],
    ["POST", "/news/sign-in"],
    ["PUT", "/news/token", { token: "t" }],
  ] as const)
    expect((await operator(method, path, body)).status, `${method} ${path}`).toBe(404);
});

test("a user sees the servers, not what the operator runs or has to agree to, and signs in for themselves alone", async () => {
  const { done, gateway, operator, ann } = await openWithServers();
  const { servers } = (await ann("GET", "")).body;
  expect(servers).toMatchObject([{ name: "shop" }, { name: "files", address: "a command on the server" }]);
  expect(JSON.stringify(servers)).not.toMatch(/notes|exit code|differences/);
  for (const [method, path, body] of [
    ["POST", "", { name: "x", url: "https://x.example" }],
    ["GET", "/shop"],
    ["DELETE", "/shop"],
    ["GET", "/shop/file"],
    ["PUT", "/shop/file", { file: "{}" }],
    ["POST", "/shop/agree", { tools: [] }],
    ["POST", "/shop/test"],
    ["POST", "/files/sign-in"],
    ["PUT", "/files/token", { token: "t" }],
    ["DELETE", "/files/token"],
  ] as const)
    expect((await ann(method, path, body)).status, `${method} ${path}`).toBe(403);
  expect(done).toEqual([]);

  expect((await ann("POST", "/shop/sign-in")).body.url).toMatch(/^https:\/\/shop\.example/);
  expect((await ann("PUT", "/shop/token", { token: "hers" })).status).toBe(204);
  expect(done).toEqual([
    ["sign-in", "shop", "ann", `${gateway.url}/oauth/callback`],
    ["token", "shop", "ann", "hers"],
  ]);
  expect((await ann("GET", "")).body.servers[0].is_signed_in).toBe(true);
  expect((await operator("GET", "")).body.servers[0].is_signed_in).toBe(false);
  expect((await ann("DELETE", "/shop/token")).status).toBe(204);
  expect((await ann("DELETE", "/shop/token")).status).toBe(404);
});

test("the list of servers to add is the operator's", async () => {
  const { gateway } = await openWithServers();
  const listed = await gateway.ask("/api/mcp/index");
  expect(listed.body).toMatchObject({ date: "2026-01-31", servers: [{ name: "news", sign_in: "token" }] });
  const token = await gateway.addUser("bob");
  expect((await gateway.ask("/api/mcp/index", { token })).status).toBe(403);
});

test("without a tool host there are no servers, and adding one says why", async () => {
  const gateway = await openGateway();
  expect((await gateway.ask("/api/mcp/servers")).body).toEqual({ servers: [] });
  const body = { name: "x", url: "https://x.example" };
  expect((await gateway.ask("/api/mcp/servers", { method: "POST", body })).status).toBe(503);
});
