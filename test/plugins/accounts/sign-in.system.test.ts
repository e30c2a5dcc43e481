import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { routesOf } from "../../../kernel/net/route.ts";
import { type AnyPlugin, definePlugin, Fault } from "../../../kernel/plugin.ts";
import { Type } from "../../../kernel/schema/type.ts";
import accountsPlugin from "../../../plugins/accounts/plugin.ts";
import { MIGRATIONS } from "../../../plugins/accounts/records/tables.ts";
import { healthRoutes } from "../../../plugins/gateway/routes/service.ts";
import { sessionRoutes } from "../../../plugins/gateway/routes/session.ts";
import { buildServer, type GatewayServer } from "../../../plugins/gateway/server.ts";
import { type GatewayConfig, readSettings } from "../../../plugins/gateway/settings.ts";
import storePlugin from "../../../plugins/store/plugin.ts";
import { testOnSqlite } from "../../support/run/engine.ts";
import { freePort } from "../../support/servers/port.ts";
import { type BootedKernel, bootKernel } from "../../support/services/kernel.ts";
import { afterThisTest } from "../../support/undo.ts";

const TOKEN = "a-token-for-tests";
const LOCAL = { GATEWAY_PORT: "0", GATEWAY_AUTH_TOKEN: TOKEN };

const route = routesOf("test");
const ANYTHING = Type.Record(Type.String(), Type.Unknown());

interface OpenDoor {
  readonly url: string;
  readonly door: GatewayServer;
  readonly service: BootedKernel;
}

/** The listener with its sign-in alone, and one route behind it. */
async function openGateway(environment: Record<string, string> = LOCAL, home?: string): Promise<OpenDoor> {
  let url = "";
  let door: GatewayServer | undefined;
  const plugin = definePlugin({
    name: "door",
    needs: ["kernel", "store", "accounts"],
    configure: readSettings,
    async start({ config, use, log, onStop }) {
      const built = await buildServer({ config: config as GatewayConfig, log, ...use });
      door = built;
      onStop(() => built.signIn.close());
      const routes = [...healthRoutes(use), ...sessionRoutes({ ...built, onRevoked: async () => {} })];
      built.app.mounts.mount([
        ...routes,
        route("GET /whoami", {
          ...{ summary: "Who am I", answer: ANYTHING },
          handle: ({ user }) => ({ ...user }),
        }),
        route("POST /size", {
          ...{ summary: "How large is a body", answer: ANYTHING },
          handle: ({ context }) => ({
            bytes: JSON.stringify((context.request as { body?: unknown }).body ?? "").length,
          }),
        }),
        route("GET /long", {
          ...{ summary: "A long answer", answer: ANYTHING },
          handle: () => ({ text: "x".repeat(5000) }),
        }),
        route("GET /bug", {
          summary: "A bug",
          handle() {
            throw new Error("the secret plan");
          },
        }),
        route("GET /limited", {
          summary: "A limit",
          handle() {
            throw new Fault("limited", "slow_down", "Slower, please.", { retryAfterSecs: 7, param: "speed" });
          },
        }),
      ]);
      const listener = await built.listen();
      onStop(() => listener.close(100));
      url = listener.url;
    },
  });
  const service = await bootKernel(
    [storePlugin, accountsPlugin, plugin] as AnyPlugin[],
    environment,
    home === undefined ? {} : { home },
  );
  return { url, door: door as GatewayServer, service };
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test("§7.2 a missing and a wrong token get 401 in plain text, before any handler", async () => {
  const { url } = await openGateway();
  const answers = await Promise.all([
    fetch(`${url}/whoami`),
    fetch(`${url}/whoami`, bearer("wrong-token")),
    fetch(`${url}/whoami`, { headers: { authorization: "Basic b3BlcmF0b3I6eA==" } }),
    fetch(`${url}/whoami?token=${TOKEN}`),
    fetch(`${url}/no/such/thing`),
  ]);
  for (const answer of answers) {
    expect(answer.status).toBe(401);
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await answer.text()).toBe("Invalid or missing auth token");
  }
});

