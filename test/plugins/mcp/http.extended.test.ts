/** The door: who gets in, from where, and what bad requests are answered. */
import { describe, expect, test } from "vitest";
import { startIdentityProvider } from "../../support/servers/identity-provider.ts";
import { OPERATOR_TOKEN } from "../../support/services/gateway.ts";
import { openMcp, type TestMcp } from "../../support/services/mcp.ts";

const ACCEPT = "application/json, text/event-stream";
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const LIST = { jsonrpc: "2.0", id: 2, method: "tools/list" };

async function post(mcp: TestMcp, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(mcp.endpoint, {
    method: "POST",
    headers: {
      authorization: `Bearer ${OPERATOR_TOKEN}`,
      accept: ACCEPT,
      "content-type": "application/json",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function initialize(mcp: TestMcp, token = OPERATOR_TOKEN): Promise<string> {
  const answer = await post(mcp, INITIALIZE, { authorization: `Bearer ${token}` });
  await answer.text();
  expect(answer.status).toBe(200);
  return answer.headers.get("mcp-session-id") ?? "";
}

describe("who gets in", () => {
  test("without a token, or with a wrong one, it is 401 with a challenge", async () => {
    const mcp = await openMcp();
    for (const authorization of ["", "Bearer wrong", "Basic abc"]) {
      const answer = await post(mcp, LIST, { authorization });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    }
    const metadata = await fetch(`${mcp.url}/.well-known/oauth-protected-resource`);
    expect(metadata.status).toBe(401);
  });

  test("a cookie is no sign-in here, not even from our own page", async () => {
    const mcp = await openMcp();
    const session = await fetch(`${mcp.url}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: OPERATOR_TOKEN }),
    });
    const cookie = session.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect((await fetch(`${mcp.url}/api/status`, { headers: { cookie } })).status).toBe(200);
    const { authorization: _, ...headers } = { authorization: "", cookie, accept: ACCEPT, origin: mcp.url };
    const answer = await fetch(mcp.endpoint, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(LIST),
    });
    expect(answer.status).toBe(401);
  });

  test("a foreign page is refused, also with a token; our own and a listed one are not", async () => {
    const mcp = await openMcp({ variables: { GATEWAY_ALLOWED_ORIGINS: "https://desk.example" } });
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1"])
      expect((await post(mcp, LIST, { origin })).status).toBe(403);
    for (const origin of [mcp.url, "https://desk.example"])
      expect((await post(mcp, LIST, { origin })).status).toBe(200);
  });

  test("a page whose name leads to this machine is refused", async () => {
    const mcp = await openMcp();
    // fetch sets Host itself.
    const { request } = await import("node:http");
    const asked = Promise.withResolvers<number | undefined>();
    const rebound = request(mcp.endpoint, {
      method: "POST",
      headers: {
        host: `evil.example:${mcp.endpoint.port}`,
        origin: `http://evil.example:${mcp.endpoint.port}`,
        authorization: `Bearer ${OPERATOR_TOKEN}`,
        "content-type": "application/json",
      },
    });
    rebound.on("response", (answer) => {
      answer.resume();
      asked.resolve(answer.statusCode);
    });
    rebound.end(JSON.stringify(LIST));
    expect(await asked.promise).toBe(403);
  });

  test("a stream ends when its token is revoked", async () => {
    const mcp = await openMcp();
    await mcp.ask("/api/users", { method: "POST", body: { id: "ann" } });
    const made = await mcp.ask("/api/tokens", { method: "POST", body: { user: "ann", name: "t" } });
    const { token, id } = made.body;
    const session = await initialize(mcp, token);
    const stream = await fetch(mcp.endpoint, {
      headers: { authorization: `Bearer ${token}`, accept: "text/event-stream", "mcp-session-id": session },
    });
    expect(stream.status).toBe(200);
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    // At once, though there is nothing to tell yet.
    expect((await reader?.read())?.value).toBe(": open\n\n");
    await mcp.ask(`/api/tokens/${id}`, { method: "DELETE" });
    await expect(reader?.read()).rejects.toThrow();
  });
});

describe("an identity provider", () => {
  const withProvider = async (more: Record<string, string> = {}) => {
    const provider = await startIdentityProvider();
    const variables = { OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: "postern", ...more };
    const mcp = await openMcp({ variables });
    const enter = async (audience: string) => {
      const token = await provider.sign({ sub: "s1" }, { audience });
      return (await post(mcp, LIST, { authorization: `Bearer ${token}` })).status;
    };
    return { provider, mcp, enter };
  };

  test("is found by a document that needs no token, which the challenge names", async () => {
    const { provider, mcp } = await withProvider();
    const address = `${mcp.url}/.well-known/oauth-protected-resource/mcp`;
    const refused = await post(mcp, LIST, { authorization: "" });
    expect(refused.headers.get("www-authenticate")).toBe(`Bearer resource_metadata="${address}"`);
    const wrong = await post(mcp, LIST, { authorization: "Bearer x" });
    expect(wrong.headers.get("www-authenticate")).toBe(
      `Bearer error="invalid_token", resource_metadata="${address}"`,
    );
    for (const url of [address, `${mcp.url}/.well-known/oauth-protected-resource`]) {
      const answer = await fetch(url);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({
        resource: String(mcp.endpoint),
        authorization_servers: [provider.issuer],
        bearer_methods_supported: ["header"],
      });
    }
  });

  test("lets in with tokens for this audience or this address, and for nothing else", async () => {
    const { mcp, enter } = await withProvider();
    expect(await enter("postern")).toBe(200);
    expect(await enter(String(mcp.endpoint))).toBe(200);
    expect(await enter("another-service")).toBe(401);
    expect(await enter(mcp.url)).toBe(401);
  });

  test("a token for the address of /mcp opens nothing else", async () => {
    const { provider, mcp } = await withProvider();
    const token = await provider.sign({ sub: "s1" }, { audience: String(mcp.endpoint) });
    expect(
      (await fetch(`${mcp.url}/api/status`, { headers: { authorization: `Bearer ${token}` } })).status,
    ).toBe(401);
  });

  test("MCP_URL is the address where a proxy is in front", async () => {
    const { mcp, enter } = await withProvider({ MCP_URL: "https://postern.example/mcp" });
    expect(await enter("https://postern.example/mcp")).toBe(200);
    expect(await enter(String(mcp.endpoint))).toBe(401);
    const metadata = await fetch(`${mcp.url}/.well-known/oauth-protected-resource/mcp`);
    expect(await metadata.json()).toMatchObject({ resource: "https://postern.example/mcp" });
    const refused = await post(mcp, LIST, { authorization: "" });
    expect(refused.headers.get("www-authenticate")).toContain(
      'resource_metadata="https://postern.example/.well-known/oauth-protected-resource/mcp"',
    );
  });
});

describe("bad requests", () => {
  test.each([
    ["no JSON", "{", 400, -32700],
    ["an empty body", "", 400, -32700],
    ["no message of the protocol", { hello: 1 }, 400, undefined],
    ["a method that there is not", { jsonrpc: "2.0", id: 1, method: "tools/sing" }, 200, -32601],
    [
      "params of the wrong shape",
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: 7 } },
      200,
      -32602,
    ],
    ["no params", { jsonrpc: "2.0", id: 1, method: "tools/call" }, 200, -32602],
    [
      "arguments that are no object",
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "one", arguments: [] } },
      200,
      -32602,
    ],
  ])("%s gets the code of the protocol", async (_, body, status, code) => {
    const mcp = await openMcp({ tools: { one: { run: () => ({ status: "ok", output: "1" }) } } });
    const answer = await post(mcp, body);
    expect(answer.status).toBe(status);
    const text = await answer.text();
    const json = text.startsWith("event:") ? text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1) : text;
    if (code === undefined) expect(JSON.parse(json).error.code).toBeLessThan(0);
    else expect(JSON.parse(json).error.code).toBe(code);
    expect(mcp.service.logged.join("")).not.toContain("because of a bug");
    expect((await post(mcp, LIST)).status).toBe(200);
  });

  test("a body that is too large is 413, and another type 415", async () => {
    const mcp = await openMcp();
    expect((await post(mcp, JSON.stringify({ ...LIST, pad: "x".repeat(5 * 2 ** 20) }))).status).toBe(413);
    expect((await post(mcp, LIST, { "content-type": "text/plain" })).status).toBe(415);
  });

  test("a revision that there is not is refused with those that there are", async () => {
    const mcp = await openMcp();
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2031-01-01",
      "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const answer = await post(
      mcp,
      { ...LIST, params: { _meta } },
      { "mcp-protocol-version": "2031-01-01", "mcp-method": "tools/list" },
    );
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { code: -32022, data: { supported: ["2026-07-28"] } },
    });
  });
});

