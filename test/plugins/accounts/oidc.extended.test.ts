import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { type IdentityProvider, startIdentityProvider } from "../../support/servers/identity-provider.ts";
import { openGateway } from "../../support/services/gateway.ts";

const settings = ({ issuer }: IdentityProvider, domains = "") => ({
  OIDC_ISSUER: issuer,
  OIDC_AUDIENCE: "postern",
  OIDC_ALLOWED_DOMAINS: domains,
});

const userOf = async (
  gateway: Awaited<ReturnType<typeof openGateway>>,
  provider: IdentityProvider,
  claims: Record<string, unknown>,
) => (await gateway.ask("/api/session", { token: await provider.sign(claims) })).body.user;

test("a valid JWT of the configured issuer is its subject, shown by e-mail, and the keys are fetched once", async () => {
  const provider = await startIdentityProvider();
  const gateway = await openGateway({ variables: settings(provider, "example.org") });
  for (const [sub, email] of [
    ["1", "Alice@Example.org"],
    ["2", "bob@example.org"],
  ] as const) {
    const token = await provider.sign({ sub, email, email_verified: true });
    const { body } = await gateway.ask("/api/session", { token });
    expect(body).toEqual({ user: { id: `oidc:${sub}`, role: "user", name: email.toLowerCase() } });
    expect((await gateway.ask("/api/users", { token })).status).toBe(403);
  }
  // A person stays the same whatever the address becomes.
  expect(
    await userOf(gateway, provider, { sub: "2", email: "bo@example.org", email_verified: true }),
  ).toEqual({
    id: "oidc:2",
    role: "user",
    name: "bo@example.org",
  });
  expect(provider.keyRequests()).toBe(1);
});

test("a verified e-mail finds the account that was added for it, for the first person who has it", async () => {
  const provider = await startIdentityProvider();
  const gateway = await openGateway({ variables: settings(provider) });
  const boss = { email: "boss@corp.com", email_verified: true };
  await gateway.ask("/api/users", { method: "POST", body: { id: boss.email, role: "operator" } });
  for (const email_verified of [undefined, "false", "true", 0, 1, null, false])
    expect(await userOf(gateway, provider, { sub: "attacker", email: boss.email, email_verified })).toEqual({
      id: "oidc:attacker",
      role: "user",
    });
  const expected = { id: boss.email, role: "operator", name: boss.email };
  expect(await userOf(gateway, provider, { sub: "the-boss", ...boss })).toEqual(expected);
  // Taken: an address that the provider gave to somebody else later is not the same person.
  expect(await userOf(gateway, provider, { sub: "successor", ...boss })).toMatchObject({
    id: "oidc:successor",
  });
  expect(await userOf(gateway, provider, { sub: "the-boss" })).toMatchObject({ id: boss.email });
});

test("OIDC_TRUST_EMAIL takes a missing claim for a yes, and nothing else", async () => {
  const provider = await startIdentityProvider();
  const variables = { ...settings(provider, "corp.com"), OIDC_TRUST_EMAIL: "true" };
  const gateway = await openGateway({ variables });
  await gateway.ask("/api/users", { method: "POST", body: { id: "ann@corp.com" } });
  expect(await userOf(gateway, provider, { sub: "1", email: "ann@corp.com" })).toMatchObject({
    id: "ann@corp.com",
  });
  const token = await provider.sign({ sub: "2", email: "ann@corp.com", email_verified: "false" });
  const refused = await fetch(`${gateway.url}/api/status`, { headers: { authorization: `Bearer ${token}` } });
  expect(refused.status).toBe(403);
});

test("a provider whose discovery names another issuer is not believed", async () => {
  const provider = await startIdentityProvider();
  provider.callItself("https://id.example.org");
  const gateway = await openGateway({ variables: settings(provider) });
  const answer = await gateway.ask("/api/status", { token: await provider.sign({ sub: "1" }) });
  expect([answer.status, answer.text]).toEqual([503, "Identity provider unavailable"]);
  expect(gateway.service.logged.join("")).toContain("names the issuer");
});

test("a restart neither waits for the identity provider nor fails with it, as long as its keys are fresh", async () => {
  const provider = await startIdentityProvider();
  const token = await provider.sign({ sub: "1" });
  const options = { variables: settings(provider), home: temporaryFolder() };
  const status = async ({ ask }: Awaited<ReturnType<typeof openGateway>>) =>
    (await ask("/api/status", { token })).status;
  const first = await openGateway(options);
  expect(await status(first)).toBe(200);
  await first.service.stop();
  await provider.close();
  const second = await openGateway(options);
  expect(await status(second)).toBe(200);
  expect(provider.keyRequests()).toBe(1);
  await second.service.stop();

  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11 * 60_000 });
  onTestFinished(() => void vi.useRealTimers());
  const stale = await openGateway(options);
  expect(await status(stale)).toBe(503);
});

