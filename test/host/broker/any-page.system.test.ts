/** The grant "any public web page": what it lets out, where it may go, and servers that mean no good. */
import { createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Answering } from "../../support/servers/upstream.ts";
import {
  ask,
  openBrokerage,
  textOf,
  trackedBrokerage,
  withServer,
} from "../../support/services/brokerage.ts";
import { afterThisTest } from "../../support/undo.ts";

const anyPage = (more: object = {}) => ({
  allowlist: [{ host: "*", path_prefix: "/", methods: ["GET", "HEAD"] }],
  rate_limit: { requests_per_minute: 1000, requests_per_hour: 1000 },
  redirects: true,
  ...more,
});

describe("what leaves", () => {
  test("is a GET or HEAD with a few headers and our own user agent", async () => {
    const { server, opened, url } = await withServer();
    const headers = {
      Accept: "text/html",
      "Accept-Language": "de",
      Range: "bytes=0-9",
      "User-Agent": "Mine/1",
    };
    const headersJson = JSON.stringify({ ...headers, "If-None-Match": '"a"', "If-Modified-Since": "x" });
    const call = opened.open(anyPage());
    expect(await ask(call, `${url}/a?b`, { headersJson })).toMatchObject({ ok: true, status: 200 });
    expect(await ask(call, url, { method: "HEAD" })).toMatchObject({ ok: true, status: 200 });
    expect(server.requests[0]?.headers).toEqual({
      accept: "text/html",
      "accept-encoding": "gzip, br",
      "accept-language": "de",
      connection: "keep-alive",
      host: new URL(url).host,
      "if-modified-since": "x",
      "if-none-match": '"a"',
      range: "bytes=0-9",
      "user-agent": expect.stringMatching(/^Postern\/\d/),
    });
  });

  test.each([
    ["a POST", { method: "POST" }, '"POST" is not allowed'],
    ["a body", { body: "x" }, "may not have a body"],
    ["a cookie", { headersJson: '{"cookie":"a=b"}' }, "The header cookie is not allowed"],
    [
      "a referrer",
      { headersJson: '{"Referer":"https://a.test/secret"}' },
      "The header referer is not allowed",
    ],
    ["a sign-in", { headersJson: '{"Authorization":"x"}' }, "The header authorization is not allowed"],
    ["a header of its own", { headersJson: '{"x-data":"x"}' }, "The header x-data is not allowed"],
    ["a long header", { headersJson: `{"accept":"${"x".repeat(501)}"}` }, "more than 500 characters"],
  ])("%s is refused and nothing is sent", async (_, request, why) => {
    const { server, opened, url } = await withServer();
    expect(textOf(await ask(opened.open(anyPage()), url, request))).toContain(why);
    expect(server.requests).toHaveLength(0);
  });

  test("at most 20 requests a minute go to one host, whatever the tool's own limit is", async () => {
    const { server, opened, url } = await withServer();
    const call = opened.open(anyPage());
    for (let count = 0; count < 20; count++) expect((await ask(call, url)).ok).toBe(true);
    expect(textOf(await ask(call, url))).toMatch(
      /^refused: rate_limit_exceeded at api\.test:\d+: The rate limit of 20 requests a minute is reached/,
    );
    expect((await ask(opened.open(anyPage(), { user: "bob" }), url)).ok).toBe(true);
    expect(server.requests).toHaveLength(21);
  });

  test("the tool's own limits count as ever", async () => {
    const { opened, url } = await withServer();
    const call = opened.open(anyPage({ rate_limit: { requests_per_minute: 1, requests_per_hour: 9 } }));
    await ask(call, url);
    expect(textOf(await ask(call, url))).toContain("The rate limit of 1 request a minute is reached");
  });
});

