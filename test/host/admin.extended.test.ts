/** What the operator's page can do with tools, against a real host and a real authorization server. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openAuthorizationServer } from "../support/servers/authorization-server.ts";
import { openUpstream } from "../support/servers/upstream.ts";
import { copyCode, fixture } from "../support/tools/components.ts";
import { allowing, BEARER, toolHost } from "../support/tools/tool-host.ts";

const CALLBACK = "http://127.0.0.1:3000/oauth/callback";

async function open(privateHosts: readonly string[] = [], home?: string) {
  const host = await toolHost({ privateHosts: new Set(privateHosts) }, home);
  const component = await fixture("prober.js");
  await copyCode(component, host.home);
  const upload = (capabilities: string) => ({ component, capabilities });
  return { ...host, upload };
}

/** A host whose tool signs in at a real authorization server, and a browser that comes back from there. */
async function openWithSignIn() {
  const server = await openAuthorizationServer({ id: "the-client" });
  onTestFinished(() => server.close());
  const privateHosts = [`127.0.0.1:${server.port}`];
  const host = await open(privateHosts);
  const here = (url: string) => url.replace("id.test", "127.0.0.1");
  const oauth = {
    authorization_url: here(server.authorizationUrl),
    token_url: here(server.tokenUrl),
    client_id: "the-client",
    scopes: ["read"],
  };
  const auth = { secret_name: "probe_token", display_name: "Probe", oauth };
  const capabilities = JSON.stringify({ ...JSON.parse(allowing("127.0.0.1")), auth });
  await host.admin.install("prober", host.upload(capabilities), { replace: false });
  const signIn = async ({ admin }: Pick<typeof host, "admin"> = host) => {
    const { url } = await admin.beginSignIn("prober", CALLBACK);
    const answer = await server.signIn(url);
    // It names itself by another host name than this test reaches it by.
    answer.searchParams.delete("iss");
    return { url: new URL(url), answer };
  };
  return { ...host, server, signIn, again: () => open(privateHosts, host.home) };
}

test("an upload is examined, installed, replaced only when agreed, and removed", async () => {
  const { admin, upload, catalog } = await open();
  const narrow = upload(allowing("api.example.com"));
  const wide = upload(allowing("*.example.com"));
  expect(await admin.examine("prober", narrow)).toMatchObject({
    version: "1.0.0",
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    description: "Probes what its host lets it do.",
    writes: false,
  });
  expect(await catalog.list()).toEqual([]);
  expect(await admin.install("prober", narrow, { replace: false })).toMatchObject({ name: "prober" });
  expect((await admin.examine("prober", wide)).replaces?.added).toEqual([
    "may GET https://*.example.com/v1/*",
  ]);
  await expect(admin.install("prober", wide, { replace: false })).rejects.toMatchObject({
    code: "tool_exists",
  });
  await admin.install("prober", wide, { replace: true });
  expect((await catalog.find("prober"))?.capabilities.http?.allowlist[0]?.host).toBe("*.example.com");
  expect(await admin.remove("prober")).toBe(true);
  expect(await admin.remove("prober")).toBe(false);
  await expect(admin.install("skill_x", narrow, { replace: false })).rejects.toMatchObject({
    code: "tool_name",
  });
});

test("a tool says which secrets it needs, takes only those, and then runs with them", async () => {
  const server = await openUpstream();
  onTestFinished(() => server.close());
  const { admin, upload, run } = await open([`127.0.0.1:${server.port}`]);
  const { credentials } = BEARER;
  const auth = { ...BEARER.auth, setup_url: "https://example.com/tokens", token_hint: "begins with tok" };
  const setup = { required_secrets: [{ name: "client_id", prompt: "Client id" }] };
  const capabilities = JSON.stringify({ ...JSON.parse(allowing("127.0.0.1", { credentials })), auth, setup });
  await admin.install("prober", upload(capabilities), { replace: false });
  expect(await admin.setup("prober")).toEqual({
    secrets: [
      { name: "client_id", question: "Client id", isSet: false, isRequired: true },
      {
        name: "probe_token",
        question: "Probe (begins with tok)",
        instructions: "Ask Ada.",
        url: "https://example.com/tokens",
        isSet: false,
        isRequired: true,
      },
    ],
    settings: [],
    signsIn: false,
  });
  await expect(admin.setSecret("prober", "other", "x")).rejects.toMatchObject({ code: "unknown_secret" });
  await expect(admin.setup("nobody")).rejects.toMatchObject({ kind: "missing" });
  await expect(admin.beginSignIn("prober", CALLBACK)).rejects.toMatchObject({ code: "no_sign_in" });
  expect(await admin.setSecret("prober", "probe_token", "tok-1")).toEqual({
    warning: expect.stringContaining("`probe_token` is too short to be hidden"),
  });
  expect(await admin.setSecret("prober", "probe_token", "tok-1234567")).toEqual({});
  expect((await admin.setup("prober")).secrets[1]?.isSet).toBe(true);
  const params = JSON.stringify({ url: `http://127.0.0.1:${server.port}/v1/x` });
  await run({ id: "call", name: "prober", params }, { user: "ada" });
  expect(server.requests[0]?.headers.authorization).toBe("Bearer tok-1234567");
  expect(await admin.receipts({ user: "ada" })).toMatchObject([{ credentials: ["probe_token"] }]);
  expect(await admin.receipts({ user: "grace" })).toEqual([]);
  const [receipt] = await admin.receipts({ tool: "prober", limit: 1 });
  expect(await admin.receipt(receipt?.id ?? "")).toEqual(receipt);
});

