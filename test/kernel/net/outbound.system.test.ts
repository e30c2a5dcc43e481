import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { createOutbound, MAX_REPLY_BYTES, type Outbound } from "../../../kernel/net/outbound.ts";
import { type Answering, openUpstream } from "../../support/servers/upstream.ts";

const undo: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function outboundFor(...privateHosts: string[]): Outbound {
  const outbound = createOutbound({
    privateHosts: new Set(privateHosts),
    lookup: async () => [{ address: "127.0.0.1", family: 4 }],
  });
  undo.push(outbound.close);
  return outbound;
}

function get(outbound: Outbound, url: string, method = "GET") {
  return outbound.send({ method, url: new URL(url), timeoutMs: 20_000, maxBytes: MAX_REPLY_BYTES });
}

async function serve(answer: Answering, tls?: { key: string; cert: string }) {
  const server = await openUpstream(answer, tls);
  undo.push(server.close);
  return server;
}

const encodings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

test.each(Object.entries(encodings))("an answer in %s is decoded", async (encoding, compress) => {
  const { port } = await serve((_, response) =>
    response.writeHead(200, { "content-encoding": encoding }).end(compress(Buffer.from("unfolded"))),
  );
  const { body } = await get(outboundFor(`api.test:${port}`), `http://api.test:${port}/`);
  expect(Buffer.from(body).toString()).toBe("unfolded");
});

test.each(Object.entries(encodings))("a bomb in %s stops at the cap", async (encoding, compress) => {
  const bomb = compress(Buffer.alloc(3 * MAX_REPLY_BYTES));
  expect(bomb.byteLength).toBeLessThan(MAX_REPLY_BYTES / 5);
  const { port } = await serve((_, response) =>
    response.writeHead(200, { "content-encoding": encoding }).end(bomb),
  );
  await expect(get(outboundFor(`api.test:${port}`), `http://api.test:${port}/`)).rejects.toThrow(
    `more than ${MAX_REPLY_BYTES} bytes`,
  );
});

test.each(["gzip, gzip", "zstd", "constructor"])("the encoding %j is refused", async (encoding) => {
  const { port } = await serve((_, response) =>
    response.writeHead(200, { "content-encoding": encoding }).end("x"),
  );
  await expect(get(outboundFor(`api.test:${port}`), `http://api.test:${port}/`)).rejects.toThrow(
    "not asked for",
  );
});

test("an answer without a body needs no decoding, whatever its headers say", async () => {
  const { port } = await serve((_, response) =>
    response.writeHead(200, { "content-encoding": "gzip", "content-length": "20" }).end(),
  );
  const { body } = await get(outboundFor(`api.test:${port}`), `http://api.test:${port}/`, "HEAD");
  expect(body.byteLength).toBe(0);
});

test("a kept connection that the server gave up is no error for a read, and a write is not sent twice", async () => {
  const used = new WeakSet<object>();
  const { port, requests } = await serve((_, response) => {
    const { socket } = response;
    if (socket === null || used.has(socket)) socket?.destroy();
    else {
      used.add(socket);
      response.end("fresh");
    }
  });
  const outbound = outboundFor(`api.test:${port}`);
  const url = `http://api.test:${port}/`;
  let asked = 0;
  // Until a kept connection happens to be used again.
  while (requests.length === asked) {
    expect(Buffer.from((await get(outbound, url)).body).toString()).toBe("fresh");
    asked++;
    await sleep(5);
  }
  const before = requests.length;
  let written = 0;
  for (let isLost = false; !isLost; written++) {
    await get(outbound, url);
    await sleep(5);
    isLost = await get(outbound, url, "POST").then(
      () => false,
      () => true,
    );
  }
  expect(requests.slice(before).filter(({ method }) => method === "POST")).toHaveLength(written);
});

test("an IPv6 literal is excepted by its host and port like any other host", async () => {
  const { port } = await serve((_, response) => response.end());
  await expect(get(outboundFor(), `http://[::1]:${port}/`)).rejects.toThrow("is a loopback address");
  // Nothing of ours listens there: to be told so, it must have been dialled.
  await expect(get(outboundFor(`[::1]:${port}`), `http://[::1]:${port}/`)).rejects.toThrow(
    /ECONNREFUSED|EADDRNOTAVAIL|EAFNOSUPPORT|ENETUNREACH/,
  );
});

test("an answer that is not what its encoding says is an error, not a crash", async () => {
  const { port } = await serve((_, response) =>
    response.writeHead(200, { "content-encoding": "gzip" }).end("not gzip at all"),
  );
  await expect(get(outboundFor(`api.test:${port}`), `http://api.test:${port}/`)).rejects.toThrow("failed");
});

// Node can read certificates but not make them.
const OPENSSL = "openssl";

/** A key and a certificate for one name, signed by itself. */
function selfSigned(name: string): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), "postern-tls-"));
  undo.push(() => rmSync(folder, { recursive: true }));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  execFileSync(
    OPENSSL,
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2",
    ].concat(["-keyout", key, "-out", cert, "-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`]),
    { stdio: "ignore" },
  );
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
}

test("TLS is verified: an unknown authority and a foreign name are refused, a known one passes", async () => {
  const pair = selfSigned("api.test");
  const { port, requests } = await serve((_, response) => response.end("secure"), pair);
  const hosts = [`api.test:${port}`, `other.test:${port}`];
  await expect(get(outboundFor(...hosts), `https://api.test:${port}/`)).rejects.toThrow(/self.signed/i);

  const usual = getCACertificates("default");
  setDefaultCACertificates([...usual, pair.cert]);
  undo.push(() => setDefaultCACertificates(usual));
  const outbound = outboundFor(...hosts);
  await expect(get(outbound, `https://other.test:${port}/`)).rejects.toThrow(/altnames/i);
  expect(requests).toHaveLength(0);
  expect(Buffer.from((await get(outbound, `https://api.test:${port}/`)).body).toString()).toBe("secure");
});

test("a server that floods its stream with events is read at a pace that leaves time for others", async () => {
  const chunk = "data: {}\n\n".repeat(1000);
  const { port } = await serve((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const flood = () => {
      while (response.writable && response.write(chunk)) {}
    };
    response.on("drain", flood);
    flood();
  });
  const enough = new AbortController();
  const url = new URL(`http://api.test:${port}/`);
  const response = await outboundFor(url.host).fetch(url, enough, { maxBytes: 2 ** 20 });
  setTimeout(() => enough.abort(), 1500);
  let bytes = 0;
  const reading = (async () => {
    for await (const part of response.body ?? []) bytes += part.length;
  })();
  await expect(reading).rejects.toThrow();
  expect(bytes).toBeGreaterThan(0);
  // About a thousand events a second, what may come at once, and what one read brings.
  expect(bytes / 10).toBeLessThan(20_000);
});
