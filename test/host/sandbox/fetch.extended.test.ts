/** `fetch` in a component, through the real host to a real server. */
import type { ServerResponse } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import type { Run } from "../../../host/calls/runner.ts";
import type { Answering } from "../../support/servers/upstream.ts";
import { trackedUpstream } from "../../support/services/brokerage.ts";
import { builtFixture } from "../../support/tools/components.ts";
import { BEARER, install, toolHost } from "../../support/tools/tool-host.ts";
import { afterThisFile } from "../../support/undo.ts";

interface Sent {
  readonly url: string;
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The pieces of a body that is a stream. */
  readonly pieces?: readonly string[];
  readonly unread?: boolean;
}

interface Answered {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Its length where it is long. */
  readonly text?: string | number;
  readonly error?: string;
}

interface Options {
  readonly http?: object;
  readonly more?: object;
  readonly token?: string;
}

// One host for all tests, so that the engine is started once; each test has a tool and a server of its own.
const later = afterThisFile();
const privateHosts = new Set<string>();
let tokenOfTest: string | undefined;
const variable = (name: string) => (name === "PROBE_TOKEN" ? tokenOfTest : undefined);
let host: Awaited<ReturnType<typeof toolHost>>;
beforeAll(async () => {
  host = await toolHost({ privateHosts, variable, later });
});
let tools = 0;

/** The fetching tool, and a server that it may ask below /v1/. */
async function fetching(answer?: Answering, { http, more, token }: Options = {}) {
  const server = await trackedUpstream(answer);
  privateHosts.add(`127.0.0.1:${server.port}`);
  tokenOfTest = token;
  const name = `fetcher-${tools++}`;
  const capabilities = {
    version: "1.0.0",
    wit_version: "0.1.0",
    http: {
      allowlist: [{ host: "127.0.0.1", path_prefix: "/v1/", methods: ["GET", "HEAD", "POST"] }],
      ...http,
    },
    ...more,
  };
  await install(host, name, await builtFixture("fetcher.js"), JSON.stringify(capabilities));
  const run = (requests: readonly Sent[], more: object = {}): Promise<Run> =>
    host.run({ id: "call", name, params: JSON.stringify({ requests, ...more }) }, { user: "operator" });
  return {
    server,
    url: `http://127.0.0.1:${server.port}/v1`,
    run,
    async send(...requests: readonly Sent[]): Promise<readonly Answered[]> {
      return answersOf(await run(requests));
    },
  };
}

function answersOf({ outcome }: Run): readonly Answered[] {
  if (outcome.status !== "ok") throw new Error(`the call failed: ${JSON.stringify(outcome)}`);
  return JSON.parse(outcome.output).answers;
}

const WITH_TOKEN = {
  http: { credentials: BEARER.credentials },
  more: { auth: { ...BEARER.auth, env_var: "PROBE_TOKEN" } },
  token: "planted-token-value",
};

