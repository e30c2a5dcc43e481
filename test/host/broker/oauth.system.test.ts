import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRefresh } from "../../../host/broker/oauth.ts";
import type { SecretRecord } from "../../../host/secrets/entry.ts";
import { openPostgres } from "../../support/processes/engines.ts";
import { describePostgres, freshDatabase } from "../../support/processes/postgres/database.ts";
import {
  type AuthorizationServer,
  openAuthorizationServer,
} from "../../support/servers/authorization-server.ts";
import { openUpstream, type Upstream } from "../../support/servers/upstream.ts";
import {
  ask,
  type Brokerage,
  everywhere,
  openBrokerage,
  textOf,
  versionOf,
} from "../../support/services/brokerage.ts";
import { afterThisTest } from "../../support/undo.ts";

let server: AuthorizationServer;
let api: Upstream;
let opened: Brokerage;

const http = {
  ...everywhere("api.test"),
  credentials: { a: { secret_name: "token", location: { type: "bearer" }, host_patterns: ["api.test"] } },
};

beforeEach(async () => {
  server = await openAuthorizationServer({ id: "the-client" });
  api = await openUpstream(({ headers }, response) => response.end(headers.authorization));
  opened = await openBrokerage({
    privateHosts: [`id.test:${server.port}`, `api.test:${api.port}`],
    addresses: { "id.test": ["127.0.0.1"], "api.test": ["127.0.0.1"] },
  });
});

afterEach(async () => {
  await opened.close();
  await api.close();
  await server.close();
});

/** A token the server would renew, that ends in so many milliseconds. */
async function hold(endsIn: number, holder = opened): Promise<SecretRecord> {
  const form = { grant_type: "authorization_code", client_id: "the-client" };
  // The server hands its first refresh token out for a code, so a real code is needed.
  const redirectUri = "http://127.0.0.1:1/oauth/callback";
  const verifier = "v".repeat(43);
  const url = new URL(server.authorizationUrl);
  for (const [name, value] of Object.entries({
    response_type: "code",
    client_id: "the-client",
    redirect_uri: redirectUri,
    code_challenge_method: "S256",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    state: "s",
  })) {
    url.searchParams.set(name, value);
  }
  const code = (await server.signIn(url.href)).searchParams.get("code") ?? "";
  const body = new URLSearchParams({ ...form, code, redirect_uri: redirectUri, code_verifier: verifier });
  const answer = await fetch(server.tokenUrl.replace("id.test", "127.0.0.1"), { method: "POST", body });
  const token = (await answer.json()) as { access_token: string; refresh_token: string };
  const record: SecretRecord = {
    value: token.access_token,
    oauth: {
      tokenUrl: server.tokenUrl,
      clientId: "the-client",
      scopes: [],
      refreshToken: token.refresh_token,
      expiresAt: Date.now() + endsIn,
    },
  };
  await holder.vault.values.write("token", record);
  return record;
}

const renewals = () =>
  server.tokenRequests.filter((request) => request.get("grant_type") === "refresh_token").length;

test("a token that has time left is used as it is", async () => {
  const { value } = await hold(600_000);
  await ask(opened.open(http), `http://api.test:${api.port}/`);
  expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${value}`);
  expect(renewals()).toBe(0);
});

test("a token about to end is renewed first, and the new one is scrubbed from the very same answer", async () => {
  const { value } = await hold(5_000);
  const text = textOf(await ask(opened.open(http), `http://api.test:${api.port}/`));
  const sent = api.requests[0]?.headers.authorization;
  expect(sent).toMatch(/^Bearer access-/);
  expect(sent).not.toBe(`Bearer ${value}`);
  expect(text).toBe("Bearer [secret]");
  expect((await opened.vault.values.read("token"))?.value).toBe(sent?.slice("Bearer ".length));
});

test("many requests at once make one renewal, and the rotated refresh token serves the next", async () => {
  server.behaviour.expiresIn = 30;
  await hold(-1);
  const asks = Array.from({ length: 8 }, () => ask(opened.open(http), `http://api.test:${api.port}/`));
  expect((await Promise.all(asks)).every(({ ok }) => ok)).toBe(true);
  expect(renewals()).toBe(1);
  expect((await ask(opened.open(http), `http://api.test:${api.port}/`)).ok).toBe(true);
  expect(renewals()).toBe(2);
});

test("whoever still holds the old record gets the renewed one, not a second renewal", async () => {
  const old = await hold(-1);
  await ask(opened.open(http), `http://api.test:${api.port}/`);
  const privateHosts = new Set([`id.test:${server.port}`]);
  const { network, store } = opened;
  const refresh = createRefresh({ network, privateHosts, exclusive: store.exclusive });
  expect(await refresh(opened.vault.values, "token", old)).toEqual(await opened.vault.values.read("token"));
  expect(renewals()).toBe(1);
});

test("a server that fails to renew stops nobody while the old token holds", async () => {
  const { value } = await hold(30_000);
  server.behaviour.refuse = "temporarily_unavailable";
  expect((await ask(opened.open(http), `http://api.test:${api.port}/`)).ok).toBe(true);
  expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${value}`);
});

test("a token that ended and is not renewed is told without showing what was sent", async () => {
  const { oauth } = await hold(-1);
  server.behaviour.refuse = "invalid_grant";
  const text = textOf(await ask(opened.open(http), `http://api.test:${api.port}/`));
  expect(text).toContain("Sign-in for `token` failed: invalid_grant");
  expect(text).toContain('Run "postern tool auth"');
  expect(text).not.toContain(oauth?.refreshToken);
  expect(api.requests).toHaveLength(0);
});

test("a token that ended and has nothing to renew it with counts as missing", async () => {
  const { value, oauth } = await hold(-1);
  const { refreshToken: _, ...rest } = oauth as NonNullable<SecretRecord["oauth"]>;
  await opened.vault.values.write("token", { value, oauth: rest });
  expect(await opened.broker.missingCredential(versionOf(http))).toMatchObject({
    secret: "token",
  });
  const { network, store } = opened;
  const refresh = createRefresh({ network, privateHosts: new Set(), exclusive: store.exclusive });
  await expect(refresh(opened.vault.values, "token", { value, oauth: rest })).rejects.toThrow(
    "cannot be renewed",
  );
});

describePostgres("nodes that share a sign-in", () => {
  test("renew it once between them, and each goes on with the renewed token", async () => {
    const url = await freshDatabase(afterThisTest);
    const privateHosts = [`id.test:${server.port}`];
    const open = async () => {
      const node = await openBrokerage({
        privateHosts,
        addresses: { "id.test": ["127.0.0.1"] },
        store: await openPostgres(url),
        key: new Uint8Array(32).fill(7),
      });
      afterThisTest(node.close);
      return node;
    };
    const nodes = [await open(), await open(), await open()];
    const old = await hold(-1, nodes[0]);
    const renewed = await Promise.all(
      nodes.map(({ network, store, vault }) =>
        createRefresh({ network, privateHosts: new Set(privateHosts), exclusive: store.exclusive })(
          vault.values,
          "token",
          old,
        ),
      ),
    );
    expect(renewals()).toBe(1);
    expect(new Set(renewed.map(({ value }) => value)).size).toBe(1);
    expect(renewed[0]?.value).not.toBe(old.value);
  });
});
