/** What a registry of somebody else's may answer: each a sentence, and nothing that could be installed. */

import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createNetwork } from "../../../host/broker/network.ts";
import { withCapabilitiesSection } from "../../../host/compile/capabilities-section.ts";
import { createDownloads } from "../../../host/sources/download.ts";
import { createRegistryAccess } from "../../../host/sources/oci/access.ts";
import type { Login } from "../../../host/sources/oci/logins.ts";
import { MEDIA, sha256 } from "../../../host/sources/oci/manifest.ts";
import { createOciSource } from "../../../host/sources/oci/oci.ts";
import { parseReference } from "../../../host/sources/reference.ts";
import { temporaryFolder } from "../../support/home.ts";
import { openUpstream, type ReceivedRequest } from "../../support/servers/upstream.ts";
import { afterThisTest } from "../../support/undo.ts";

const COMPONENT = Buffer.from("stands for a component");
const CAPABILITIES = Buffer.from('{"version":"1.0.0"}');
const layer = (mediaType: string, bytes: Uint8Array, more: object = {}) => ({
  mediaType,
  digest: sha256(bytes),
  size: bytes.length,
  ...more,
});
const LAYERS = [layer(MEDIA.component, COMPONENT), layer(MEDIA.capabilities, CAPABILITIES)];
const CONFIG = layer(MEDIA.config, Buffer.from("{}"));
const manifestOf = (more: object = {}) =>
  Buffer.from(
    JSON.stringify({ schemaVersion: 2, mediaType: MEDIA.manifest, config: CONFIG, layers: LAYERS, ...more }),
  );

type Special = (request: ReceivedRequest, response: ServerResponse) => boolean;

/** A registry with one tool; `special` answers first, where it answers. */
async function hostile(
  special: Special = () => false,
  {
    manifest = manifestOf(),
    login,
    docker = temporaryFolder(),
    blobs = [COMPONENT, CAPABILITIES],
    limits = {},
  }: {
    readonly manifest?: Buffer;
    readonly login?: Login;
    readonly docker?: string;
    readonly blobs?: readonly Buffer[];
    readonly limits?: { readonly stallMs?: number; readonly maxDownloadMs?: number };
  } = {},
) {
  const server = await openUpstream((request, response) => {
    if (special(request, response)) return;
    const { path } = request;
    if (path === "/v2/acme/hello/manifests/latest") return void response.end(manifest);
    const blob = blobs.find((bytes) => path === `/v2/acme/hello/blobs/${sha256(bytes)}`);
    if (blob !== undefined) return void response.end(blob);
    response.writeHead(404).end("{}");
  });
  afterThisTest(server.close);
  const host = `127.0.0.1:${server.port}`;
  const privateHosts = new Set([host]);
  const network = createNetwork({ privateHosts });
  afterThisTest(network.close);
  const downloads = createDownloads({ network, ...limits });
  const open = createRegistryAccess({
    downloads,
    privateHosts,
    logins: { find: async () => login },
    dockerFolder: docker,
  });
  const fetch = () => {
    const reference = parseReference(`oci://${host}/acme/hello`);
    if (reference.kind !== "oci") throw new Error("not oci");
    return createOciSource(open).fetch(reference, { progress: () => {} });
  };
  return { server, host, privateHosts, fetch };
}

test("a tool that another program pushed has its capabilities inside, or needs --capabilities", async () => {
  const header = Uint8Array.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]);
  const built = Buffer.from(withCapabilitiesSection(header, "inside"));
  const made = await hostile(undefined, {
    manifest: manifestOf({ layers: [layer(MEDIA.component, built)] }),
    blobs: [built],
  });
  expect((await made.fetch()).capabilitiesText).toBe("inside");
  const { fetch } = await hostile(undefined, { manifest: manifestOf({ layers: [LAYERS[0]] }) });
  await expect(fetch()).rejects.toThrow(
    /no layer of application\/vnd\.postern.*there is none inside the component\.$/,
  );
});

