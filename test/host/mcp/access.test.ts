import { beforeEach, expect, test } from "vitest";
import type { McpTarget } from "../../../host/mcp/sign-in/target.ts";
import { type GuardedServer, openGuardedServer } from "../../support/servers/guarded-server.ts";
import { openUpstream } from "../../support/servers/upstream.ts";
import { type OpenedAccess, openMcpAccess, REDIRECT_URI } from "../../support/services/mcp-access.ts";
import { afterThisTest } from "../../support/undo.ts";

let server: GuardedServer;
let opened: OpenedAccess;
let target: McpTarget;

beforeEach(async () => {
  server = await openGuardedServer();
  afterThisTest(server.close);
  opened = await openMcpAccess({ privateHosts: [`127.0.0.1:${server.port}`] });
  afterThisTest(opened.close);
  target = { name: "notes", url: server.url, perUser: false };
});

const ask = async (user = "operator", of = target) => {
  const response = await opened.access.fetchFor(of, user)(of.url, { method: "POST", body: "{}" });
  return { status: response.status, text: await response.text() };
};
const refreshes = () => server.tokenRequests().filter((form) => form.get("grant_type") === "refresh_token");

test("a server that wants a sign-in is reached after one, and what comes back holds nothing of the token", async () => {
  await expect(ask()).rejects.toMatchObject({
    kind: "unauthenticated",
    message: expect.stringContaining('run "postern mcp auth notes"'),
  });
  expect(await opened.access.isSignedIn(target, "operator")).toBe(false);
  expect(await opened.access.signsIn(target, "operator")).toBe(true);
  await opened.signIn(target, "operator", server);
  expect(await opened.access.isSignedIn(target, "operator")).toBe(true);
  expect(await ask()).toEqual({ status: 200, text: '{"saw":"Bearer [secret]"}' });
  const sent = server.requests.at(-1)?.headers.authorization;
  expect(sent).toMatch(/^Bearer access-/);
});

test("the sign-in has PKCE, a state, the resource and the scopes of the challenge", async () => {
  server.behaviour.scope = "read write";
  await expect(ask()).rejects.toThrow();
  const { url } = await opened.access.beginSignIn(target, "operator", REDIRECT_URI);
  const { searchParams } = new URL(url);
  expect(Object.fromEntries(searchParams)).toMatchObject({
    response_type: "code",
    code_challenge_method: "S256",
    redirect_uri: REDIRECT_URI,
    resource: server.url,
    scope: "read write",
  });
  expect(searchParams.get("state")).toMatch(/^[\w-]{43}$/);
  await opened.access.finishSignIn(await server.signIn(url), async () => target);
  expect(server.tokenRequests()[0]?.get("resource")).toBe(server.url);
});

test("a bearer token goes along, in the header the file names, and is bound to the address", async () => {
  const upstream = await openUpstream(({ headers }, response) => response.end(JSON.stringify(headers)));
  afterThisTest(upstream.close);
  const other = await openMcpAccess({ privateHosts: [`127.0.0.1:${upstream.port}`] });
  afterThisTest(other.close);
  const at = { name: "keys", url: `http://127.0.0.1:${upstream.port}/mcp`, perUser: false };
  await other.access.setToken(at, "operator", " the-token-of-keys \n");
  const send = async (of: McpTarget) => (await other.access.fetchFor(of, "operator")(of.url, {})).text();
  expect(await send(at)).toContain('"authorization":"Bearer [secret]"');
  expect(upstream.requests[0]?.headers.authorization).toBe("Bearer the-token-of-keys");
  const location = { type: "header", name: "x-api-key", prefix: "" } as const;
  await send({ ...at, credential: { location } });
  expect(upstream.requests[1]?.headers).toMatchObject({ "x-api-key": "the-token-of-keys" });
  expect(upstream.requests[1]?.headers.authorization).toBeUndefined();
  await send({ ...at, url: `http://127.0.0.1:${upstream.port}/elsewhere` });
  expect(upstream.requests[2]?.headers.authorization).toBeUndefined();
  await expect(
    other.access.fetchFor(at, "operator")(`http://127.0.0.1:${upstream.port}/x`),
  ).rejects.toMatchObject({
    kind: "forbidden",
  });
  expect(await other.access.signOut(at, "operator")).toBe(true);
  await send(at);
  expect(upstream.requests[3]?.headers.authorization).toBeUndefined();
});

test("each user's requests go with their own token, and one without is asked to sign in", async () => {
  const each = { ...target, perUser: true };
  await opened.signIn(each, "ann", server);
  await opened.signIn(each, "bob", server);
  await ask("ann", each);
  await ask("bob", each);
  await ask("ann", each);
  const tokens = server.requests
    .filter(({ path, headers }) => path === "/mcp" && headers.authorization !== undefined)
    .map(({ headers }) => headers.authorization);
  expect(tokens).toHaveLength(3);
  expect(tokens[0]).toBe(tokens[2]);
  expect(tokens[0]).not.toBe(tokens[1]);
  const before = server.requests.length;
  await expect(ask("eve", each)).rejects.toMatchObject({
    kind: "unauthenticated",
    message: expect.stringContaining("postern mcp auth notes --user eve"),
  });
  // Nothing went out in her name.
  expect(server.requests).toHaveLength(before);
});

test("a token about to end is renewed before it does, once for all nodes and askers", async () => {
  const beside = await openMcpAccess({ privateHosts: [`127.0.0.1:${server.port}`], beside: opened });
  afterThisTest(beside.close);
  server.behaviour.expiresIn = 30;
  await opened.signIn(target, "operator", server);
  server.behaviour.expiresIn = 3600;
  const nodes = [opened, beside, opened, beside, opened, beside];
  await Promise.all(
    nodes.map(async ({ access }) => (await access.fetchFor(target, "operator")(target.url, {})).text()),
  );
  expect(refreshes()).toHaveLength(1);
  expect(refreshes()[0]?.get("resource")).toBe(server.url);
});

test("a token that the server ended early is renewed and the request sent again", async () => {
  await opened.signIn(target, "operator", server);
  server.revoke();
  expect((await ask()).status).toBe(200);
  expect(refreshes()).toHaveLength(1);
});

test("more scopes are asked for once; refused all the same, it is no sign-in that is missing", async () => {
  server.behaviour.scope = "read";
  await opened.signIn(target, "operator", server);
  server.behaviour.needs = "write";
  await expect(ask()).rejects.toMatchObject({
    kind: "unauthenticated",
    message: expect.stringContaining("write"),
  });
  const { url } = await opened.access.beginSignIn(target, "operator", REDIRECT_URI);
  expect(new URL(url).searchParams.get("scope")).toBe("read write");
  await opened.access.finishSignIn(await server.signIn(url), async () => target);
  expect((await ask()).status).toBe(200);
  server.instead.set("/mcp", (_, response) =>
    response.writeHead(403, { "www-authenticate": 'Bearer error="insufficient_scope", scope="write"' }).end(),
  );
  await expect(ask()).rejects.toMatchObject({ kind: "forbidden" });
});

test("a request that holds a stored secret is not sent", async () => {
  await opened.signIn(target, "operator", server);
  await ask();
  const token = server.requests.at(-1)?.headers.authorization?.slice("Bearer ".length);
  const before = server.requests.length;
  const send = opened.access.fetchFor(target, "operator");
  await expect(send(target.url, { method: "POST", body: JSON.stringify({ token }) })).rejects.toMatchObject({
    code: "secret_in_request",
  });
  expect(server.requests).toHaveLength(before);
});
