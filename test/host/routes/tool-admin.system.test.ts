import { expect, test } from "vitest";
import { clientDocument } from "../../../host/mcp/sign-in/client-document.ts";
import type { ToolUpload } from "../../../host/services.ts";
import type { ToolReceipt } from "../../../host/wire.ts";
import { definePlugin, Fault } from "../../../kernel/plugin.ts";
import {
  type Answered,
  OPERATOR_TOKEN,
  openGateway,
  type TestGateway,
} from "../../support/services/gateway.ts";

const INFO = {
  version: "1.0.0",
  description: "Says hello.",
  schema: { type: "object" },
  grants: ["GET hello.example"],
  writes: false,
};

const receipt = (id: string, user: string): ToolReceipt => ({
  id,
  at: new Date().toISOString(),
  tool: "hello",
  user,
  millis: 12,
  status: "ok",
  requests: [{ method: "GET", host: "hello.example", status: 200, bytes: 5, millis: 7 }],
  credentials: ["hello_key"],
  memoryPeak: 65_536,
  logs: [{ level: "info", message: "hi" }],
});

const ORIGIN = { kind: "oci", reference: "oci://registry.example/hello:1", digest: "sha256:1" } as const;

/** A tool host as a third party could bring one: it keeps what it is given. */
function hostOf(installed: Map<string, ToolUpload>, secrets: Map<string, string>) {
  const receipts = [receipt("r-alice", "alice"), receipt("r-bob", "bob")];
  return definePlugin({
    name: "test-host",
    provides: ["toolAdmin"],
    configure: () => ({}),
    start: () => ({
      toolAdmin: {
        clientDocument: (uri) => ({ ...clientDocument(uri) }),
        async examine(name, { component }) {
          if (component[0] !== 0) throw new Fault("invalid", "not_a_component", "This is no component.");
          const replaces = { version: "0.9.0", added: ["GET more.example"], removed: [] };
          return { ...INFO, digest: "abc", ...(installed.has(name) && { replaces }) };
        },
        async install(name, upload, { replace }) {
          if (installed.has(name) && !replace)
            throw new Fault("invalid", "tool_exists", "It is installed.", { param: "name" });
          installed.set(name, upload);
          return { name, ...INFO };
        },
        search: async (words) => ({
          tools: [{ name: "hello", about: `Says ${words}.`, from: ORIGIN.reference, index: "shipped" }],
          problems: ["The index x.json cannot be used: it is not JSON."],
        }),
        async find(reference, name = "hello") {
          if (!reference.startsWith("oci://"))
            throw new Fault("missing", "no_such_tool", "There is nothing there.");
          return { name, ...INFO, digest: "abc", origin: ORIGIN, signature: "not signed", signed: false };
        },
        async installFound(_, { name, digest, replace, allowUnsigned }) {
          if (digest !== ORIGIN.digest || !allowUnsigned || replace)
            throw new Fault("invalid", "tool_changed", "It is another one now.");
          return { name, ...INFO, origin: ORIGIN };
        },
        remove: async (name) => installed.delete(name),
        enable: async (name) => installed.has(name),
        setup: async () => ({
          secrets: [
            {
              name: "hello_key",
              isSet: secrets.has("hello_key"),
              isRequired: true,
              question: "Key",
              url: "https://hello.example",
            },
          ],
          signsIn: true,
        }),
        limits: async (name, user) =>
          name === "hello"
            ? { limit: user.length, windowSecs: 3600, remaining: 1, resetSecs: 30 }
            : undefined,
        async setSetting(_, setting, value, isAgreed) {
          if (setting !== "base_url")
            throw new Fault("invalid", "unknown_setting", "There is no such setting.");
          return isAgreed ? { saved: true, asks: [] } : { saved: false, asks: [`may GET ${value}/*`] };
        },
        setSecret: async (_, secret, value) => {
          secrets.set(secret, value);
          return value.length < 6 ? { warning: "too short to be hidden" } : {};
        },
        shareSecret: async (_, secret) => {
          secrets.set(secret, "shared");
        },
        beginSignIn: async (_, redirectUri) => ({ url: `https://id.example/?redirect_uri=${redirectUri}` }),
        async finishSignIn(redirected) {
          if (redirected.searchParams.get("state") !== "right")
            throw new Fault("invalid", "no_sign_in", "No such sign-in was begun here.", { param: "state" });
          return { tool: "hello" };
        },
        receipts: async ({ user }) => receipts.filter((one) => user === undefined || one.user === user),
        usage: async () => ({
          total: { count: 1, failed: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
          points: [],
          groups: [],
        }),
        receipt: async (id) => receipts.find((one) => one.id === id),
      },
    }),
  });
}

async function upload(
  gateway: TestGateway,
  path: string,
  fields: Record<string, string | File>,
): Promise<Answered> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    body: form,
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) };
}