test("§5 GATEWAY_AUTH_TOKEN and the operator token of the home's file both are the operator", async () => {
  const { url, service } = await openGateway();
  const file = join(service.home, "webui-token");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  for (const token of [TOKEN, readFileSync(file, "utf8").trim()]) {
    const answer = await fetch(`${url}/whoami`, bearer(token));
    expect(await answer.json()).toEqual({ id: "operator", role: "operator" });
  }
});

test("§2.1 SERVICE_REBORN_WEBUI_TOKEN replaces the provisioned token, and no file is written", async () => {
  const { url, service } = await openGateway({ ...LOCAL, SERVICE_REBORN_WEBUI_TOKEN: "from-the-operator" });
  expect((await fetch(`${url}/whoami`, bearer("from-the-operator"))).status).toBe(200);
  expect(() => statSync(join(service.home, "webui-token"))).toThrow("ENOENT");
});

test("the operator token of the file stays the same over a restart", async () => {
  const first = await openGateway();
  const token = readFileSync(join(first.service.home, "webui-token"), "utf8").trim();
  await first.service.stop();
  const second = await openGateway(LOCAL, first.service.home);
  expect((await fetch(`${second.url}/whoami`, bearer(token))).status).toBe(200);
});

testOnSqlite(
  "a webui-token file that somebody emptied is a configuration fault that says what to do",
  async () => {
    const first = await openGateway();
    await first.service.stop();
    writeFileSync(join(first.service.home, "webui-token"), "\n");
    await expect(openGateway(LOCAL, first.service.home)).rejects.toThrow("delete it");
  },
);

test("§2.1 with no GATEWAY_AUTH_TOKEN a fresh one is made at each start", async () => {
  const { door, url } = await openGateway({ GATEWAY_PORT: "0" });
  expect(door.signIn.linkToken?.length).toBeGreaterThan(40);
  expect((await fetch(`${url}/whoami`, bearer(door.signIn.linkToken as string))).status).toBe(200);
});

test("a per-user token is its user; revoked or expired it is 401 like an unknown one", async () => {
  const { url, door } = await openGateway();
  await door.accounts.addUser("alice", "user");
  const { token, info } = await door.accounts.createToken("alice", "laptop");
  const gone = await door.accounts.createToken("alice", "old", { expiresInDays: -1 });
  const answer = await fetch(`${url}/whoami`, bearer(token));
  expect(await answer.json()).toEqual({ id: "alice", role: "user" });
  const lastUse = async () => (await door.accounts.listTokens()).find(({ id }) => id === info.id)?.lastUsedAt;
  await expect.poll(lastUse).toBeDefined();
  expect((await fetch(`${url}/whoami`, bearer(gone.token))).status).toBe(401);
  await door.accounts.revokeToken(info.id);
  const refused = await fetch(`${url}/whoami`, bearer(token));
  expect(refused.status).toBe(401);
  expect(await refused.text()).toBe("Invalid or missing auth token");
});

test("§7.2 a token store that does not answer is 503 in plain text", async () => {
  const { url, service } = await openGateway();
  const sql = await service.service("store").tables("gateway", MIGRATIONS);
  await sql.run("ALTER TABLE gateway_tokens RENAME TO gone");
  afterThisTest(() => sql.run("ALTER TABLE gone RENAME TO gateway_tokens"));
  const answer = await fetch(`${url}/whoami`, bearer("some-user-token"));
  expect(answer.status).toBe(503);
  expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(await answer.text()).toBe("Database unavailable");
});

test("nobody is signed in as a user who was removed meanwhile", async () => {
  const { door } = await openGateway();
  const session = {
    user: "alice",
    source: "oidc",
    expiresAt: new Date(Date.now() + 60_000),
    browser: undefined,
  };
  expect(await door.accounts.openSession(session)).toBeUndefined();
});