describe("fetch", () => {
  test("answers with status, headers and body, and the receipt has the request", async () => {
    const { server, url, run } = await fetching((_, response) =>
      response.writeHead(418, { "X-Kind": "teapot", "Set-Cookie": "a=b" }).end("short and stout ☕"),
    );
    const ran = await run([{ url: `${url}/a?b=c%20d`, headers: { "X-A": "1", Host: "evil.test" } }]);
    expect(answersOf(ran)).toMatchObject([
      { status: 418, headers: { "x-kind": "teapot" }, text: "short and stout ☕" },
    ]);
    expect(answersOf(ran)[0]?.headers).not.toHaveProperty("set-cookie");
    const headers = { "x-a": "1", host: `127.0.0.1:${server.port}` };
    expect(server.requests).toMatchObject([{ method: "GET", path: "/v1/a?b=c%20d", headers }]);
    expect(Object.keys(server.requests[0]?.headers ?? {}).filter((name) => /postern/.test(name))).toEqual([]);
    expect(ran.receipt?.requests).toMatchObject([
      { method: "GET", host: `127.0.0.1:${server.port}`, status: 418, credentials: [] },
    ]);
  });

  test("redirects are followed where the file says so, and the response knows its address", async () => {
    const { url, send } = await fetching(
      ({ path }, response) => {
        if (path === "/v1/to") response.end("there");
        else if (path === "/v1/lies")
          response.writeHead(200, { "postern-url": "https://evil.test/" }).end("here");
        else response.writeHead(302, { location: path === "/v1/out" ? "/v2/x" : "/v1/to" }).end();
      },
      { http: { redirects: true } },
    );
    const answers = await send({ url: `${url}/from` }, { url: `${url}/out` }, { url: `${url}/lies` });
    expect(answers).toMatchObject([
      { status: 200, text: "there", headers: { from: `${url}/to` } },
      { error: expect.stringMatching(/^TypeError: The path "\/v2\/x" of 127\.0\.0\.1 is not allowed/) },
      { status: 200, text: "here" },
    ]);
    expect(answers[2]?.headers).not.toHaveProperty("from");
  });

  test("a tool that may read any page does so with plain fetch", async () => {
    const allowlist = [{ host: "*", path_prefix: "/", methods: ["GET", "HEAD"] }];
    const rate_limit = { requests_per_minute: 30, requests_per_hour: 300 };
    const { server, url, send } = await fetching(undefined, { http: { allowlist, rate_limit } });
    const inside = "http://169.254.169.254/latest/meta-data/";
    expect(
      await send(
        { url, headers: { Accept: "text/html" } },
        { url: inside },
        { url, headers: { "X-A": "1" } },
      ),
    ).toMatchObject([
      { status: 200, text: "ok" },
      {
        error: expect.stringContaining("169.254.169.254 is a link-local address, which tools may not reach"),
      },
      {
        error: expect.stringContaining("The header x-a is not allowed in a request for any public web page"),
      },
    ]);
    expect(server.requests).toMatchObject([
      { headers: { accept: "text/html", "user-agent": expect.stringMatching(/^Postern\//) } },
    ]);
  });

  test("an answer without a body is one, too", async () => {
    const { url, send } = await fetching(({ path }, response) =>
      response
        .writeHead(path === "/v1/none" ? 204 : 200, { "content-length": path === "/v1/none" ? 0 : 7 })
        .end(),
    );
    expect(
      await send(
        { url: `${url}/none` },
        { url: `${url}/none`, method: "POST", body: "x" },
        { url: `${url}/a`, method: "HEAD" },
      ),
    ).toMatchObject([
      { status: 204, text: "" },
      { status: 204, text: "" },
      { status: 200, text: "", headers: { "content-length": "7" } },
    ]);
  });

  test("ten requests of one Promise.all are under way together", async () => {
    const waiting: ServerResponse[] = [];
    const { url, send } = await fetching((_, response) => {
      waiting.push(response);
      if (waiting.length === 10) for (const one of waiting) one.end("ok");
    });
    const answers = await send(...Array.from({ length: 10 }, (_, at) => ({ url: `${url}/${at}` })));
    expect(answers).toEqual(Array.from({ length: 10 }, () => expect.objectContaining({ text: "ok" })));
  });

  test("calls that wait at the same time do not get each other's answers", async () => {
    const waiting: [path: string, response: ServerResponse][] = [];
    const { url, send } = await fetching(({ path }, response) => {
      waiting.push([path, response]);
      if (waiting.length === 6) for (const [own, one] of waiting.toReversed()) one.end(own);
    });
    const calls = ["a", "b", "c"].map((name) => send({ url: `${url}/${name}1` }, { url: `${url}/${name}2` }));
    expect((await Promise.all(calls)).map((answers) => answers.map(({ text }) => text))).toEqual(
      ["a", "b", "c"].map((name) => [`/v1/${name}1`, `/v1/${name}2`]),
    );
  });

  test("a body is sent whole, as a text or piece by piece", async () => {
    const { server, url, send } = await fetching();
    const pieces = Array.from({ length: 50 }, (_, at) => `${at}.`.repeat(1000));
    await send(
      { url: `${url}/a`, method: "POST", body: '{"ä":1}', headers: { "content-type": "application/json" } },
      { url: `${url}/b`, method: "POST", pieces },
    );
    const received = server.requests.toSorted((a, b) => a.path.localeCompare(b.path));
    expect(received).toMatchObject([
      { method: "POST", body: '{"ä":1}', headers: { "content-type": "application/json" } },
      { method: "POST", body: pieces.join("") },
    ]);
  });

  test("a body over 1 MiB is not sent, and an answer over 10 MiB not read", async () => {
    const { server, url, send } = await fetching(({ path }, response) =>
      response.end(Buffer.alloc(path === "/v1/large" ? 11 << 20 : 3 << 20, "x")),
    );
    expect(await send({ url, method: "POST", body: "x".repeat((1 << 20) + 1) })).toEqual([
      { error: "TypeError: The request body is over 1 MiB: nothing was sent." },
    ]);
    expect(server.requests).toEqual([]);
    expect(await send({ url: `${url}/large` }, { url: `${url}/fits` })).toMatchObject([
      { error: expect.stringContaining("answered with more than 10485760 bytes") },
      { text: 3 << 20 },
    ]);
  });

  test("answers that nobody reads take no more than 32 MiB", async () => {
    const { url, run } = await fetching((_, response) => response.end(Buffer.alloc(9 << 20)));
    const requests = Array.from({ length: 4 }, () => ({ url: `${url}/a`, unread: true }));
    const answers = answersOf(await run(requests, { oneByOne: true }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, undefined]);
    expect(answers[3]?.error).toContain("The answers that this call has not read yet are over 32 MiB");
    // The next call has all of the room again.
    expect(answersOf(await run(requests.slice(1), { oneByOne: true }))[2]?.status).toBe(200);
  });

  test("what is not allowed rejects with the reason, and is not sent", async () => {
    const { server, url, run } = await fetching();
    const ran = await run([
      { url: "https://evil.test/v1/" },
      { url: url.replace("/v1", "/v2") },
      { url: `${url}/a`, method: "DELETE" },
      { url: "https://127.0.0.1/v1/" },
      { url: `${url}/a`, headers: { "X-HTTP-Method-Override": "DELETE" } },
      { url: url.replace("http:", "ftp:") },
    ]);
    const errors = answersOf(ran).map(({ error }) => error ?? "none");
    expect(errors[0]).toBe("TypeError: The host evil.test is not in the tool's allowlist (127.0.0.1).");
    expect(errors[1]).toContain('The path "/v2" of 127.0.0.1 is not allowed; allowed: /v1/');
    expect(errors[2]).toContain('"DELETE" is not allowed');
    expect(errors[3]).toContain("127.0.0.1 is a loopback address, which tools may not reach");
    expect(errors[4]).toContain("set by Postern and cannot be given");
    expect(errors[5]).toMatch(/^TypeError/);
    expect(server.requests).toEqual([]);
    expect(ran.receipt?.requests.slice(0, 5).every(({ error }) => error !== undefined)).toBe(true);
  });

  test("a redirect is not followed: it rejects, and says where it pointed", async () => {
    const { server, url, send } = await fetching((_, response) =>
      response.writeHead(302, { location: "https://evil.test/x" }).end(),
    );
    const [answer] = await send({ url: `${url}/a` });
    expect(answer?.error).toMatch(
      /^TypeError: .* 302 with a redirect to evil\.test, and redirects are not followed/,
    );
    expect(server.requests).toHaveLength(1);
  });

  test("the rate limit and the fifty requests of a call count for it too", async () => {
    const limited = await fetching(undefined, {
      http: { rate_limit: { requests_per_minute: 2, requests_per_hour: 100 } },
    });
    const requests = Array.from({ length: 3 }, () => ({ url: `${limited.url}/a` }));
    const answers = answersOf(await limited.run(requests, { oneByOne: true }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, undefined]);
    expect(answers[2]?.error).toMatch(/^TypeError: rate_limit_exceeded: /);

    const generous = await fetching(undefined, {
      http: { rate_limit: { requests_per_minute: 1000, requests_per_hour: 1000 } },
    });
    const many = await generous.send(...Array.from({ length: 51 }, () => ({ url: `${generous.url}/a` })));
    expect(many.filter(({ status }) => status === 200)).toHaveLength(50);
    expect(many.flatMap(({ error }) => error ?? [])).toEqual([
      "TypeError: A call may send at most 50 requests; this one has.",
    ]);
    expect(generous.server.requests).toHaveLength(50);
  });

  test("Postern places the credential, refuses to send it anywhere else, and scrubs it from what comes back", async () => {
    const { server, url, run } = await fetching(
      ({ headers }, response) =>
        response
          .writeHead(200, { "X-Echo": String(headers.authorization) })
          .end(`you are ${headers.authorization}`),
      WITH_TOKEN,
    );
    const ran = await run([{ url: `${url}/a` }]);
    expect(server.requests[0]?.headers.authorization).toBe("Bearer planted-token-value");
    expect(answersOf(ran)).toMatchObject([
      { headers: { "x-echo": "Bearer [secret]" }, text: "you are Bearer [secret]" },
    ]);
    expect(ran.receipt?.requests).toMatchObject([{ credentials: ["probe_token"] }]);
    expect(JSON.stringify(ran)).not.toContain("planted-token-value");

    const refused = await run([
      { url: `${url}/b`, headers: { Authorization: "Bearer mine" } },
      { url: `${url}/c`, method: "POST", body: "it is planted-token-value" },
      { url: `${url}/d`, method: "POST", pieces: ["it is planted-", "token-value"] },
    ]);
    const errors = answersOf(refused).map(({ error }) => error);
    expect(errors[0]).toContain("is where Postern puts `probe_token`; the tool may not set it");
    expect(errors.slice(1)).toEqual([
      expect.stringContaining("carries the value of a secret: nothing was sent"),
      expect.stringContaining("carries the value of a secret: nothing was sent"),
    ]);
    expect(server.requests).toHaveLength(1);
  });

  test("a call that waits ends at its deadline, and the request with it", async () => {
    const closed = Promise.withResolvers<void>();
    const { url, run } = await fetching((_, response) => void response.on("close", closed.resolve), {
      more: { limits: { timeout_secs: 10 } },
    });
    const { outcome, receipt } = await run([{ url: `${url}/never` }]);
    expect(outcome).toMatchObject({ status: "error", code: "timeout" });
    expect(receipt?.requests).toMatchObject([{ method: "GET", error: expect.stringMatching(/./) }]);
    await closed.promise;
  });

  test("the next call starts clean", async () => {
    const { url, run } = await fetching();
    for (let round = 0; round < 3; round++) {
      const { outcome } = await run([{ url: `${url}/a` }]);
      expect(JSON.parse(outcome.status === "ok" ? outcome.output : "{}")).toMatchObject({ calls: 1 });
    }
  });
});