describe("where it goes", () => {
  test("plain http is asked for as https, and the record says so", async () => {
    const dialled: string[] = [];
    const opened = await trackedBrokerage({
      lookup: async (host) => {
        dialled.push(host);
        return [{ address: "10.0.0.1", family: 4 }];
      },
    });
    expect(textOf(await ask(opened.open(anyPage()), "http://page.test/a"))).toMatch(
      /^refused: page\.test resolves to 10\.0\.0\.1, a private address, which tools may not reach/,
    );
    expect(dialled).toEqual(["page.test"]);
    expect(textOf(await ask(opened.open(anyPage()), "http://page.test:8080/"))).toContain(
      "Plain http to page.test:8080",
    );
    expect(textOf(await ask(opened.open(anyPage()), "https://page.test:8443/"))).toContain(
      "Port 8443 of page.test",
    );
  });

  test("what the operator excepts may be plain http, and is not asked for as https", async () => {
    const { server, opened, url } = await withServer();
    expect(await ask(opened.open(anyPage()), url)).toMatchObject({ ok: true });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ["0.0.0.0", "https://0.0.0.0/"],
    ["0", "https://0/"],
    ["an octal number", "https://0177.0.0.1/"],
    ["one number", "https://2130706433/"],
    ["a short form", "https://127.1/"],
    ["the metadata service", "https://169.254.169.254/latest/meta-data/"],
    ["IPv6 loopback", "https://[::1]/"],
    ["IPv6 unspecified", "https://[::]/"],
    ["an IPv4-mapped address", "https://[::ffff:127.0.0.1]/"],
    ["the same in hexadecimal", "https://[::ffff:7f00:1]/"],
    ["an IPv4-compatible address", "https://[::7f00:1]/"],
    ["6to4", "https://[2002:7f00:1::]/"],
    ["Teredo", "https://[2001:0:7f00:1::]/"],
    ["NAT64", "https://[64:ff9b::7f00:1]/"],
    ["a unique local address", "https://[fd00::1]/"],
    ["a link-local address", "https://[fe80::1]/"],
    ["a site-local address", "https://[fec0::1]/"],
    ["IPv6 multicast", "https://[ff02::1]/"],
    ["localhost with a dot", "https://localhost./"],
  ])("%s is refused", async (_, url) => {
    const opened = await trackedBrokerage({ addresses: { localhost: ["127.0.0.1"] } });
    expect(textOf(await ask(opened.open(anyPage()), url))).toContain("which tools may not reach");
  });

  test.each([
    "https://user@page.test/",
    "https://user:password@page.test/",
    "https://@page.test/",
    "https://page.test\\@evil.test/",
    "https:page.test",
    "ftp://page.test/",
    "//page.test/",
  ])("%s is refused before anything is looked up", async (url) => {
    const opened = await trackedBrokerage({ lookup: () => Promise.reject(new Error("looked up")) });
    const told = textOf(await ask(opened.open(anyPage()), url));
    expect(told).toMatch(/^refused: /);
    expect(told).not.toContain("looked up");
  });

  test("a name that has a public and a private address is refused", async () => {
    const opened = await trackedBrokerage({ addresses: { "both.test": ["8.8.8.8", "192.168.0.1"] } });
    expect(textOf(await ask(opened.open(anyPage()), "https://both.test/"))).toContain(
      "both.test resolves to 192.168.0.1, a private address",
    );
  });

  test.each(["http://127.0.0.1/", "https://[::1]/", "http://inside.test/", "//10.0.0.1/", "http://0/"])(
    "a redirect to %s ends at the dial",
    async (location) => {
      const { server, opened, url } = await withServer(
        (_, response) => response.writeHead(302, { location }).end(),
        { addresses: { "api.test": ["127.0.0.1"], "inside.test": ["10.1.2.3"] } },
      );
      expect(textOf(await ask(opened.open(anyPage()), url))).toMatch(/Plain http|which tools may not reach/);
      expect(server.requests).toHaveLength(1);
    },
  );

  test("a file whose tool may read any page gets no private host by the way: a setting's is its own only", async () => {
    const settings = [{ name: "base_url", description: "A server.", format: "url" }];
    const { opened, url } = await withServer(undefined, { privateHosts: [] });
    const { host } = new URL(url);
    const allowlist = [{ host: { setting: "base_url" }, path_prefix: "/", methods: ["GET"] }];
    const choices = { settings: { base_url: url }, privateHosts: [host] };
    const chosen = opened.open({ allowlist }, { rest: { settings }, choices });
    expect(await ask(chosen, `${url}/x`)).toMatchObject({ ok: true });
    const unasked = { ...choices, privateHosts: [] };
    const refused = opened.open({ allowlist }, { rest: { settings }, choices: unasked });
    expect(textOf(await ask(refused, `${url}/x`))).toContain("Plain http to api.test");
    expect(textOf(await ask(opened.open(anyPage()), url))).toContain("Plain http to api.test");
  });
});