test("data that could not be deleted with its user stays kept from the next of that name", async () => {
  const { door } = await openGateway();
  await door.accounts.addUser("alice", "user");
  const unfollow = door.accounts.follow({ remove: () => Promise.reject(new Error("the disk is full")) });
  await expect(door.accounts.removeUser("alice", { withData: true })).rejects.toThrow("full");
  await expect(door.accounts.addUser("alice", "user")).rejects.toMatchObject({ code: "user_has_data" });
  unfollow();
  await door.accounts.removeUser("alice", { withData: true });
  expect(await door.accounts.addUser("alice", "user")).toMatchObject({ id: "alice" });
});

async function signIn(url: string, token = TOKEN, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ token }),
  });
}

const cookieOf = (answer: Response) => (answer.headers.get("set-cookie") ?? "").split(";")[0] as string;

test("a token is exchanged for an HttpOnly, SameSite=Strict cookie that is the same user, until sign-out", async () => {
  const { url } = await openGateway();
  const answer = await signIn(url);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ user: { id: "operator", role: "operator" } });
  const set = answer.headers.get("set-cookie");
  expect(set).toMatch(/^postern_session_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Expires=/);
  expect(set).not.toContain("Secure");
  const cookie = cookieOf(answer);
  expect((await fetch(`${url}/whoami`, { headers: { cookie } })).status).toBe(200);
  const out = await fetch(`${url}/api/session`, { method: "DELETE", headers: { cookie } });
  expect(out.status).toBe(204);
  expect((await fetch(`${url}/whoami`, { headers: { cookie } })).status).toBe(401);
});

// A kept connection would be the one of the service before the restart.
const ONCE = { connection: "close" };
const whoami = (url: string, cookie: string) => fetch(`${url}/whoami`, { headers: { cookie, ...ONCE } });

test("a session survives a restart, and ends when the token it was made from is changed or revoked", async () => {
  const local = { ...LOCAL, GATEWAY_PORT: String(await freePort()) };
  const first = await openGateway(local);
  const { url, door, service } = first;
  await door.accounts.addUser("alice", "user");
  const { token, info } = await door.accounts.createToken("alice", "phone");
  const operator = cookieOf(await signIn(url, TOKEN, ONCE));
  const alice = cookieOf(await signIn(url, token, ONCE));
  await service.stop();

  const second = await openGateway(local, service.home);
  expect((await whoami(second.url, operator)).status).toBe(200);
  expect((await whoami(second.url, alice)).status).toBe(200);
  await second.door.accounts.revokeToken(info.id);
  expect((await whoami(second.url, alice)).status).toBe(401);
  await second.service.stop();

  const third = await openGateway({ ...local, GATEWAY_AUTH_TOKEN: "another-token" }, service.home);
  expect((await whoami(third.url, operator)).status).toBe(401);
});

test("a session of the printed link survives a restart that prints another link", async () => {
  const local = { GATEWAY_PORT: String(await freePort()) };
  const first = await openGateway(local);
  const cookie = cookieOf(await signIn(first.url, first.door.signIn.linkToken, ONCE));
  await first.service.stop();
  const second = await openGateway(local, first.service.home);
  expect((await whoami(second.url, cookie)).status).toBe(200);
});

test("a foreign page may neither sign in nor use the cookie to change something", async () => {
  const { url } = await openGateway({ ...LOCAL, GATEWAY_ALLOWED_ORIGINS: "https://friend.example" });
  expect((await signIn(url, TOKEN, { origin: "https://evil.example" })).status).toBe(403);
  expect((await signIn(url, TOKEN, { origin: "https://friend.example" })).status).toBe(200);
  const cookie = cookieOf(await signIn(url, TOKEN, { origin: url }));
  const post = (origin: string) => fetch(`${url}/size`, { method: "POST", headers: { cookie, origin } });
  expect((await post("https://evil.example")).status).toBe(403);
  expect((await post("null")).status).toBe(403);
  expect((await post(url)).status).toBe(200);
});

