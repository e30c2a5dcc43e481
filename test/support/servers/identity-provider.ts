/** An identity provider as small as one can be: discovery, keys, and tokens signed with them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterThisTest } from "../undo.ts";

export interface IdentityProvider {
  readonly issuer: string;
  keyRequests(): number;
  /** What discovery calls itself from now on. */
  callItself(issuer: string): void;
  sign(
    claims: Readonly<Record<string, unknown>>,
    options?: { readonly audience?: string; readonly expires?: string },
  ): Promise<string>;
  close(): Promise<void>;
}

export async function startIdentityProvider(later = afterThisTest): Promise<IdentityProvider> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" };
  let keyRequests = 0;
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.url === "/.well-known/openid-configuration")
      response.end(JSON.stringify({ issuer: called, jwks_uri: `${issuer}/keys` }));
    else {
      keyRequests++;
      response.end(JSON.stringify({ keys: [jwk] }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let called = issuer;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  later(close);
  return {
    issuer,
    keyRequests: () => keyRequests,
    callItself: (other) => {
      called = other;
    },
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
