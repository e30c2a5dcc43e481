import fc from "fast-check";
import { expect, test } from "vitest";
import type { Credential, CredentialLocation } from "../../../capabilities/capabilities.ts";
import { placeCredential } from "../../../host/broker/credentials.ts";
import {
  ask,
  credential,
  textOf,
  trackedBrokerage,
  trackedUpstream,
  versionOf,
  withServer,
} from "../../support/services/brokerage.ts";

const simple = "simple-token-123";

test.each([
  [{ type: "bearer" }, { authorization: `Bearer ${simple}` }, "/x"],
  [
    { type: "basic", username: "me" },
    { authorization: `Basic ${Buffer.from(`me:${simple}`).toString("base64")}` },
    "/x",
  ],
  [{ type: "header", name: "X-Key", prefix: "Token " }, { "x-key": `Token ${simple}` }, "/x"],
  [{ type: "query_param", name: "key" }, {}, `/x?key=${simple}`],
])("§4.4 %j puts the secret in its place", async (location, headers, path) => {
  const { server, opened, url } = await withServer();
  await opened.vault.secrets.set("token", simple);
  const call = opened.open(credential(location));
  expect((await ask(call, `${url}/x`)).ok).toBe(true);
  expect(server.requests).toMatchObject([{ path, headers }]);
  expect(call.traffic[0]?.credentials).toEqual(["token"]);
});

test("§4.4 url_path fills the placeholder, encoded so that it stays one segment", async () => {
  const { server, opened, url } = await withServer();
  await opened.vault.secrets.set("token", "123:ab/../c d");
  const http = credential({ type: "url_path", placeholder: "KEY" });
  await ask(opened.open(http), `${url}/bot{KEY}/send?x={KEY}`);
  await ask(opened.open(http), `${url}/public`);
  expect(server.requests.map(({ path }) => path)).toEqual([
    "/bot123:ab%2F..%2Fc%20d/send?x={KEY}",
    "/public",
  ]);
});

test("a query of the tool's own is left as it is", async () => {
  const { server, opened, url } = await withServer();
  await opened.vault.secrets.set("token", simple);
  await ask(opened.open(credential({ type: "query_param", name: "key" })), `${url}/x?a=%7e&b=c+d`);
  expect(server.requests[0]?.path).toBe(`/x?a=%7e&b=c+d&key=${simple}`);
});

test("a credential goes only to its host patterns, though the allowlist has more", async () => {
  const server = await trackedUpstream();
  const hosts = ["a.test", "b.a.test"].map((name) => `${name}:${server.port}`);
  const opened = await trackedBrokerage({
    privateHosts: hosts,
    addresses: { "a.test": ["127.0.0.1"], "b.a.test": ["127.0.0.1"] },
  });
  await opened.vault.secrets.set("token", simple);
  const call = opened.open({
    allowlist: ["a.test", "*.a.test"].map((host) => ({ host, path_prefix: "/", methods: ["GET"] })),
    credentials: {
      main: { secret_name: "token", location: { type: "bearer" }, host_patterns: ["*.a.test"] },
    },
  });
  for (const host of hosts) await ask(call, `http://${host}/`);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    undefined,
    `Bearer ${simple}`,
  ]);
});

test.each([
  [{ type: "bearer" }, { headersJson: '{"AUTHORIZATION":"Bearer mine"}' }, "/"],
  [{ type: "header", name: "X-Key" }, { headersJson: '{"x-KEY":"mine"}' }, "/"],
  [{ type: "query_param", name: "key" }, {}, "/?key=mine"],
  [{ type: "query_param", name: "key" }, {}, "/?k%65y=mine"],
])("a tool that fills the place of its credential %j is refused", async (location, request, path) => {
  const { server, opened, url } = await withServer();
  await opened.vault.secrets.set("token", simple);
  expect(textOf(await ask(opened.open(credential(location)), url + path, request))).toContain(
    "is where Postern puts `token`",
  );
  expect(server.requests).toHaveLength(0);
});

test("a value that would break out of its header or path is not sent, nor shown", async () => {
  const { server, opened, url } = await withServer();
  await opened.vault.secrets.set("token", "first\r\nX-Evil: second");
  const header = textOf(await ask(opened.open(credential({ type: "bearer" })), url));
  expect(header).toContain("`token` holds characters that a header cannot carry");
  expect(header).not.toContain("second");
  await opened.vault.secrets.set("token", "..");
  expect(
    textOf(await ask(opened.open(credential({ type: "url_path", placeholder: "K" })), `${url}/a/{K}`)),
  ).toContain("a path cannot carry");
  expect(server.requests).toHaveLength(0);
});

test("a missing credential is known before the call, and nothing is sent without it", async () => {
  const { server, opened, url } = await withServer();
  const http = credential({ type: "bearer" });
  const rest = { auth: { secret_name: "token", display_name: "Example" } };
  const tool = versionOf(http, { rest });
  expect(await opened.broker.missingCredential(tool)).toEqual({
    secret: "token",
    message:
      'The tool probe needs its credential for Example, which is not set. The operator gives it on the page, or by "postern tool auth probe". Each user can give their own on the page, too.',
  });
  expect(textOf(await ask(opened.open(http), url))).toContain("nothing was sent");
  expect(server.requests).toHaveLength(0);
  await opened.vault.secrets.set("token", simple);
  expect(await opened.broker.missingCredential(tool)).toBeUndefined();
});