test("behind a trusted proxy the cookie is Secure and the origin is the proxy's; from others the headers mean nothing", async () => {
  const forwarded = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "chat.example.org",
    "x-forwarded-for": "203.0.113.9",
    origin: "https://chat.example.org",
  };
  const trusting = await openGateway({ ...LOCAL, TRUSTED_PROXIES: "127.0.0.0/8" });
  const answer = await signIn(trusting.url, TOKEN, forwarded);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("set-cookie")).toContain("; Secure");
  expect(answer.headers.get("strict-transport-security")).toBe("max-age=31536000");
  const wary = await openGateway();
  expect((await signIn(wary.url, TOKEN, forwarded)).status).toBe(403);
  const lines = trusting.service.logged.filter((line) => line.includes("/api/session"));
  expect(lines.join()).toContain("203.0.113.9");
  expect(wary.service.logged.join()).not.toContain("203.0.113.9");
});

test("wrong tokens are 401 at any rate; the address's further refusals wait, and a valid token does not", async () => {
  const { url, service } = await openGateway();
  const enough = new AbortController();
  const answered: number[] = [];
  const guesses = Array.from({ length: 60 }, async (_, at) => {
    const { headers } = bearer(`guess-${at}`);
    answered.push((await fetch(`${url}/whoami`, { headers, signal: enough.signal })).status);
  });
  const ended = Promise.allSettled(guesses);
  await expect.poll(() => answered.length).toBeGreaterThan(5);
  // Never used before, from the same address.
  const file = readFileSync(join(service.home, "webui-token"), "utf8").trim();
  for (const token of [TOKEN, file]) expect((await fetch(`${url}/whoami`, bearer(token))).status).toBe(200);
  expect(new Set(answered)).toEqual(new Set([401]));
  expect(answered.length).toBeLessThan(60);
  enough.abort();
  await ended;
});

test("§8 a body over 14 MiB is 413 with a clear message, one just under it is read", async () => {
  const { url } = await openGateway();
  const send = (bytes: number) =>
    fetch(`${url}/size`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ text: "x".repeat(bytes) }),
    });
  expect((await send(14 * 1024 * 1024 - 100)).status).toBe(200);
  const answer = await send(14 * 1024 * 1024 + 1);
  expect(answer.status).toBe(413);
  expect((await answer.json()) as unknown).toMatchObject({
    error: { code: "body_too_large", message: expect.stringContaining("14 MiB") },
  });
});

test("a body that is no JSON is 400, a fault has its status and envelope, a bug is 500 in neutral words", async () => {
  const { url, service } = await openGateway();
  const bad = await fetch(`${url}/size`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: "{not json",
  });
  expect(bad.status).toBe(400);
  expect(await bad.json()).toMatchObject({ error: { type: "invalid_request_error", code: "bad_request" } });

  const limited = await fetch(`${url}/limited`, bearer(TOKEN));
  expect(limited.status).toBe(429);
  expect(limited.headers.get("retry-after")).toBe("7");
  expect(await limited.json()).toEqual({
    error: { message: "Slower, please.", type: "rate_limit_error", param: "speed", code: "slow_down" },
  });

  const bug = await fetch(`${url}/bug`, bearer(TOKEN));
  expect(bug.status).toBe(500);
  const text = await bug.text();
  expect(text).not.toContain("secret plan");
  expect(JSON.parse(text)).toMatchObject({ error: { type: "server_error", code: "internal_error" } });
  expect(service.logged.join()).toContain("the secret plan");

  const missing = await fetch(`${url}/nothing/here`, bearer(TOKEN));
  expect(missing.status).toBe(404);
  expect(await missing.json()).toMatchObject({ error: { type: "not_found_error", code: "not_found" } });
  const method = await fetch(`${url}/whoami`, { ...bearer(TOKEN), method: "DELETE" });
  expect(method.status).toBe(405);
  expect(method.headers.get("allow")).toContain("GET");
});