describe("sessions of 2025-11-25", () => {
  const using = (session: string, token = OPERATOR_TOKEN) => ({
    authorization: `Bearer ${token}`,
    "mcp-session-id": session,
  });

  test("a session is its user's, and of tokens with the same scope", async () => {
    const mcp = await openMcp();
    const session = await initialize(mcp);
    expect((await post(mcp, LIST, using(session))).status).toBe(200);
    expect((await post(mcp, LIST, using(session, await mcp.addUser("ann")))).status).toBe(404);
    const narrow = { user: "operator", name: "n", tools: ["one"] };
    const { token } = (await mcp.ask("/api/tokens", { method: "POST", body: narrow })).body;
    expect((await post(mcp, LIST, using(session, token))).status).toBe(404);
    expect((await post(mcp, LIST, using(`${session.slice(0, -4)}AAAA`))).status).toBe(404);
    expect((await post(mcp, LIST, using("made-up"))).status).toBe(404);
  });

  test("DELETE ends it", async () => {
    const mcp = await openMcp();
    const session = await initialize(mcp);
    const ended = await fetch(mcp.endpoint, { method: "DELETE", headers: using(session) });
    expect(ended.status).toBe(200);
    expect((await post(mcp, LIST, using(session))).status).toBe(404);
  });

  test("it goes on after a restart", async () => {
    const mcp = await openMcp();
    const session = await initialize(mcp);
    await mcp.service.stop();
    const again = await openMcp({ home: mcp.service.home });
    expect((await post(again, LIST, using(session))).status).toBe(200);
  });

  test("more than a user may have give way to newer ones, and go on when they are used", async () => {
    const mcp = await openMcp();
    const sessions: string[] = [];
    for (let count = 0; count < 20; count += 1) sessions.push(await initialize(mcp));
    for (const session of sessions) expect((await post(mcp, LIST, using(session))).status).toBe(200);
  });

  test("a client that never began one is served without", async () => {
    const mcp = await openMcp();
    expect((await post(mcp, LIST)).status).toBe(200);
    const stream = await fetch(mcp.endpoint, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });
    expect(stream.status).toBe(405);
  });
});

test("it is off with a reason, and off without the gateway", async () => {
  const off = await openMcp({ variables: { MCP_ENABLED: "false" } });
  expect((await post(off, LIST)).status).toBe(404);
  const status = (await off.ask("/api/status")).body;
  expect(status.channels).toContainEqual(
    expect.objectContaining({ name: "mcp", on: false, detail: "MCP_ENABLED is false" }),
  );
});

test("receipts and spending of a call are the user's, with this channel", async () => {
  const seen: unknown[] = [];
  const { definePlugin } = await import("../../../kernel/plugin.ts");
  const tools = definePlugin({
    name: "receipt-tools",
    provides: ["tools"],
    configure: () => ({}),
    start: () => ({
      tools: {
        list: async () => [
          { name: "one", version: "1", description: "", schema: {}, grants: [], writes: false },
        ],
        async call(_, { user, channel }) {
          seen.push({ user, channel });
          return { status: "ok", output: "1" };
        },
      },
    }),
  });
  const mcp = await openMcp({ plugins: [tools as never] });
  const client = await mcp.client("2026-07-28", { token: await mcp.addUser("ann") });
  await client.callTool({ name: "one", arguments: {} });
  expect(seen).toEqual([{ user: "ann", channel: "mcp" }]);
});
