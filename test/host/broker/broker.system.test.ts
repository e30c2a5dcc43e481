import { describe, expect, test } from "vitest";
import { openUpstream } from "../../support/servers/upstream.ts";
import {
  ask,
  credential,
  everywhere,
  openBrokerage,
  textOf,
  trackedBrokerage,
  trackedUpstream,
  withServer,
} from "../../support/services/brokerage.ts";

describe("a request that is allowed", () => {
  test("§4.4 is sent as the tool wrote it, and answers status and body", async () => {
    const { server, opened, url } = await withServer((_, response) =>
      response.writeHead(418).end("short and stout"),
    );
    const call = opened.open(everywhere("api.test"));
    const reply = await ask(call, `${url}/a?b=c%20d`, {
      method: "POST",
      headersJson: '{"X-A":"1"}',
      body: "hello",
    });
    expect(reply).toMatchObject({ ok: true, status: 418 });
    expect(textOf(reply)).toBe("short and stout");
    expect(server.requests).toMatchObject([
      {
        method: "POST",
        path: "/a?b=c%20d",
        headers: { "x-a": "1", host: `api.test:${server.port}` },
        body: "hello",
      },
    ]);
    expect(call.traffic).toMatchObject([
      { method: "POST", host: `api.test:${server.port}`, status: 418, bytes: 15, credentials: [] },
    ]);
  });

  test("§4.4 an unlisted host is blocked before anything is looked up, and the refusal is in the record", async () => {
    const opened = await trackedBrokerage({ lookup: () => Promise.reject(new Error("looked up")) });
    const call = opened.open(everywhere("api.test"));
    expect(textOf(await ask(call, "https://evil.test/"))).toBe(
      "refused: The host evil.test is not in the tool's allowlist (api.test).",
    );
    expect(call.traffic).toMatchObject([
      { host: "evil.test", bytes: 0, error: expect.stringContaining("allowlist") },
    ]);
  });

  test("a call may send 50 requests", async () => {
    const { server, opened, url } = await withServer();
    const call = opened.open(everywhere("api.test"));
    for (let count = 0; count < 50; count++) expect((await ask(call, url)).ok).toBe(true);
    expect(textOf(await ask(call, url))).toContain("at most 50 requests");
    expect(server.requests).toHaveLength(50);
    expect(call.traffic).toHaveLength(50);
  });
});

describe("requests side by side", () => {
  test("answers that are together over 32 MiB are refused, and the room comes back", async () => {
    const begun: (() => void)[] = [];
    const { opened, url } = await withServer(({ path }, response) => {
      response.write(Buffer.alloc(9 << 20));
      if (path === "/last") response.end();
      else begun.push(() => response.end());
    });
    const call = opened.open(everywhere("api.test"));
    const replies = Array.from({ length: 4 }, () => ask(call, url));
    const first = await Promise.race(replies);
    expect(textOf(first)).toMatch(/^refused: The answer of api\.test:\d+ does not fit beside those/);
    for (const end of begun) end();
    const all = await Promise.all(replies);
    expect(all.filter(({ ok }) => ok)).toHaveLength(3);
    expect(await ask(call, `${url}/last`)).toMatchObject({ ok: true });
  });
});

describe("addresses", () => {
  test.each([
    "127.0.0.1",
    "10.0.0.5",
    "169.254.169.254",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "0.0.0.0",
    "fd00:ec2::254",
  ])("a name that resolves to %s is refused", async (address) => {
    const opened = await trackedBrokerage({ addresses: { "api.test": [address] } });
    expect(textOf(await ask(opened.open(everywhere("api.test")), "https://api.test/"))).toContain(
      `api.test resolves to ${address}`,
    );
  });

  test.each([
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
  ])("the literal %s is refused even when the capabilities list it", async (url) => {
    const opened = await trackedBrokerage();
    const { hostname } = new URL(url);
    expect(textOf(await ask(opened.open(everywhere(hostname)), url))).toContain("which tools may not reach");
  });

  test("the address that was checked is the one that is dialled: the name service is asked once", async () => {
    const answers = ["8.8.8.8", "127.0.0.1", "127.0.0.1"];
    let asked = 0;
    const opened = await trackedBrokerage({
      lookup: async () => [{ address: answers[asked++] ?? "127.0.0.1", family: 4 }],
    });
    const reply = await ask(opened.open(everywhere("api.test")), "https://api.test/", { timeoutMs: 300 });
    expect(reply.ok).toBe(false);
    expect(asked).toBe(1);
  });

  test("an excepted host is dialled where the lookup said, not where the system would look", async () => {
    const { server, opened, url } = await withServer();
    expect((await ask(opened.open(everywhere("api.test")), url)).ok).toBe(true);
    expect(server.requests).toHaveLength(1);
  });
});

describe("redirects", () => {
  test.each([301, 302, 303, 307, 308])(
    "a %i to another host is refused by name and not followed",
    async (status) => {
      const other = await trackedUpstream();
      const { opened, url } = await withServer((_, response) =>
        response.writeHead(status, { location: `http://127.0.0.1:${other.port}/x` }).end(),
      );
      const reply = await ask(opened.open(everywhere("api.test")), url);
      expect(textOf(reply)).toContain(
        `a redirect to 127.0.0.1:${other.port}, and redirects are not followed`,
      );
      expect(other.requests).toHaveLength(0);
    },
  );

  test("a redirect to the same host is not followed either", async () => {
    const { server, opened, url } = await withServer((_, response) =>
      response.writeHead(302, { location: "/elsewhere" }).end(),
    );
    expect(textOf(await ask(opened.open(everywhere("api.test")), url))).toContain(
      "redirects are not followed",
    );
    expect(server.requests).toHaveLength(1);
  });
});