/** No site is mounted here, so nothing may be loaded. */
const POLICY = ["base-uri 'none'", "default-src 'none'", "form-action 'none'", "frame-ancestors 'none'"];

test("every answer has a request id and headers that keep a browser safe", async () => {
  const { url } = await openGateway();
  for (const path of ["/", "/health", "/whoami"]) {
    const answer = await fetch(`${url}${path}`, { headers: { "x-request-id": "my-id-1" } });
    expect(answer.headers.get("x-request-id")).toBe("my-id-1");
    expect((answer.headers.get("content-security-policy") ?? "").split(";").sort()).toEqual(POLICY);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
      "cache-control": "no-store",
    });
    expect(answer.headers.get("strict-transport-security")).toBeNull();
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  }
  const odd = await fetch(`${url}/health`, { headers: { "x-request-id": "<script>" } });
  expect(odd.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
});

test("long answers are compressed for those who take it", async () => {
  const { url } = await openGateway();
  const ask = (encoding: string) =>
    fetch(`${url}/long`, { headers: { authorization: `Bearer ${TOKEN}`, "accept-encoding": encoding } });
  for (const encoding of ["br", "gzip"]) {
    const answer = await ask(encoding);
    expect(answer.headers.get("content-encoding")).toBe(encoding);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await answer.json()).toEqual({ text: "x".repeat(5000) });
  }
  expect((await ask("identity")).headers.get("content-encoding")).toBeNull();
});

testOnSqlite(
  "health and readiness answer without a token, and readiness says what is not ready",
  async () => {
    const { url, service } = await openGateway();
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: "ok", service: "postern" });
    const ready = await fetch(`${url}/ready`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toMatchObject({ ready: true, checks: [{ name: "store", ok: true }] });
    await (await service.service("store").tables("gateway", MIGRATIONS)).run(
      "ALTER TABLE migrations RENAME TO gone",
    );
    const unready = await fetch(`${url}/ready`);
    expect(unready.status).toBe(503);
    expect(await unready.json()).toMatchObject({ ready: false, checks: [{ name: "store", ok: false }] });
  },
);

test("no token and no cookie is ever written to the log", async () => {
  const { url, door, service } = await openGateway({ GATEWAY_PORT: "0" });
  const fresh = door.signIn.linkToken as string;
  await door.accounts.addUser("alice", "user");
  const { token } = await door.accounts.createToken("alice", "laptop");
  const cookie = cookieOf(await signIn(url, fresh));
  await fetch(`${url}/?token=${fresh}`);
  await fetch(`${url}/whoami?token=${token}`, bearer(token));
  await fetch(`${url}/bug`, { headers: { cookie } });
  const log = service.logged.join("");
  expect(log).toContain('"path":"/whoami"');
  for (const secret of [fresh, token, cookie.split("=")[1] as string]) expect(log).not.toContain(secret);
});

test("a taken port is a configuration fault that names GATEWAY_PORT", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as { port: number };
  await expect(openGateway({ ...LOCAL, GATEWAY_PORT: String(port) })).rejects.toThrow("GATEWAY_PORT");
  other.close();
});

test("bad settings are refused all at once", async () => {
  const bad = {
    GATEWAY_AUTH_TOKEN: "two\nlines",
    TRUSTED_PROXIES: "my-proxy",
    GATEWAY_ALLOWED_ORIGINS: "chat.example.org",
    OIDC_ISSUER: "https://id.example.org",
  };
  const starting = openGateway(bad);
  for (const name of ["GATEWAY_AUTH_TOKEN", "TRUSTED_PROXIES", "GATEWAY_ALLOWED_ORIGINS", "OIDC_AUDIENCE"])
    await expect(starting).rejects.toThrow(name);
});

test("a token that no bearer header could carry is refused at the start, not at every request", async () => {
  for (const name of ["GATEWAY_AUTH_TOKEN", "SERVICE_REBORN_WEBUI_TOKEN"])
    await expect(openGateway({ [name]: "a token\nof two lines" })).rejects.toThrow(`${name}: got (hidden)`);
});