describe("servers that mean no good", () => {
  const told = async (answer: Answering, timeoutMs?: number) => {
    const { opened, url } = await withServer(answer);
    return textOf(await ask(opened.open(anyPage()), url, { timeoutMs }));
  };

  test("one that drips a byte at a time ends with the deadline", async () => {
    const dripping: Answering = (_, response) => {
      const timer = setInterval(() => response.write("."), 10);
      response.on("close", () => clearInterval(timer));
    };
    expect(await told(dripping, 300)).toContain("gave no complete answer within 0.3 seconds");
  });

  test("one that drips its headers ends with the deadline", async () => {
    const url = await rawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const timer = setInterval(() => socket.write("x-a: b\r\n"), 10);
      socket.on("close", () => clearInterval(timer));
    });
    expect(await url.told(300)).toContain("gave no complete answer within 0.3 seconds");
  });

  test("one that never ends is cut at 10 MiB", async () => {
    const chunk = Buffer.alloc(64 * 1024, "x");
    const endless: Answering = (_, response) => {
      const pour = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", pour);
      pour();
    };
    expect(await told(endless)).toContain("answered with more than 10485760 bytes");
  });

  test("one that says it sends more than it does, or less, is told apart from a whole answer", async () => {
    const short = await rawServer((socket) =>
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhello"),
    );
    expect(await short.told(5000)).toMatch(/^refused: The request to .* failed: /);
    const long = await rawServer((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhello"));
    expect(await long.told(5000)).toMatch(/^he$|^refused: The request to .* failed: /);
    const negative = await rawServer((socket) =>
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nhello"),
    );
    expect(await negative.told(5000)).toMatch(/^refused: The request to .* failed: /);
    const huge = await rawServer((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${2 ** 53}\r\n\r\nhello`),
    );
    expect(await huge.told(300)).toMatch(/gave no complete answer|more than 10485760 bytes|failed/);
  });

  test("one that answers 100,000 headers is refused", async () => {
    const headers = Array.from({ length: 100_000 }, (_, at) => `x-${at}: y\r\n`).join("");
    const many = await rawServer((socket) => socket.end(`HTTP/1.1 200 OK\r\n${headers}\r\nhello`));
    expect(await many.told(10_000)).toContain(
      "more than 16384 bytes of headers, which is the most that is read",
    );
  });

  test("one that answers no HTTP at all is a sentence", async () => {
    const noise = await rawServer((socket) => socket.end("\u0000\u0001 hello\r\n\r\n"));
    expect(await noise.told(5000)).toMatch(/^refused: The request to .* failed: /);
  });

  test.each([1, 2])("a gzip bomb, packed %i times, stops at the cap", async (times) => {
    let bomb: Buffer = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    for (let packed = 1; packed < times; packed++) bomb = gzipSync(bomb);
    const encoding = Array.from({ length: times }, () => "gzip").join(", ");
    const answer = await told((_, response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(bomb),
    );
    expect(answer).toMatch(/more than 10485760 bytes|in the encoding "gzip, gzip", which was not asked for/);
  });

  test("a body that is not packed as it says is a sentence", async () => {
    const answer = await told((_, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end("plain"),
    );
    expect(answer).toMatch(/^refused: The request to .* failed: /);
  });

  test("others are answered at their pace meanwhile", async () => {
    const { opened, url } = await withServer(({ path }, response) => {
      if (path === "/good") response.end("good");
    });
    const stuck = Array.from({ length: 10 }, () =>
      ask(opened.open(anyPage()), `${url}/bad`, { timeoutMs: 500 }),
    );
    expect(textOf(await ask(opened.open(anyPage(), { user: "bob" }), `${url}/good`))).toBe("good");
    for (const reply of await Promise.all(stuck)) expect(textOf(reply)).toContain("no complete answer");
  });
});

/** A server that writes bytes, not responses. */
async function rawServer(answer: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisTest(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  const { port } = server.address() as { port: number };
  const host = `127.0.0.1:${port}`;
  const opened = await openBrokerage({ privateHosts: [host] });
  afterThisTest(opened.close);
  return {
    told: async (timeoutMs: number) =>
      textOf(await ask(opened.open(anyPage()), `http://${host}/`, { timeoutMs })),
  };
}
