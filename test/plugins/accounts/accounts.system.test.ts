/** Connections that wait for another's transaction. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { type AnyPlugin, definePlugin } from "../../../kernel/plugin.ts";
import accountsPlugin from "../../../plugins/accounts/plugin.ts";
import { createAccounts } from "../../../plugins/accounts/records/accounts.ts";
import { followRevoked, tellRevoked } from "../../../plugins/accounts/records/revocations.ts";
import { digestOf } from "../../../plugins/accounts/records/secret.ts";
import { MIGRATIONS } from "../../../plugins/accounts/records/tables.ts";
import { createThrottle } from "../../../plugins/accounts/sign-in/throttle.ts";
import { sessionRoutes } from "../../../plugins/gateway/routes/session.ts";
import { buildServer, type GatewayServer } from "../../../plugins/gateway/server.ts";
import { type GatewayConfig, readSettings } from "../../../plugins/gateway/settings.ts";
import storePlugin from "../../../plugins/store/plugin.ts";
import { describeEngines, openPostgres } from "../../support/processes/engines.ts";
import { describePostgres, execute, freshDatabase } from "../../support/processes/postgres/database.ts";
import { bootKernel } from "../../support/services/kernel.ts";
import { afterThisTest } from "../../support/undo.ts";

const WAITING =
  "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

const inAnHour = () => new Date(Date.now() + 3_600_000);

describeEngines("accounts", (_, fresh) => {
  const open = async () => {
    const place = await fresh();
    return createAccounts(await place.open());
  };

  test("a token is its user until it expires, is revoked, or the user is removed", async () => {
    const accounts = await open();
    await accounts.addUser("ann", "user");
    await expect(accounts.addUser("ann", "user")).rejects.toThrow("already exists");
    await expect(accounts.createToken("ben", "laptop")).rejects.toThrow('no user "ben"');
    const { token, info } = await accounts.createToken("ann", "laptop");
    const find = () => accounts.findToken(digestOf(token));
    expect(await find()).toEqual({ user: { id: "ann", role: "user" }, source: `token:${info.id}`, info });
    expect(await accounts.findToken(digestOf("another"))).toBeUndefined();
    expect(await accounts.setExpiry(info.id, -1)).toMatchObject({ user: "ann" });
    expect(await find()).toBeUndefined();
    await accounts.setExpiry(info.id, undefined);
    await accounts.markUsed(info);
    expect(await accounts.listTokens()).toMatchObject([{ id: info.id, lastUsedAt: expect.any(String) }]);
    expect(await accounts.isSourceLive(`token:${info.id}`)).toBe(true);
    expect(await accounts.revokeToken(info.id)).toBe(true);
    expect(await accounts.revokeToken(info.id)).toBe(false);
    expect([await find(), await accounts.isSourceLive(`token:${info.id}`)]).toEqual([undefined, false]);
    const other = await accounts.createToken("ann", "phone");
    await accounts.removeUser("ann", { withData: false }, async () => {});
    expect(await accounts.findToken(digestOf(other.token))).toBeUndefined();
    await expect(accounts.addUser("ann", "user")).rejects.toThrow("data was kept");
    expect(await accounts.addUser("ann", "operator", { takesData: true })).toMatchObject({
      role: "operator",
    });
    expect((await accounts.listUsers()).map(({ id }) => id)).toEqual(["ann", "operator"]);
  });

  test("of a session's cookie only a hash is in the store", async () => {
    const store = await (await fresh()).open();
    const accounts = await createAccounts(store);
    const sign = { user: "operator", source: "operator:file", expiresAt: inAnHour(), browser: "Firefox" };
    const cookie = (await accounts.openSession(sign)) ?? "";
    const sql = await store.tables("gateway", MIGRATIONS);
    const rows = JSON.stringify(await sql.all("SELECT * FROM gateway_sessions"));
    expect([rows.includes(digestOf(cookie)), rows.includes(cookie)]).toEqual([true, false]);
  });

  test("a session ends with its token, and a new one replaces the browser's old one", async () => {
    const accounts = await open();
    await accounts.addUser("ann", "user");
    const { info } = await accounts.createToken("ann", "laptop");
    const sign = { user: "ann", source: `token:${info.id}`, expiresAt: inAnHour(), browser: "Firefox" };
    const first = digestOf((await accounts.openSession(sign)) ?? "");
    const second = digestOf((await accounts.openSession({ ...sign, replaces: first })) ?? "");
    expect(await accounts.findSession(first)).toBeUndefined();
    expect(await accounts.findSession(second)).toMatchObject({ user: { id: "ann" }, isSourceLive: true });
    expect(await accounts.listSessions("ben")).toEqual([]);
    const [listed] = await accounts.listSessions("ann");
    expect(listed).toMatchObject({ user: "ann", via: "token", browser: "Firefox" });
    await accounts.revokeToken(info.id);
    expect(await accounts.findSession(second)).toMatchObject({ isSourceLive: false });
    expect(await accounts.endSession(listed?.id ?? "", "ben")).toBe(false);
    expect(await accounts.endSession(listed?.id ?? "", "ann")).toBe(true);
    const byLink = { user: "operator", source: "operator:gone", expiresAt: inAnHour(), browser: undefined };
    const linked = digestOf((await accounts.openSession(byLink)) ?? "");
    expect(await accounts.findSession(linked)).toMatchObject({ isSourceLive: false });
    expect(await accounts.endSessions("operator")).toBe(1);
  });

  test("a person who comes to two nodes at once for the first time is one account", async () => {
    const place = await fresh();
    const [here, there] = [
      await createAccounts(await place.open()),
      await createAccounts(await place.open()),
    ];
    const person = { issuer: "https://id.example", subject: "1", email: "ann@example.org" };
    const admitted = await Promise.all([here, there, here, there].map((node) => node.admit(person)));
    expect(new Set(admitted.map(({ user }) => user.id))).toEqual(new Set(["oidc:1"]));
    expect(admitted.filter(({ isNew }) => isNew)).toHaveLength(1);
    await here.addUser("ben@example.org", "operator");
    const ben = { issuer: "https://id.example", subject: "2", email: "ben@example.org" };
    expect((await there.admit(ben)).user).toEqual({
      id: "ben@example.org",
      role: "operator",
      name: "ben@example.org",
    });
  });
});

describePostgres("gateways on one PostgreSQL", () => {
  test("a flood of wrong tokens from one address leaves the database to others", async () => {
    const url = await freshDatabase(afterThisTest);
    const store = await openPostgres(url);
    onTestFinished(() => store.close());
    await createAccounts(store);
    const sql = await store.tables("gateway", MIGRATIONS);
    const throttle = createThrottle(sql);
    await throttle.failed("192.0.2.1");
    const holding = new pg.Client({ connectionString: url });
    await holding.connect();
    await holding.query("BEGIN; UPDATE gateway_guesses SET failures = failures");
    const flood = Array.from({ length: 100 }, () => throttle.failed("192.0.2.1"));
    await expect.poll(async () => (await execute(url, WAITING)).length).toBe(1);
    expect(await sql.get("SELECT 1 AS one")).toEqual({ one: 1 });
    await holding.end();
    await flood[0];
  });

  test("a user who is added while one of that name is being removed does not get the data", async () => {
    const url = await freshDatabase(afterThisTest);
    const store = await openPostgres(url);
    onTestFinished(() => store.close());
    const accounts = await createAccounts(store);
    await accounts.addUser("ann", "user");
    const removing = new pg.Client({ connectionString: url });
    await removing.connect();
    onTestFinished(() => removing.end());
    await removing.query(
      "BEGIN; DELETE FROM gateway_users WHERE id = 'ann'; INSERT INTO gateway_kept_data VALUES ('ann', '')",
    );
    const adding = accounts.addUser("ann", "user").then(
      () => "added",
      (error: { readonly code: string }) => error.code,
    );
    await expect.poll(async () => (await execute(url, WAITING)).length).toBe(1);
    await removing.query("COMMIT");
    expect(await adding).toBe("user_has_data");
  });

  test("each hears that somebody was signed out at another", async () => {
    const url = await freshDatabase(afterThisTest);
    const [here, there] = await Promise.all([openPostgres(url), openPostgres(url)]);
    onTestFinished(async () => void (await Promise.all([here.close(), there.close()])));
    const checked: string[] = [];
    onTestFinished(followRevoked(here, async () => void checked.push("here")));
    onTestFinished(followRevoked(there, async () => void checked.push("there")));
    await expect
      .poll(async () => {
        await tellRevoked(here);
        return checked;
      })
      .toContain("there");
    expect(checked).not.toContain("here");
  });

  async function openNode(store: string, settings: Record<string, string> = {}) {
    let door: GatewayServer | undefined;
    let url = "";
    const plugin = definePlugin({
      name: "door",
      needs: ["kernel", "accounts"],
      configure: readSettings,
      async start({ config, use, log, onStop }) {
        const built = await buildServer({ config: config as GatewayConfig, log, ...use });
        door = built;
        onStop(() => built.signIn.close());
        const routes = sessionRoutes({ ...door, onRevoked: async () => {} });
        door.app.mounts.mount(routes);
        const listener = await door.listen();
        onStop(() => listener.close(100));
        url = listener.url;
      },
    });
    const environment = {
      GATEWAY_PORT: "0",
      STORE_URL: store,
      POSTERN_SECRETS_KEY: Buffer.alloc(32, 7).toString("base64"),
      ...settings,
    };
    const service = await bootKernel([storePlugin, accountsPlugin, plugin] as AnyPlugin[], environment);
    onTestFinished(async () => void (await service.stop()));
    const who = async (headers: Record<string, string>) =>
      (await fetch(`${url}/api/session`, { headers })).status;
    const bearer = (token: string) => who({ authorization: `Bearer ${token}` });
    const file = () => readFileSync(join(service.home, "webui-token"), "utf8").trim();
    return { url, service, door: door as GatewayServer, who, bearer, file };
  }

  test("the operator's token and what each node prints open all of them, and so does a session", async () => {
    const store = await freshDatabase(afterThisTest);
    const [a, b] = await Promise.all([openNode(store), openNode(store)]);
    expect(a.file()).toBe(b.file());
    const link = a.door.signIn.linkToken as string;
    expect(link).not.toBe(b.door.signIn.linkToken);
    expect(await Promise.all([a.bearer(a.file()), b.bearer(a.file()), b.bearer(link)])).toEqual([
      200, 200, 200,
    ]);
    const signedIn = await fetch(`${a.url}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: link }),
    });
    // The cookie is named by the port; a balancer has one for all nodes.
    const secret = /=([^;]+)/.exec(signedIn.headers.get("set-cookie") ?? "")?.[1] ?? "";
    const cookieAt = (url: string) => ({ cookie: `postern_session_${new URL(url).port}=${secret}` });
    const whoAt = async ({ url }: { readonly url: string }) =>
      (await fetch(`${url}/api/session`, { headers: cookieAt(url) })).status;
    expect(await Promise.all([whoAt(a), whoAt(b)])).toEqual([200, 200]);
    // Its link ends with a node; the session, made from any node's link, stays.
    await a.service.stop();
    expect([await b.bearer(link), await whoAt(b)]).toEqual([401, 200]);
    await b.door.accounts.endSessions("operator");
    expect(await whoAt(b)).toBe(401);
    const [{ tokens } = { tokens: 0 }] = await execute<{ tokens: string }>(
      store,
      "SELECT count(*) AS tokens FROM gateway_fleet",
    );
    expect(Number(tokens)).toBe(1);
  });

  test("a token that only one node was given opens the others as long as that node lives", async () => {
    const store = await freshDatabase(afterThisTest);
    const a = await openNode(store, { GATEWAY_AUTH_TOKEN: "given-to-a-alone" });
    const b = await openNode(store);
    expect(await b.bearer("given-to-a-alone")).toBe(200);
    await a.service.stop();
    expect(await b.bearer("given-to-a-alone")).toBe(401);
  });

  test("wrong tokens are counted over all nodes", async () => {
    const store = await freshDatabase(afterThisTest);
    const [a, b] = await Promise.all([openNode(store), openNode(store)]);
    for (let guess = 0; guess < 3; guess++) {
      expect(await a.bearer("wrong")).toBe(401);
      expect(await b.bearer("wrong")).toBe(401);
    }
    expect(await execute(store, "SELECT failures::int, next_at > 0 AS waits FROM gateway_guesses")).toEqual([
      { failures: 6, waits: true },
    ]);
  });
});