describe("bounds", () => {
  test("a body that comes too slowly ends at the timeout the tool asked for", async () => {
    const { opened, url } = await withServer((_, response) => {
      const timer = setInterval(() => response.write("."), 20);
      response.on("close", () => clearInterval(timer));
    });
    expect(textOf(await ask(opened.open(everywhere("api.test")), url, { timeoutMs: 250 }))).toContain(
      "gave no complete answer within 0.25 seconds",
    );
  });

  test("a server that never answers ends at the capabilities' timeout, and nothing is sent after the call's deadline", async () => {
    const { opened, url } = await withServer(() => {});
    const http = { ...everywhere("api.test"), timeout_secs: 1 };
    expect(textOf(await ask(opened.open(http), url, { timeoutMs: 60_000 }))).toContain("within 1 seconds");
    expect(textOf(await ask(opened.open(http, { millis: -1 }), url))).toContain("The time of the call is up");
  });

  test("a call that is cancelled stops waiting", async () => {
    const { server, opened, url } = await withServer(() => {});
    const controller = new AbortController();
    const reply = ask(opened.open(everywhere("api.test")), url, { signal: controller.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort();
    expect(textOf(await reply)).toBe("refused: The call was cancelled.");
  });

  test("a request under way is in the record, with its credentials, and is completed there", async () => {
    const { server, opened, url } = await withServer(() => {});
    await opened.vault.secrets.set("token", "a-value-of-a-secret");
    const call = opened.open(credential({ type: "bearer" }));
    const reply = ask(call, url, { timeoutMs: 2000 });
    await expect.poll(() => server.requests.length).toBe(1);
    expect(call.traffic).toMatchObject([
      { method: "GET", error: "The call ended before an answer came.", bytes: 0, credentials: ["token"] },
    ]);
    await reply;
    expect(call.traffic).toMatchObject([{ error: expect.stringContaining("gave no complete answer") }]);
  });

  test("an endless body is cut at 10 MiB", async () => {
    const closed = Promise.withResolvers<void>();
    const { opened, url } = await withServer((_, response) => {
      const chunk = Buffer.alloc(64 * 1024, "x");
      const pour = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", pour).on("close", closed.resolve);
      pour();
    });
    expect(textOf(await ask(opened.open(everywhere("api.test")), url))).toContain("more than 10485760 bytes");
    await closed.promise;
  });

  test("a body of exactly 10 MiB passes", async () => {
    const { opened, url } = await withServer((_, response) =>
      response.end(Buffer.alloc(10 * 1024 * 1024, "y")),
    );
    const reply = await ask(opened.open(everywhere("api.test")), url);
    expect(reply.ok && reply.body.byteLength).toBe(10 * 1024 * 1024);
  });

  test("what nobody listens to is a sentence that names the host", async () => {
    const server = await openUpstream();
    await server.close();
    const host = `api.test:${server.port}`;
    const opened = await trackedBrokerage({ privateHosts: [host], addresses: { "api.test": ["127.0.0.1"] } });
    expect(textOf(await ask(opened.open(everywhere("api.test")), `http://${host}/`))).toMatch(
      /^refused: The request to api\.test:\d+ failed: .*ECONNREFUSED/,
    );
  });
});

describe("rate limits", () => {
  const limited = { ...everywhere("api.test"), rate_limit: { requests_per_minute: 2, requests_per_hour: 3 } };

  test("§4.4 the request over the limit is refused at once and says when to try again", async () => {
    const { server, opened, url } = await withServer();
    const call = opened.open(limited);
    await ask(call, url);
    await ask(call, url);
    expect(textOf(await ask(call, url))).toMatch(
      /^refused: rate_limit_exceeded: The rate limit of 2 requests a minute is reached; next request in \d+ s\.$/,
    );
    expect(server.requests).toHaveLength(2);
  });

  test("§4.4 an hour's limit says hour, also where it is as large as a minute's or smaller", async () => {
    for (const requests_per_minute of [2, 5]) {
      const { opened, url } = await withServer();
      const call = opened.open({
        ...everywhere("api.test"),
        rate_limit: { requests_per_minute, requests_per_hour: 2 },
      });
      await ask(call, url);
      await ask(call, url);
      expect(textOf(await ask(call, url))).toMatch(
        /The rate limit of 2 requests an hour is reached; next request in \d+ min/,
      );
    }
  });

  test("users and tools are counted apart, calls of one user together", async () => {
    const { opened, url } = await withServer();
    for (let count = 0; count < 2; count++) await ask(opened.open(limited), url);
    expect((await ask(opened.open(limited), url)).ok).toBe(false);
    expect((await ask(opened.open(limited, { user: "grace" }), url)).ok).toBe(true);
    expect((await ask(opened.open(limited, { tool: "other" }), url)).ok).toBe(true);
  });

  test("counts are kept over a restart", async () => {
    const server = await trackedUpstream();
    const host = `api.test:${server.port}`;
    const options = { privateHosts: [host], addresses: { "api.test": ["127.0.0.1"] } };
    const first = await openBrokerage(options);
    for (let count = 0; count < 2; count++) await ask(first.open(limited), `http://${host}/`);
    await first.network.close();
    await first.store.close();
    const second = await trackedBrokerage({ ...options, home: first.home });
    expect(textOf(await ask(second.open(limited), `http://${host}/`))).toContain("rate_limit_exceeded");
  });

  test("what the policy refuses is not counted", async () => {
    const { opened, url } = await withServer();
    const call = opened.open(limited);
    for (let count = 0; count < 5; count++) await ask(call, "https://evil.test/");
    expect((await ask(call, url)).ok).toBe(true);
  });
});
