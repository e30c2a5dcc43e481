/** Servers that sign-in and installing depend on, and that lie, drip or never end. */
import { createServer, type ServerResponse } from "node:http";
import { SignJWT } from "jose";
import { expect } from "vitest";
import { createNetwork } from "../../host/broker/network.ts";
import { createDownloads } from "../../host/sources/download.ts";
import { createRegistryAccess } from "../../host/sources/oci/access.ts";
import type { Keyed } from "../../kernel/plugin.ts";
import { createOidcCheck } from "../../plugins/accounts/sign-in/oidc.ts";
import { attack } from "../support/attacks.ts";
import { listen } from "../support/servers/listening.ts";
import { openUpstream } from "../support/servers/upstream.ts";
import { afterThisTest } from "../support/undo.ts";

type Respond = (response: ServerResponse, issuer: string) => void;

async function serve(answer: (path: string, response: ServerResponse) => void): Promise<string> {
  const server = createServer(({ url = "" }, response) => answer(url, response));
  return (await listen(server)).url;
}

const drip: Respond = (response) => {
  response.write("{");
  const timer = setInterval(() => response.write(" "), 50);
  response.on("close", () => clearInterval(timer));
};
const endless: Respond = (response) => {
  const more = (): void =>
    void (response.write(" ".repeat(65_536)) ? setImmediate(more) : response.once("drain", more));
  response.on("error", () => {});
  more();
};
const document =
  (more: object): Respond =>
  (response, issuer) =>
    void response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys`, ...more }));
const jwks =
  (keys: unknown): Respond =>
  (response) =>
    void response.end(JSON.stringify({ keys }));
const wide = { kty: "RSA", kid: "one", alg: "RS256", e: "AQAB", n: "_".repeat(900_000) };

attack(
  "I",
  "An identity provider that lies or never ends is a verdict, and nobody is signed in",
  async () => {
    const providers: Readonly<Record<string, readonly [discovery: Respond, keys?: Respond]>> = {
      silent: [() => {}],
      drips: [drip],
      "never ends": [endless],
      "has 20,000 headers": [
        (response) => {
          response.socket?.end(`HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(20_000)}\r\n{}`);
        },
      ],
      "sends itself round": [(response) => void response.writeHead(302, { location: "/" }).end()],
      "is another": [document({ issuer: "https://evil.example" })],
      "has keys in a file": [document({ jwks_uri: "file:///etc/passwd" })],
      "has keys in the address": [document({ jwks_uri: "data:application/json,{}" })],
      "is a list": [(response) => void response.end("[]")],
      "is nothing": [(response) => void response.end("null")],
      "nests without end": [(response) => void response.end("[".repeat(900_000))],
      "drips keys": [document({}), drip],
      "has keys without end": [document({}), endless],
      "has 15,000 keys": [
        document({}),
        jwks(Array.from({ length: 15_000 }, () => ({ kty: "RSA", n: "AQAB", e: "AQAB" }))),
      ],
      "has a key of millions of bits": [document({}), jwks([wide])],
      "has keys of another kind": [document({}), jwks("keys")],
    };
    const token = (issuer: string) =>
      new SignJWT({})
        .setProtectedHeader({ alg: "HS256" })
        .setIssuer(issuer)
        .setSubject("eve")
        .setAudience("postern")
        .sign(new TextEncoder().encode("x".repeat(32)))
        .then((jwt) =>
          jwt.replace(/^[^.]+/, Buffer.from('{"alg":"RS256","kid":"one"}').toString("base64url")),
        );
    const checked = Object.entries(providers).map(async ([what, [discovery, keys = jwks([])]]) => {
      const issuer: string = await serve((path, response) =>
        (path === "/keys" ? keys : discovery)(response, issuer),
      );
      const kept = { get: async () => undefined, set: async () => {} } as unknown as Keyed<unknown>;
      const check = createOidcCheck({ issuer, audience: "postern", domains: [], trustsEmail: true }, kept);
      const jwt = await token(issuer);
      // All of them at once wait for one answer.
      const verdicts = await Promise.all(Array.from({ length: 20 }, () => check(jwt)));
      return [what, [...new Set(verdicts.map(({ type }) => type))]] as const;
    });
    for (const [what, types] of await Promise.all(checked)) {
      expect(types, what).toHaveLength(1);
      expect(["unknown", "provider_unavailable"], what).toContain(types[0]);
    }
  },
);

attack(
  "I",
  "A registry that drips its token or its manifest is given up after a minute, not after ten",
  async () => {
    const slow = (response: ServerResponse) => {
      response.writeHead(200);
      drip(response, "");
    };
    const server = await openUpstream(({ path }, response) => {
      if (path.startsWith("/token") || path.includes("dripping")) return slow(response);
      const realm = `http://127.0.0.1:${server.port}/token`;
      return void response.writeHead(401, { "www-authenticate": `Bearer realm="${realm}"` }).end();
    });
    afterThisTest(server.close);
    const host = `127.0.0.1:${server.port}`;
    const privateHosts = new Set([host]);
    const network = createNetwork({ privateHosts });
    afterThisTest(network.close);
    const downloads = createDownloads({ network, maxShortMs: 700 });
    const open = createRegistryAccess({
      downloads,
      privateHosts,
      logins: { find: async () => undefined },
      dockerFolder: "/nonexistent",
    });
    for (const repository of ["acme/hello", "acme/dripping"])
      await expect(
        open({ registry: host, repository }, "pull").send(`${repository}/manifests/latest`, {
          maxBytes: 1000,
        }),
        repository,
      ).rejects.toThrow(/gave no complete answer within 0.7 seconds/);
  },
);