describe("a manifest is refused", () => {
  const foreign = layer("application/vnd.docker.image.rootfs.diff.tar.gzip", COMPONENT);
  test.each([
    [
      "with a foreign config",
      manifestOf({ config: { ...CONFIG, mediaType: "application/x" } }),
      /its config has/,
    ],
    ["with a foreign layer", manifestOf({ layers: [...LAYERS, foreign] }), /docker\.image\.rootfs/],
    ["of a foreign type", manifestOf({ mediaType: "application/x" }), /its manifest has the media type/],
    ["that is an index", manifestOf({ mediaType: MEDIA.index, manifests: [] }), /an index of several/],
    ["with two components", manifestOf({ layers: [...LAYERS, LAYERS[0]] }), /2 layers of application\/wasm/],
    ["with no component", manifestOf({ layers: [LAYERS[1]] }), /no layer of application\/wasm/],
    [
      "with 257 KB of capabilities",
      manifestOf({ layers: [LAYERS[0], { ...LAYERS[1], size: 257 * 1024 }] }),
      /263168 bytes; at most 262144/,
    ],
    [
      "with a component beyond the cap",
      manifestOf({ layers: [{ ...LAYERS[0], size: 2 ** 40 }, LAYERS[1]] }),
      /1099511627776 bytes; at most/,
    ],
    [
      "with a digest that leads elsewhere",
      manifestOf({ layers: [{ ...LAYERS[0], digest: "../x" }] }),
      /no SHA-256/,
    ],
    ["with an escape sequence", manifestOf({ mediaType: "\u001b[31m" }), /media type "\\u001b/],
    ["that is not JSON", Buffer.from("<html>"), /not a JSON object/],
    ["that is too long", Buffer.alloc(300 * 1024, "x"), /more than 262144 bytes/],
  ])("%s", async (_what, manifest, why) => {
    const { fetch, server } = await hostile(undefined, { manifest });
    await expect(fetch()).rejects.toThrow(why);
    expect(server.requests.filter(({ path }) => path.includes("/blobs/"))).toEqual([]);
  });
});

describe("a layer is refused", () => {
  const answering = (answer: (response: ServerResponse) => void): Special => {
    return ({ path }, response) => {
      if (!path.endsWith(sha256(COMPONENT))) return false;
      answer(response);
      return true;
    };
  };
  test.each([
    [
      "that is not what its digest says",
      answering((r) => r.end("stands for a componenT")),
      /expected sha256:/,
    ],
    [
      "that is longer than the manifest says",
      answering((r) => r.end(Buffer.alloc(99))),
      /more than 22 bytes/,
    ],
    ["that is shorter", answering((r) => r.end("stands")), /after 6 of 22 bytes/],
    [
      "that ends early",
      answering((r) => {
        r.writeHead(200, { "content-length": "22" });
        r.write("stands", () => r.destroy());
      }),
      /failed:/,
    ],
    [
      "that redirects for ever",
      answering((r) => r.writeHead(307, { location: `/v2/acme/hello/blobs/${sha256(COMPONENT)}` }).end()),
      /more than 5 times/,
    ],
    [
      "that leads to a private address",
      answering((r) => r.writeHead(307, { location: "https://127.0.0.1/x" }).end()),
      /loopback address/,
    ],
    [
      "that leads to a file",
      answering((r) => r.writeHead(307, { location: "file:///etc/passwd" }).end()),
      /scheme file: is not allowed/,
    ],
  ])("%s", async (_what, special, why) => {
    const { fetch } = await hostile(special);
    await expect(fetch()).rejects.toThrow(why);
  });

  test("that does not come", async () => {
    const nothing = answering((r) => void r.writeHead(200).flushHeaders());
    const { fetch } = await hostile(nothing, { limits: { stallMs: 300 } });
    await expect(fetch()).rejects.toThrow("sent nothing for 0.3 seconds");
  });

  test("that comes a byte at a time", async () => {
    const slowly = answering((r) => {
      const timer = setInterval(() => r.write("s"), 60);
      r.on("close", () => clearInterval(timer));
    });
    const { fetch } = await hostile(slowly, { limits: { maxDownloadMs: 1000 } });
    await expect(fetch()).rejects.toThrow(/no complete answer within 1 seconds|more than 22 bytes/);
  });
});

test("a manifest under another digest than the registry says is refused", async () => {
  const { fetch } = await hostile(({ path }, response) => {
    if (path.endsWith("/latest")) response.setHeader("docker-content-digest", sha256(COMPONENT));
    return false;
  });
  await expect(fetch()).rejects.toThrow(/says that the manifest of .* is sha256:/);
});

test("a blob at another host is fetched there, and the credentials do not follow", async () => {
  const other = await openUpstream((_, response) => void response.end(COMPONENT));
  afterThisTest(other.close);
  const { fetch, server, privateHosts } = await hostile(
    ({ path, headers }, response) => {
      if (headers.authorization === undefined) {
        response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end();
        return true;
      }
      if (!path.endsWith(sha256(COMPONENT))) return false;
      response.writeHead(307, { location: `http://127.0.0.1:${other.port}/blob` }).end();
      return true;
    },
    { login: { username: "ann", password: "wonderland" } },
  );
  privateHosts.add(`127.0.0.1:${other.port}`);
  expect((await fetch()).component).toEqual(COMPONENT);
  expect(server.requests.at(-1)?.headers.authorization).toMatch(/^Basic /);
  expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

describe("tokens", () => {
  const bearer =
    (port: () => number, token: (request: ReceivedRequest) => string | undefined): Special =>
    (request, response) => {
      if (request.path.startsWith("/token")) {
        const given = token(request);
        response.writeHead(given === undefined ? 401 : 200).end(JSON.stringify({ token: given }));
        return true;
      }
      if (request.headers.authorization === "Bearer good") return false;
      const realm = `http://127.0.0.1:${port()}/token`;
      response.writeHead(401, { "www-authenticate": `Bearer realm="${realm}",service="it"` }).end();
      return true;
    };

  test("an anonymous one is asked for where the registry wants one, for this repository alone", async () => {
    const made = await hostile(
      bearer(
        () => made.server.port,
        () => "good",
      ),
    );
    expect((await made.fetch()).component).toEqual(COMPONENT);
    const asked = made.server.requests.filter(({ path }) => path.startsWith("/token"));
    expect(asked.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/token?service=it&scope=repository%3Aacme%2Fhello%3Apull", undefined],
    ]);
  });

  test("one for a person is asked for with the password, which goes nowhere else", async () => {
    const expected = `Basic ${Buffer.from("ann:wonderland").toString("base64")}`;
    const made = await hostile(
      bearer(
        () => made.server.port,
        ({ headers }) => (headers.authorization === expected ? "good" : undefined),
      ),
      { login: { username: "ann", password: "wonderland" } },
    );
    expect((await made.fetch()).component).toEqual(COMPONENT);
    const elsewhere = made.server.requests.filter(({ path }) => !path.startsWith("/token"));
    expect(elsewhere.some(({ headers }) => headers.authorization === expected)).toBe(false);
  });

  test("Docker's file is used, and what it leaves to a command is said and not run", async () => {
    const docker = temporaryFolder();
    const made = await hostile(
      bearer(
        () => made.server.port,
        () => undefined,
      ),
      { docker },
    );
    const write = (config: object) => writeFileSync(join(docker, "config.json"), JSON.stringify(config));
    write({ credHelpers: { [made.host]: "pass" } });
    await expect(made.fetch()).rejects.toThrow(/docker-credential-pass, which Postern does not run/);
    write({ auths: { [made.host]: { auth: Buffer.from("bob:builder").toString("base64") } } });
    await expect(made.fetch()).rejects.toThrow("does not accept your sign-in");
    const last = made.server.requests.findLast(({ path }) => path.startsWith("/token"));
    expect(last?.headers.authorization).toBe(`Basic ${Buffer.from("bob:builder").toString("base64")}`);
    writeFileSync(join(docker, "config.json"), "not JSON: hunter2");
    await expect(made.fetch()).rejects.toThrow(/is not a Docker credentials file: it is not a JSON object$/);
  });

  test.each([
    ["an unknown way to sign in", 'Negotiate realm="x"', /does not know/],
    ["a realm that is no address", 'Bearer realm="not a url"', /no valid address/],
    ["a realm at a private address", 'Bearer realm="https://10.0.0.1/token"', /private address/],
    ["a realm over plain http", 'Bearer realm="http://example.org/token"', /Plain http/],
  ])("%s is refused", async (_what, challenge, why) => {
    const { fetch } = await hostile((_, response) => {
      response.writeHead(401, { "www-authenticate": challenge }).end();
      return true;
    });
    await expect(fetch()).rejects.toThrow(why);
  });
});

test("a registry at a private address, or over plain http, is refused unless the operator lists it", async () => {
  const { fetch, server, privateHosts } = await hostile();
  privateHosts.clear();
  await expect(fetch()).rejects.toThrow(/TOOLS_PRIVATE_HOSTS/);
  expect(server.requests).toEqual([]);
});

test("an answer that calls itself a stream of events has the same cap", async () => {
  const { fetch } = await hostile(({ path }, response) => {
    if (!path.endsWith("/latest")) return false;
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let count = 0; count < 4; count++) response.write(`${"x".repeat(100_000)}\n\n`);
    return true;
  });
  await expect(fetch()).rejects.toThrow(/more than 262144 bytes/);
});

describe("a public registry does not lead to a host that the operator excepted", () => {
  /** It stops being an exception with its first answer. */
  const turningPublic = async (answer: (response: ServerResponse, other: string) => void) => {
    const other = await openUpstream((_, response) => void response.end('{"token":"good"}'));
    afterThisTest(other.close);
    const place = `127.0.0.1:${other.port}`;
    const made = await hostile((_, response) => {
      made.privateHosts.delete(made.host);
      answer(response, `http://${place}/inside`);
      return true;
    });
    made.privateHosts.add(place);
    return { ...made, other };
  };
  test.each([
    [
      "for its tokens",
      (response: ServerResponse, other: string) =>
        response.writeHead(401, { "www-authenticate": `Bearer realm="${other}"` }).end(),
    ],
    [
      "by a redirect",
      (response: ServerResponse, other: string) => response.writeHead(307, { location: other }).end(),
    ],
  ])("%s", async (_what, answer) => {
    const { fetch, other } = await turningPublic(answer);
    await expect(fetch()).rejects.toThrow(/Plain http/);
    expect(other.requests).toEqual([]);
  });
});

test("credentials that were left out of a redirect do not come back with the next one", async () => {
  const other = await openUpstream((_, response) => {
    response.writeHead(307, { location: `http://${made.host}/v2/returned` }).end();
  });
  afterThisTest(other.close);
  const made = await hostile(
    ({ path, headers }, response) => {
      if (path === "/v2/returned") response.end(COMPONENT);
      else if (headers.authorization === undefined)
        response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end();
      else if (path.endsWith(sha256(COMPONENT)))
        response.writeHead(307, { location: `http://127.0.0.1:${other.port}/blob` }).end();
      else return false;
      return true;
    },
    { login: { username: "ann", password: "wonderland" } },
  );
  made.privateHosts.add(`127.0.0.1:${other.port}`);
  expect((await made.fetch()).component).toEqual(COMPONENT);
  const returned = made.server.requests.find(({ path }) => path === "/v2/returned");
  expect(returned?.headers.authorization).toBeUndefined();
});
