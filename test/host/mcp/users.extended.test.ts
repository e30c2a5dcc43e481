/** Two users of one server, with a credential each: through the tool host, as the agent and the page use it. */
import { expect, test } from "vitest";
import { openGuardedServer, passOn } from "../../support/servers/guarded-server.ts";
import { openMcpHttp } from "../../support/servers/mcp-http.ts";
import { ECHO } from "../../support/servers/scripted-mcp.ts";
import { openUpstream } from "../../support/servers/upstream.ts";
import { toolHost } from "../../support/tools/tool-host.ts";
import { afterThisTest } from "../../support/undo.ts";

const CALLBACK = "https://chat.example.org/oauth/callback";

async function open(perUser: boolean) {
  const inner = await openMcpHttp([ECHO], "2026");
  const server = await openGuardedServer(passOn(inner.url));
  afterThisTest(server.close);
  const host = await toolHost({ privateHosts: new Set([`127.0.0.1:${server.port}`]) });
  const { servers } = host.foreign;
  const signIn = async (user: string) => {
    const { url } = await servers.beginSignIn("notes", user, CALLBACK);
    return host.admin.finishSignIn(await server.signIn(url));
  };
  const added = await servers.add(
    { name: "notes", url: server.url, perUser },
    { user: "operator", agree: false },
  );
  expect(added).toMatchObject({ status: "unauthenticated", signsIn: true, isSignedIn: false, tools: [] });
  expect(await signIn("operator")).toEqual({ tool: "notes" });
  await servers.agree("notes", (await servers.test("notes", "operator")).tools);
  const call = async (user: string) => {
    const { outcome } = await host.call({ id: "c", name: "notes_echo", params: '{"text":"hi"}' }, { user });
    const last = server.requests.filter(({ path }) => path === "/mcp").at(-1);
    return { outcome, sent: last?.headers.authorization };
  };
  return { server, host, servers, signIn, call };
}

test("each user's calls go with their own token, and one without is told where to sign in", async () => {
  const { server, servers, signIn, call } = await open(true);
  const before = server.requests.length;
  const refused = await call("ann");
  expect(refused.outcome).toMatchObject({ status: "unauthenticated" });
  expect(JSON.stringify(refused.outcome)).toContain("postern mcp auth notes --user ann");
  expect(server.requests).toHaveLength(before);
  await signIn("ann");
  await signIn("bob");
  const [ann, bob, again] = [await call("ann"), await call("bob"), await call("ann")];
  for (const { outcome } of [ann, bob, again])
    expect(outcome).toMatchObject({ status: "ok", output: "echo: hi" });
  expect(ann.sent).toMatch(/^Bearer access-/);
  expect(again.sent).toBe(ann.sent);
  expect(bob.sent).not.toBe(ann.sent);
  expect((await servers.find("notes", "ann"))?.isSignedIn).toBe(true);
  expect((await servers.find("notes", "eve"))?.isSignedIn).toBe(false);
  expect(await servers.signOut("notes", "bob")).toBe(true);
  expect((await call("bob")).outcome).toMatchObject({ status: "unauthenticated" });
  expect((await call("ann")).sent).toBe(ann.sent);
});

test("that one user is not signed in is not told to others, and is no trouble of the server's", async () => {
  const { host, servers, call } = await open(true);
  expect((await call("ann")).outcome).toMatchObject({ status: "unauthenticated" });
  expect(await servers.find("notes", "ann")).toMatchObject({ status: "unauthenticated" });
  const seen = await servers.find("notes", "bob");
  expect(seen).toMatchObject({ status: "idle", isSignedIn: false });
  expect(JSON.stringify(seen)).not.toContain("ann");
  expect(await host.foreign.troubles()).toEqual([]);
});

test("a tool that the server describes differently to one user is held back for that user alone", async () => {
  const usual = await openMcpHttp([ECHO], "2026");
  const other = await openMcpHttp([{ ...ECHO, description: "Says it again, bob." }], "2026");
  const upstream = await openUpstream((request, response) => {
    const isBob = request.headers.authorization === "Bearer token-of-bob";
    passOn(isBob ? other.url : usual.url)(request, response);
  });
  afterThisTest(upstream.close);
  const host = await toolHost({ privateHosts: new Set([`127.0.0.1:${upstream.port}`]) });
  const { servers } = host.foreign;
  const url = `http://127.0.0.1:${upstream.port}/mcp`;
  const added = { name: "notes", url, perUser: true, token: "token-of-operator" };
  await servers.add(added, { user: "operator", agree: true });
  for (const user of ["ann", "bob"]) await servers.setToken("notes", user, `token-of-${user}`);
  const call = async (user: string) =>
    (await host.call({ id: "c", name: "notes_echo", params: '{"text":"hi"}' }, { user })).outcome;
  expect(await call("ann")).toMatchObject({ status: "ok" });
  expect(await call("bob")).toMatchObject({ status: "error", code: "held_back" });
  expect((await servers.find("notes", "operator"))?.tools).toMatchObject([
    { state: "held", change: { after: { description: "Says it again, bob." } } },
  ]);
  expect(await call("ann")).toMatchObject({ status: "ok" });
  expect((await host.list()).map(({ name }) => name)).toContain("notes_echo");
});

test("a user whose token is a word of the protocol stops nobody's calls but their own", async () => {
  const { servers, host, signIn, call } = await open(true);
  await signIn("ann");
  for (const word of ["jsonrpc", "tools/call", "notes_echo", '"method"', "application/json"]) {
    await servers.setToken("notes", "bob", word);
    expect((await call("bob")).outcome).toMatchObject({ status: expect.not.stringMatching("ok") });
    expect((await call("ann")).outcome).toMatchObject({ status: "ok", output: "echo: hi" });
    expect(host.mask.hide(`it holds ${word}`)).toBe(`it holds ${word}`);
  }
});

test("a link to somebody's sign-in, opened in another browser, brings them no token", async () => {
  const { server, host, servers, call } = await open(true);
  const { url } = await servers.beginSignIn("notes", "bob", CALLBACK);
  const back = await server.signIn(url);
  const before = server.tokenRequests().length;
  await expect(host.admin.finishSignIn(back, { began: false })).rejects.toMatchObject({ kind: "forbidden" });
  expect(server.tokenRequests()).toHaveLength(before);
  expect((await call("bob")).outcome).toMatchObject({ status: "unauthenticated" });
});

test("a server with one credential is everybody's, and removing it forgets the credential", async () => {
  const { host, server, servers, call } = await open(false);
  expect((await call("ann")).outcome).toMatchObject({ status: "ok" });
  expect((await call("ann")).sent).toBe((await call("bob")).sent);
  await servers.remove("notes");
  await servers.add({ name: "notes", url: server.url }, { user: "operator", agree: false });
  expect(await servers.find("notes", "operator")).toMatchObject({
    status: "unauthenticated",
    isSignedIn: false,
  });
  expect(host.logged.join("")).not.toMatch(/access-|refresh-/);
});