test("a sign-in goes through the browser and back, and its answer is good once", async () => {
  const { admin, signIn, server } = await openWithSignIn();
  expect(await admin.setup("prober")).toEqual({ secrets: [], settings: [], signsIn: true });
  const { answer } = await signIn();
  const forged = new URL(answer);
  forged.searchParams.set("state", "made-up");
  await expect(admin.finishSignIn(forged)).rejects.toMatchObject({ code: "no_such_sign_in" });
  const tries = await Promise.allSettled([1, 2, 3].map(() => admin.finishSignIn(answer)));
  expect(tries.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(server.tokenRequests).toHaveLength(1);
  await expect(admin.finishSignIn(answer)).rejects.toMatchObject({ code: "no_such_sign_in" });
});

test("an answer that did not work is good no second time either", async () => {
  const { admin, signIn } = await openWithSignIn();
  const { answer } = await signIn();
  const denied = new URL(answer);
  denied.searchParams.delete("code");
  denied.searchParams.set("error", "access_denied");
  await expect(admin.finishSignIn(denied)).rejects.toMatchObject({ code: "oauth_failed" });
  await expect(admin.finishSignIn(answer)).rejects.toMatchObject({ code: "no_such_sign_in" });
});

test("a sign-in under way survives a restart, and what is on disk neither continues nor shows it", async () => {
  const { signIn, again, home, server, close } = await openWithSignIn();
  const { url, answer } = await signIn();
  await close();
  const stored =
    readFileSync(join(home, "store.sqlite"), "latin1") +
    readFileSync(join(home, "store.sqlite-wal"), "latin1");
  expect(stored).toContain("sign-ins");
  expect(stored).not.toContain(url.searchParams.get("state"));
  expect(stored).not.toContain("code_challenge");
  const { admin } = await again();
  expect(await admin.finishSignIn(answer)).toEqual({ tool: "prober" });
  expect(server.tokenRequests).toHaveLength(1);
});

test("a sign-in is forgotten after ten minutes, over a restart too", async () => {
  const { signIn, again } = await openWithSignIn();
  const [{ answer: early }, { answer: late }] = [await signIn(), await signIn()];
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 9 * 60_000 });
  onTestFinished(() => void vi.useRealTimers());
  const { admin } = await again();
  expect(await admin.finishSignIn(early)).toEqual({ tool: "prober" });
  vi.setSystemTime(Date.now() + 61_000);
  await expect(admin.finishSignIn(late)).rejects.toMatchObject({ code: "no_such_sign_in" });
});

test("requests count against the limit of the tool and the user who made them", async () => {
  const server = await openUpstream();
  onTestFinished(() => server.close());
  const { admin, upload, run } = await open([`127.0.0.1:${server.port}`]);
  await admin.install("prober", upload(allowing("127.0.0.1")), { replace: false });
  const params = JSON.stringify({ url: `http://127.0.0.1:${server.port}/v1/x`, times: 3 });
  await run({ id: "c1", name: "prober", params }, { user: "ann" });
  expect(await admin.limits("prober", "ann")).toMatchObject({ limit: 60, remaining: 57 });
  expect(await admin.limits("prober", "ben")).toMatchObject({ limit: 60, remaining: 60 });
  await expect(admin.limits("nobody", "ann")).rejects.toMatchObject({ kind: "missing" });
});

test("a key that a tool also works without is not one that it requires", async () => {
  const { admin, upload } = await open(["127.0.0.1"]);
  const keys = { probe: { ...BEARER.credentials.probe, optional: true } };
  await admin.install("prober", upload(allowing("127.0.0.1", { credentials: keys })), { replace: false });
  expect((await admin.setup("prober")).secrets).toMatchObject([{ isSet: false, isRequired: false }]);
  const auth = { auth: BEARER.auth };
  const signing = JSON.stringify({ ...JSON.parse(allowing("127.0.0.1", { credentials: keys })), ...auth });
  await admin.install("prober", upload(signing), { replace: true });
  expect((await admin.setup("prober")).secrets).toMatchObject([{ isSet: false, isRequired: false }]);
});
