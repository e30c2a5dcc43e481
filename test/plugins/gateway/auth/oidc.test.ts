import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../support/home.ts";
import { openGateway } from "../../../support/services/gateway.ts";

interface Provider {
  readonly issuer: string;
  readonly keyRequests: () => number;
  sign(claims: Record<string, unknown>, options?: { audience?: string; expires?: string }): Promise<string>;
  close(): Promise<void>;
}

/** An identity provider as small as one can be: discovery, keys, and tokens signed with them. */
async function startProvider(): Promise<Provider> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" };
  let keyRequests = 0;
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.url === "/.well-known/openid-configuration")
      response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
    else {
      keyRequests++;
      response.end(JSON.stringify({ keys: [jwk] }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(close);
  return {
    issuer,
    keyRequests: () => keyRequests,
    close,
    sign: (claims, { audience = "postern", expires = "5m" } = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "ES256", kid: "one" })
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime(expires)
        .sign(privateKey),
  };
}

const settings = ({ issuer }: Provider, domains = "") => ({
  OIDC_ISSUER: issuer,
  OIDC_AUDIENCE: "postern",
  OIDC_ALLOWED_DOMAINS: domains,
});

test("a valid JWT of the configured issuer is its user, and the keys are fetched once", async () => {
  const provider = await startProvider();
  const gateway = await openGateway({ variables: settings(provider, "example.org") });
  for (const email of ["Alice@Example.org", "bob@example.org"]) {
    const token = await provider.sign({ sub: "1", email });
    const { body } = await gateway.ask("/api/session", { token });
    expect(body).toEqual({ user: { id: email.toLowerCase(), role: "user" } });
    expect((await gateway.ask("/api/users", { token })).status).toBe(403);
  }
  expect(provider.keyRequests()).toBe(1);
});

test("a restart neither waits for the identity provider nor fails with it, as long as its keys are fresh", async () => {
  const provider = await startProvider();
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
  const provider = await startProvider();
  const gateway = await openGateway({ variables: settings(provider) });
  const token = await provider.sign({ sub: "1" });
  const answers = await Promise.all(Array.from({ length: 8 }, () => gateway.ask("/api/status", { token })));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(provider.keyRequests()).toBe(1);
});

test("§7.2 a valid JWT of another e-mail domain gets 403 in plain text", async () => {
  const provider = await startProvider();
  const gateway = await openGateway({ variables: settings(provider, "example.org") });
  const foreign = [
    { sub: "1", email: "eve@evil.example" },
    { sub: "1", email: "eve@evil.example.org" },
    { sub: "1", email: "eve@example.org", email_verified: false },
    { sub: "1" },
  ];
  for (const claims of foreign) {
    const answer = await fetch(`${gateway.url}/api/status`, {
      headers: { authorization: `Bearer ${await provider.sign(claims)}` },
    });
    expect(answer.status).toBe(403);
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await answer.text()).toContain("domain");
  }
});

test("a JWT that is expired, for another audience, forged or tampered with is 401 like any wrong token", async () => {
  const provider = await startProvider();
  const other = await startProvider();
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

test("nobody becomes the operator by being called so elsewhere", async () => {
  const provider = await startProvider();
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
  const provider = await startProvider();
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
  const provider = await startProvider();
  const token = await provider.sign({ sub: "1" });
  const gateway = await openGateway({ variables: settings(provider) });
  await provider.close();
  const answer = await fetch(`${gateway.url}/api/status`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(503);
  expect(await answer.text()).toBe("Identity provider unavailable");
  expect((await gateway.ask("/api/status")).status).toBe(200);
});