test("§4.4 a variable of the environment comes before what is stored", async () => {
  const { server, opened, url } = await withServer(undefined, {
    environment: { EXAMPLE_TOKEN: "from-environment" },
  });
  await opened.vault.secrets.set("token", simple);
  const rest = { auth: { secret_name: "token", env_var: "EXAMPLE_TOKEN" } };
  await ask(opened.open(credential({ type: "bearer" }), { rest }), url);
  expect(server.requests[0]?.headers.authorization).toBe("Bearer from-environment");
});

test("a secret of one user is used in that user's calls alone, before what all users share", async () => {
  const { server, opened, url } = await withServer(undefined, {
    environment: { EXAMPLE_TOKEN: "from-environment" },
  });
  const http = credential({ type: "bearer" });
  const rest = { auth: { secret_name: "token", env_var: "EXAMPLE_TOKEN" } };
  const sentFor = async (user: string, more: object = {}) => {
    const before = server.requests.length;
    const reply = await ask(opened.open(http, { user, ...more }), url);
    return reply.ok ? server.requests[before]?.headers.authorization : textOf(reply);
  };
  const missesFor = async (user: string, more: object = {}) =>
    (await opened.broker.missingCredential(versionOf(http, { user, ...more }))) !== undefined;
  await opened.vaultOf("ann").secrets.set("token", "value-of-ann");
  expect([await missesFor("ann"), await missesFor("bob")]).toEqual([false, true]);
  expect(await sentFor("ann")).toBe("Bearer value-of-ann");
  expect(await sentFor("bob")).toContain("nothing was sent");
  await opened.vault.secrets.set("token", "value-for-all");
  expect(await sentFor("ann")).toBe("Bearer value-of-ann");
  expect(await sentFor("bob")).toBe("Bearer value-for-all");
  expect(await sentFor("bob", { rest })).toBe("Bearer from-environment");
  expect(await sentFor("ann", { rest })).toBe("Bearer value-of-ann");
  // Where a user chose the server, nothing goes there but what is theirs.
  expect(await sentFor("bob", { rest, ownOnly: true })).toContain("nothing was sent");
  expect(await missesFor("bob", { rest, ownOnly: true })).toBe(true);
  expect(await sentFor("ann", { rest, ownOnly: true })).toBe("Bearer value-of-ann");
  await opened.forgetUser("ann");
  expect(await sentFor("ann")).toBe("Bearer value-for-all");
});

test("what a user typed is hidden in that user's calls, and stops nobody else's", async () => {
  const { opened, url } = await withServer(({ headers }, response) => {
    response.end(`you are ${headers.authorization}, at http://a.test`);
  });
  const http = credential({ type: "bearer" });
  await opened.vault.secrets.set("token", "value-for-all");
  await opened.vaultOf("eve").secrets.set("token", "http://");
  await opened.vaultOf("ann").secrets.set("token", "a.test");
  const sentBy = async (user: string) => textOf(await ask(opened.open(http, { user }), url));
  expect(await sentBy("ann")).toBe("you are Bearer [secret], at http://[secret]");
  expect(await sentBy("eve")).toBe("you are Bearer [secret], at [secret]a.test");
  expect(await sentBy("bob")).toBe("you are Bearer [secret], at http://a.test");
});

test("the user name of a password may come from a setting, without a colon", async () => {
  const { server, opened, url } = await withServer();
  await opened.vault.secrets.set("token", "value-of-token");
  const rest = { settings: [{ name: "account", description: "Who you are.", format: "text" }] };
  const http = credential({ type: "basic", username: { setting: "account" } });
  const call = (account: string) =>
    opened.open(http, { rest, choices: { settings: { account }, privateHosts: [] } });
  await ask(call("ann"), url);
  expect(server.requests[0]?.headers.authorization).toBe(`Basic ${btoa("ann:value-of-token")}`);
  expect(textOf(await ask(call("ann:x"), url))).toBe("refused: A user name may not hold a colon.");
  expect(() => opened.open(http)).toThrow('must name a setting whose format is text; "account" is not in');
});

test("§4.4 existence is answered only for names the capabilities list", async () => {
  const { opened } = await withServer();
  await opened.vault.secrets.set("token", simple);
  await opened.vault.secrets.set("other", simple);
  const tool = versionOf(undefined, {
    rest: { secrets: { allowed_names: ["token", "absent"] } },
  });
  expect(await opened.broker.existingSecrets(tool)).toEqual(["token"]);
});

test("whatever a secret holds, it stays in its place: same host, same path around it, one parameter more", () => {
  const url = new URL("https://api.test/a/%7BKEY%7D/b?c=d");
  const request = { method: "GET", url, headers: {}, body: undefined, isAnyPage: false };
  const at = (location: CredentialLocation): Credential => ({
    name: "main",
    isOptional: false,
    secretName: "token",
    location,
    hostPatterns: ["api.test"],
  });
  const value = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !/^\.*$/.test(text));
  fc.assert(
    fc.property(value, (secret) => {
      const inPath = placeCredential(request, at({ type: "url_path", placeholder: "{KEY}" }), secret).url;
      expect(inPath.origin + inPath.search).toBe("https://api.test?c=d");
      const segments = inPath.pathname.split("/");
      expect([segments.length, segments[1], segments[3]]).toEqual([4, "a", "b"]);
      expect(decodeURIComponent(segments[2] ?? "")).toBe(secret);
      const inQuery = placeCredential(request, at({ type: "query_param", name: "key" }), secret).url;
      expect(inQuery.origin + inQuery.pathname).toBe(url.origin + url.pathname);
      expect([...inQuery.searchParams]).toEqual([
        ["c", "d"],
        ["key", secret],
      ]);
    }),
    { numRuns: 2000 },
  );
});