test("many requests at once ask the identity provider once", async () => {
  const provider = await startIdentityProvider();
  const gateway = await openGateway({ variables: settings(provider) });
  const token = await provider.sign({ sub: "1" });
  const answers = await Promise.all(Array.from({ length: 8 }, () => gateway.ask("/api/status", { token })));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(provider.keyRequests()).toBe(1);
});

test("§7.2 a valid JWT of another e-mail domain gets 403 in plain text", async () => {
  const provider = await startIdentityProvider();
  const gateway = await openGateway({ variables: settings(provider, "example.org") });
  const foreign = [
    { sub: "1", email: "eve@evil.example" },
    { sub: "1", email: "eve@evil.example.org" },
    { sub: "1" },
  ];
  const unverified = [
    { sub: "1", email: "eve@example.org", email_verified: false },
    { sub: "1", email: "eve@example.org" },
  ];
  for (const claims of [...foreign, ...unverified]) {
    const answer = await fetch(`${gateway.url}/api/status`, {
      headers: { authorization: `Bearer ${await provider.sign(claims)}` },
    });
    expect(answer.status).toBe(403);
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await answer.text()).toContain(unverified.includes(claims as never) ? "not verified" : "domain");
  }
});

test("a JWT that is expired, for another audience, forged or tampered with is 401 like any wrong token", async () => {
  const provider = await startIdentityProvider();
  const other = await startIdentityProvider();
  const gateway = await openGateway({ variables: settings(provider) });
  const good = await provider.sign({ sub: "1" });
  const [head, , signature] = good.split(".");
  const tokens = [
    await provider.sign({ sub: "1" }, { expires: "-5m" }),
    await provider.sign({ sub: "1" }, { audience: "another" }),
    await other.sign({ sub: "1", iss: provider.issuer }),
    `${head}.${Buffer.from('{"sub":"2"}').toString("base64url")}.${signature}`,
  ];
  for (const token of tokens) {
    const answer = await gateway.ask("/api/status", { token });
    expect(answer.status).toBe(401);
    expect(answer.text).toBe("Invalid or missing auth token");
  }
  expect((await gateway.ask("/api/status", { token: good })).status).toBe(200);
});

test("a token about a sign-out signs nobody in, and a subject is a text", async () => {
  const provider = await startIdentityProvider();
  const gateway = await openGateway({ variables: settings(provider) });
  const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
  for (const claims of [{ sub: "1", events }, { sub: ["1"] }, { sub: { id: "1" } }])
    expect((await gateway.ask("/api/session", { token: await provider.sign(claims) })).status).toBe(401);
});

test("an address that only looks like another is another, and one that cannot be shown is none", async () => {
  const provider = await startIdentityProvider();
  const gateway = await openGateway({ variables: settings(provider, "work.example") });
  await gateway.ask("/api/users", { method: "POST", body: { id: "karl@work.example", role: "operator" } });
  const verified = { sub: "1", email_verified: true };
  // The sign of the unit Kelvin, of which JavaScript makes a k.
  expect(await userOf(gateway, provider, { ...verified, email: "\u212aarl@work.example" })).toMatchObject({
    role: "user",
  });
  for (const email of [
    "karl@wor\u212a.example",
    "k\u001b[2J@work.example",
    "k\u202e@work.example",
    `${"k".repeat(300)}@work.example`,
  ]) {
    const token = await provider.sign({ ...verified, sub: "2", email });
    expect(
      (await fetch(`${gateway.url}/api/session`, { headers: { authorization: `Bearer ${token}` } })).status,
    ).toBe(403);
  }
});

test("nobody becomes the operator by being called so elsewhere", async () => {
  const provider = await startIdentityProvider();
  const gateway = await openGateway({ variables: settings(provider) });
  const token = await provider.sign({ sub: "operator" });
  expect((await gateway.ask("/api/session", { token })).body).toEqual({
    user: { id: "oidc:operator", role: "user" },
  });
  const tricky = await provider.sign({ sub: "1", email: "operator" });
  expect((await gateway.ask("/api/session", { token: tricky })).body.user).not.toMatchObject({
    role: "operator",
  });
});

test("a session made from a JWT ends with it", async () => {
  const provider = await startIdentityProvider();
  const gateway = await openGateway({ variables: settings(provider) });
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const token = await provider.sign({ sub: "1" }, { expires: "60s" });
  const signedIn = await gateway.ask("/api/session", { method: "POST", token: "", body: { token } });
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] as string;
  const status = async () => (await gateway.ask("/api/status", { token: "", headers: { cookie } })).status;
  expect(await status()).toBe(200);
  vi.setSystemTime(Date.now() + 61_000);
  expect(await status()).toBe(401);
});

test("an identity provider that does not answer is 503, and other tokens go on working", async () => {
  const provider = await startIdentityProvider();
  const token = await provider.sign({ sub: "1" });
  const gateway = await openGateway({ variables: settings(provider) });
  await provider.close();
  const answer = await fetch(`${gateway.url}/api/status`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(503);
  expect(await answer.text()).toBe("Identity provider unavailable");
  expect((await gateway.ask("/api/status")).status).toBe(200);
});
