import { beforeEach, expect, test } from "vitest";
import type { McpTarget } from "../../../host/mcp/sign-in/target.ts";
import { type GuardedServer, openGuardedServer } from "../../support/servers/guarded-server.ts";
import { openUpstream, type Upstream } from "../../support/servers/upstream.ts";
import { type OpenedAccess, openMcpAccess, REDIRECT_URI } from "../../support/services/mcp-access.ts";
import { afterThisTest } from "../../support/undo.ts";

let server: GuardedServer;
/** On this machine, and nobody allowed it. */
let victim: Upstream;
let opened: OpenedAccess;
let target: McpTarget;

beforeEach(async () => {
  server = await openGuardedServer();
  afterThisTest(server.close);
  victim = await openUpstream();
  afterThisTest(victim.close);
  opened = await openMcpAccess({ privateHosts: [`127.0.0.1:${server.port}`] });
  afterThisTest(opened.close);
  target = { name: "notes", url: server.url, perUser: false };
});

const begin = ({ access } = opened) => access.beginSignIn(target, "operator", REDIRECT_URI);
const finish = async (url: string, { access } = opened) =>
  access.finishSignIn(await server.signIn(url), async () => target);
const ask = async (of = target) =>
  (await opened.access.fetchFor(of, "operator")(of.url, { method: "POST", body: "{}" })).text();
const elsewhere = () => `http://127.0.0.1:${victim.port}`;
const isSignedIn = () => opened.access.isSignedIn(target, "operator");

test("metadata of another issuer is refused", async () => {
  server.metadata["issuer"] = "https://issuer.example";
  await expect(begin()).rejects.toThrow(/issuer/i);
});

test.each([
  ["another issuer", "https://issuer.example"],
  ["no issuer, though it was promised", null],
])("an answer that names %s brings no token", async (_, iss) => {
  server.behaviour.iss = iss;
  const { url } = await begin();
  await expect(finish(url)).rejects.toMatchObject({ code: "oauth_failed" });
  expect(server.tokenRequests()).toEqual([]);
  expect(await isSignedIn()).toBe(false);
});

test("metadata for another resource is refused", async () => {
  server.resource["resource"] = "https://bank.example/mcp";
  await expect(begin()).rejects.toThrow("another resource");
});

test.each([
  [
    "the challenge",
    () => {
      const at = `Bearer resource_metadata="${elsewhere()}/prm"`;
      server.instead.set("/mcp", (_, response) => response.writeHead(401, { "www-authenticate": at }).end());
    },
  ],
  ["the resource's metadata", () => Object.assign(server.resource, { authorization_servers: [elsewhere()] })],
  [
    "its registration endpoint",
    () => Object.assign(server.metadata, { registration_endpoint: `${elsewhere()}/r` }),
  ],
])("%s cannot point to an address on this machine", async (_, point) => {
  point();
  await expect(begin()).rejects.toThrow(/TOOLS_PRIVATE_HOSTS/);
  expect(victim.requests).toEqual([]);
});

test("a token endpoint on this machine gets neither the code nor a refresh token", async () => {
  server.metadata["token_endpoint"] = `${elsewhere()}/token`;
  const { url } = await begin();
  await expect(finish(url)).rejects.toThrow(/TOOLS_PRIVATE_HOSTS/);
  expect(victim.requests).toEqual([]);
});

const PRM = "/.well-known/oauth-protected-resource/mcp";
test.each(["/mcp", PRM, "/.well-known/oauth-authorization-server", "/register", "/token"])(
  "a redirect at %s is not followed",
  async (path) => {
    const far = await openUpstream();
    afterThisTest(far.close);
    // Even to where requests may go, and even within the server itself.
    for (const to of [`http://127.0.0.1:${far.port}/`, `${server.origin}/other`]) {
      server.instead.set(path, (_, response) => response.writeHead(307, { location: to }).end());
      const attempt = path === "/mcp" ? ask() : begin().then(({ url }) => finish(url));
      await expect(attempt).rejects.toThrow("answered with a redirect, which is not followed");
    }
    expect(far.requests).toEqual([]);
    expect(server.requests.filter(({ path: seen }) => seen === "/other")).toEqual([]);
  },
);

test.each([PRM, "/.well-known/oauth-authorization-server", "/register", "/token"])(
  "10 MB or nothing from %s ends the sign-in and no more",
  async (path) => {
    server.instead.set(path, (_, response) => response.end(`{"a":"${"x".repeat(10_000_000)}"}`));
    await expect(begin().then(({ url }) => finish(url))).rejects.toThrow("more than 1048576 bytes");
    const hurried = await openMcpAccess({
      privateHosts: [`127.0.0.1:${server.port}`],
      timeoutMs: 400,
      beside: opened,
    });
    afterThisTest(hurried.close);
    server.instead.set(path, () => {});
    await expect(begin(hurried).then(({ url }) => finish(url, hurried))).rejects.toThrow(
      "no complete answer within 0.4 seconds",
    );
    server.instead.delete(path);
    await opened.signIn(target, "operator", server);
    expect(await isSignedIn()).toBe(true);
  },
);