const component = new File([new Uint8Array([0, 97, 115, 109])], "hello.wasm");
const capabilities = new File(['{"version":"1.0.0"}'], "capabilities.json");

async function open() {
  const installed = new Map<string, ToolUpload>();
  const secrets = new Map<string, string>();
  const gateway = await openGateway({
    plugins: [hostOf(installed, secrets)],
    variables: { TRUSTED_PROXIES: "127.0.0.1" },
  });
  return { gateway, installed, secrets };
}

test("two files are examined, shown in words, installed, replaced only when agreed to, and removed", async () => {
  const { gateway, installed } = await open();
  const files = { name: "hello", component, capabilities };
  const proposal = await upload(gateway, "/api/tools/examine", files);
  expect(proposal.status).toBe(200);
  expect(proposal.body).toEqual({ digest: "abc", ...INFO });
  expect(installed.size).toBe(0);

  expect((await upload(gateway, "/api/tools", files)).status).toBe(201);
  expect(installed.get("hello")?.capabilities).toBe('{"version":"1.0.0"}');
  expect([...(installed.get("hello")?.component ?? [])]).toEqual([0, 97, 115, 109]);
  const taken = await upload(gateway, "/api/tools", files);
  expect(taken.status).toBe(400);
  expect(taken.body.error.code).toBe("tool_exists");
  const again = await upload(gateway, "/api/tools/examine", files);
  expect(again.body.replaces.added).toEqual(["GET more.example"]);
  expect((await upload(gateway, "/api/tools", { ...files, replace: "true" })).status).toBe(201);

  expect((await gateway.ask("/api/tools/hello", { method: "DELETE" })).status).toBe(204);
  expect((await gateway.ask("/api/tools/hello", { method: "DELETE" })).status).toBe(404);
});

test("a tool is found by its reference, shown with who signed it, and installed as what was found", async () => {
  const { gateway } = await open();
  const post = (path: string, body: object) => gateway.ask(path, { method: "POST", body });
  const { reference: from, digest } = ORIGIN;
  const finding = await post("/api/tools/find", { from });
  expect(finding.status).toBe(200);
  expect(finding.body).toEqual({
    name: "hello",
    ...INFO,
    digest: "abc",
    origin: ORIGIN,
    signature: "not signed",
    signed: false,
  });
  expect((await post("/api/tools/find", { from: "gone" })).status).toBe(404);
  expect((await post("/api/tools/find", {})).status).toBe(400);
  const agreed = { from, name: "hello", digest, allow_unsigned: true };
  expect((await post("/api/tools/install", { ...agreed, digest: "sha256:2" })).status).toBe(400);
  expect((await post("/api/tools/install", { from, name: "hello", digest })).status).toBe(400);
  const installed = await post("/api/tools/install", agreed);
  expect(installed.status).toBe(201);
  expect(installed.body.origin).toEqual(ORIGIN);
});

test("an operator searches the indexes for a tool to install", async () => {
  const { gateway } = await open();
  const { status, body } = await gateway.ask("/api/tool-index?q=hello");
  expect(status).toBe(200);
  expect(body).toEqual({
    tools: [{ name: "hello", about: "Says hello.", from: ORIGIN.reference, index: "shipped" }],
    problems: ["The index x.json cannot be used: it is not JSON."],
  });
});

test("a form that lacks something, is no form or is too large is refused with the reason", async () => {
  const { gateway } = await open();
  const examine = (fields: Record<string, string | File>) => upload(gateway, "/api/tools/examine", fields);
  expect((await examine({ component, capabilities })).body.error.param).toBe("name");
  expect((await examine({ name: "hello", capabilities })).body.error.param).toBe("component");
  expect((await examine({ name: "hello", component })).body.error.param).toBe("capabilities");
  const text = new File(["not a component"], "x.wasm");
  expect((await examine({ name: "hello", component: text, capabilities })).status).toBe(400);
  expect((await gateway.ask("/api/tools/examine", { method: "POST", body: {} })).status).toBe(415);
  const large = new File([new Uint8Array(15 * 1024 * 1024)], "large.wasm");
  expect((await examine({ name: "hello", component: large, capabilities })).status).toBe(413);
});