test("a state that was never given out, or was used before, answers nothing", async () => {
  const find = async () => target;
  const made = new URL(`${REDIRECT_URI}?code=abc&state=${"a".repeat(43)}`);
  expect(await opened.access.finishSignIn(made, find)).toBeUndefined();
  const { url } = await begin();
  const back = await server.signIn(url);
  expect(await opened.access.finishSignIn(back, find)).toEqual({ server: "notes", user: "operator" });
  expect(await opened.access.finishSignIn(back, find)).toBeUndefined();
});

test("a sign-in for a server that was removed, or is elsewhere now, brings no token", async () => {
  for (const now of [undefined, { ...target, url: `${server.origin}/elsewhere` }]) {
    const { url } = await begin();
    const back = await server.signIn(url);
    await expect(opened.access.finishSignIn(back, async () => now)).rejects.toMatchObject({
      code: "no_such_sign_in",
    });
  }
  expect(server.tokenRequests()).toEqual([]);
});

test("a server gets no token of another: neither under its name nor at its address", async () => {
  await opened.signIn(target, "operator", server);
  const thief = await openUpstream();
  afterThisTest(thief.close);
  const other = await openMcpAccess({
    privateHosts: [`127.0.0.1:${server.port}`, `127.0.0.1:${thief.port}`],
    beside: opened,
  });
  afterThisTest(other.close);
  const namesake = { ...target, url: `http://127.0.0.1:${thief.port}/mcp` };
  await (await other.access.fetchFor(namesake, "operator")(namesake.url)).text();
  expect(thief.requests[0]?.headers.authorization).toBeUndefined();
  await expect(ask({ ...target, name: "twin" })).rejects.toMatchObject({ kind: "unauthenticated" });
  expect(await opened.access.isSignedIn({ ...target, perUser: true }, "ann")).toBe(false);
});

test("a server that names another authorization server later gets no renewal, and neither does that one", async () => {
  await opened.signIn(target, "operator", server);
  const before = server.tokenRequests().length;
  server.resource["authorization_servers"] = ["https://issuer.example"];
  server.revoke();
  await expect(ask()).rejects.toThrow(/names another authorization server \(https:\/\/issuer\.example\)/);
  expect(server.tokenRequests()).toHaveLength(before);
});

test("the operator's own client is used at its first issuer and at no other", async () => {
  const oauth = { clientId: "registered", clientSecretSecret: "client", scopes: [] };
  target = { ...target, credential: { oauth } };
  await expect(begin()).rejects.toThrow("The client secret `client` is not set");
  await opened.access.setClientSecret(target, "the-secret-of-the-client");
  await opened.signIn(target, "operator", server);
  const basic = server.requests.find(({ path }) => path === "/token")?.headers.authorization;
  expect(Buffer.from(basic?.slice(6) ?? "", "base64").toString()).toBe("registered:the-secret-of-the-client");
  const moved = await openGuardedServer();
  afterThisTest(moved.close);
  const later = await openMcpAccess({
    privateHosts: [`127.0.0.1:${server.port}`, `127.0.0.1:${moved.port}`],
    beside: opened,
  });
  afterThisTest(later.close);
  server.resource["authorization_servers"] = [moved.origin];
  await expect(later.access.beginSignIn(target, "operator", REDIRECT_URI)).rejects.toMatchObject({
    code: "issuer_changed",
  });
  expect(moved.tokenRequests()).toEqual([]);
});

test("our document is the client id where the authorization server reads such; nothing is registered", async () => {
  const id = "https://chat.example.org/oauth/client";
  const named = await openMcpAccess({
    privateHosts: [`127.0.0.1:${server.port}`],
    documentUrl: () => id,
  });
  afterThisTest(named.close);
  server.metadata["client_id_metadata_document_supported"] = true;
  await named.signIn(target, "operator", server);
  expect(server.tokenRequests()[0]?.get("client_id")).toBe(id);
  expect(server.requests.filter(({ path }) => path === "/register")).toEqual([]);
});

test("what a refusal says is shown in one line, without what was sent", async () => {
  server.instead.set("/token", ({ body }, response) =>
    response
      .writeHead(400, { "content-type": "application/json" })
      .end(JSON.stringify({ error: "invalid_request", error_description: `\u001b[31m${body}` })),
  );
  const { url } = await begin();
  const back = await server.signIn(url);
  const failure = await opened.access.finishSignIn(back, async () => target).catch((error) => error as Error);
  expect(failure).toMatchObject({ code: "oauth_failed" });
  const { message } = failure as Error;
  expect(message).not.toContain("\u001b");
  expect(message).not.toContain(back.searchParams.get("code"));
  expect(message.length).toBeLessThan(700);
});

test("10 MB from the server, in one piece or as one event, end the request", async () => {
  const big = await openGuardedServer((request, response) => {
    const isStream = request.headers.accept === "text/event-stream";
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    for (let part = 0; part < 12; part += 1) response.write(`data: ${"x".repeat(1024 * 1024)}\n`);
    response.end("\n");
  });
  afterThisTest(big.close);
  const at = { name: "big", url: big.url, perUser: false };
  const other = await openMcpAccess({ privateHosts: [`127.0.0.1:${big.port}`] });
  afterThisTest(other.close);
  await other.signIn(at, "operator", big);
  const send = other.access.fetchFor(at, "operator");
  await expect(send(at.url).then((response) => response.text())).rejects.toThrow("more than 10485760 bytes");
  const headers = { accept: "text/event-stream" };
  await expect(send(at.url, { headers }).then((response) => response.text())).rejects.toThrow("in an event");
});