test("a secret is given and never shown", async () => {
  const { gateway, secrets } = await open();
  const { body } = await gateway.ask("/api/tools/hello/setup");
  expect(body).toMatchObject({
    secrets: [{ name: "hello_key", is_set: false, is_required: true }],
    signs_in: true,
  });
  const path = "/api/tools/hello/secrets/hello_key";
  expect((await gateway.ask(path, { method: "PUT", body: { value: "" } })).status).toBe(400);
  expect((await gateway.ask(path, { method: "PUT", body: { value: "s3c" } })).body).toEqual({
    warning: "too short to be hidden",
  });
  expect((await gateway.ask(path, { method: "PUT", body: { value: "s3cret" } })).body).toEqual({});
  expect(secrets.get("hello_key")).toBe("s3cret");
  const after = await gateway.ask("/api/tools/hello/setup");
  expect(after.body.secrets[0].is_set).toBe(true);
  expect(after.text).not.toContain("s3cret");
  expect(gateway.service.logged.join("")).not.toContain("s3cret");
});

test("a setting that lets the tool do more is saved once the person agrees to the sentences", async () => {
  const { gateway } = await open();
  const put = (setting: string, body: object) =>
    gateway.ask(`/api/tools/hello/settings/${setting}`, { method: "PUT", body });
  const value = "https://search.example";
  expect((await put("base_url", { value })).body).toEqual({ saved: false, asks: [`may GET ${value}/*`] });
  expect((await put("base_url", { value, agreed: true })).body).toEqual({ saved: true, asks: [] });
  expect((await put("other", { value })).body.error.code).toBe("unknown_setting");
  expect((await put("base_url", { value: "x".repeat(2001) })).status).toBe(400);
  const path = "/api/tools/hello/settings/base_url";
  expect((await gateway.ask(path, { method: "PUT", body: { value }, token: "" })).status).toBe(401);
});

test("a sign-in leaves by the address people use and comes back without a token, by its state", async () => {
  const { gateway } = await open();
  const begun = await gateway.ask("/api/tools/hello/sign-in", {
    method: "POST",
    headers: { "x-forwarded-proto": "https", "x-forwarded-host": "chat.example.org" },
  });
  expect(begun.body.url).toContain("redirect_uri=https://chat.example.org/oauth/callback");
  const back = await gateway.ask("/oauth/callback?state=right&code=c0de", { token: "" });
  expect(back.status).toBe(200);
  expect(back.text).toContain("hello is signed in");
  expect((await gateway.ask("/oauth/callback?state=wrong&code=c0de", { token: "" })).status).toBe(400);
  expect(gateway.service.logged.join("")).not.toContain("c0de");
});

test("the document that a client id points to names itself and the callback, and needs no token", async () => {
  const { gateway } = await open();
  const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "chat.example.org" };
  const { status, body } = await gateway.ask("/oauth/client", { token: "", headers });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    client_id: "https://chat.example.org/oauth/client",
    redirect_uris: ["https://chat.example.org/oauth/callback"],
    token_endpoint_auth_method: "none",
  });
});

test("a user sees the receipts of their own calls, an operator all", async () => {
  const { gateway } = await open();
  const token = await gateway.addUser("alice");
  const seen = async (asking: object) =>
    (await gateway.ask("/api/receipts?limit=5", asking)).body.receipts.map(({ id }: { id: string }) => id);
  expect(await seen({})).toEqual(["r-alice", "r-bob"]);
  expect(await seen({ token })).toEqual(["r-alice"]);
  expect((await gateway.ask("/api/receipts/r-alice", { token })).body.credentials).toEqual(["hello_key"]);
  expect((await gateway.ask("/api/receipts/r-bob", { token })).status).toBe(404);
  expect((await gateway.ask("/api/receipts/r-bob")).status).toBe(200);
});

test("without a host that can be managed the routes say so", async () => {
  const gateway = await openGateway();
  expect((await gateway.ask("/api/tools/x", { method: "DELETE" })).body.error.code).toBe("no_tool_admin");
  expect((await gateway.ask("/api/receipts")).body).toEqual({ receipts: [] });
});

test("what is left of a tool's limit is told to each user for themselves", async () => {
  const { gateway } = await open();
  const token = await gateway.addUser("al");
  const left = (limit: number) => ({ limits: { limit, window_secs: 3600, remaining: 1, reset_secs: 30 } });
  expect((await gateway.ask("/api/tools/hello/limits")).body).toEqual(left("operator".length));
  expect((await gateway.ask("/api/tools/hello/limits", { token })).body).toEqual(left("al".length));
  expect((await gateway.ask("/api/tools/offline/limits")).body).toEqual({ limits: null });
});
