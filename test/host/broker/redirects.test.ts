/** Redirects that a capabilities file asks for: each hop is held against everything that a first request is. */
import { describe, expect, test } from "vitest";
import type { Upstream } from "../../support/servers/upstream.ts";
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

const following = (...hosts: string[]) => ({
  allowlist: hosts.map((host) => ({
    host,
    path_prefix: "/",
    methods: ["GET", "POST", "PUT", "HEAD", "PROPFIND", "PROPPATCH", "REPORT"],
  })),
  redirects: true,
});

const pathsOf = ({ requests }: Upstream) => requests.map(({ method, path }) => `${method} ${path}`);

test("five redirects are followed, and the reply says where it came from; each is in the record", async () => {
  const { server, opened, url } = await withServer(({ path }, response) => {
    const at = Number(path.slice(1));
    if (at === 5) response.end("there");
    else response.writeHead(302, { location: `/${at + 1}` }).end();
  });
  const call = opened.open(following("api.test"));
  const reply = await ask(call, `${url}/0`);
  expect(reply).toMatchObject({ ok: true, status: 200, url: `${url}/5` });
  expect(textOf(reply)).toBe("there");
  expect(call.traffic.map(({ status }) => status)).toEqual([302, 302, 302, 302, 302, 200]);
  expect(server.requests).toHaveLength(6);
});

test("a sixth redirect is refused, and so is a circle", async () => {
  const { server, opened, url } = await withServer((_, response) =>
    response.writeHead(301, { location: "/again" }).end(),
  );
  expect(textOf(await ask(opened.open(following("api.test")), url))).toMatch(
    /^refused: api\.test:\d+ redirects more than 5 times\.$/,
  );
  expect(server.requests).toHaveLength(6);
});

test("a reply without redirects says no address", async () => {
  const { opened, url } = await withServer();
  expect(await ask(opened.open(following("api.test")), url)).not.toHaveProperty("url");
});

test.each([
  ["https://evil.test/", "The host evil.test is not in the tool's allowlist (api.test)."],
  ["http://api.test:81/", "Plain http to api.test:81 is not allowed"],
  ["https://user:pass@api.test/", "user information before the host"],
  ["file:///etc/passwd", "The scheme file: is not allowed"],
  ["javascript:alert(1)", '"javascript:alert(1)" is not an absolute URL.'],
  ["https://", "redirects to something that is no URL"],
])("a redirect to %s is refused by name", async (location, why) => {
  const { server, opened, url } = await withServer((_, response) =>
    response.writeHead(302, { location }).end(),
  );
  expect(textOf(await ask(opened.open(following("api.test")), url))).toContain(why);
  expect(server.requests).toHaveLength(1);
});

test.each(["PROPFIND", "REPORT"])(
  "a %s is not repeated at a host that the file does not name",
  async (method) => {
    const { server, opened, url } = await withServer((_, response) =>
      response.writeHead(301, { location: "https://evil.test/" }).end(),
    );
    const call = opened.open(following("api.test"));
    expect(textOf(await ask(call, url, { method, body: "text" }))).toContain("The host evil.test is not in");
    expect(server.requests).toHaveLength(1);
  },
);

test("a path and a method are held against the allowlist at every hop", async () => {
  const http = {
    redirects: true,
    allowlist: [
      { host: "api.test", path_prefix: "/v1/", methods: ["GET", "POST"] },
      { host: "api.test", path_prefix: "/read/", methods: ["GET"] },
    ],
  };
  const { opened, url } = await withServer(({ path }, response) =>
    response.writeHead(307, { location: path === "/v1/out" ? "/v2/secret" : "/read/x" }).end(),
  );
  expect(textOf(await ask(opened.open(http), `${url}/v1/out`))).toContain('The path "/v2/secret"');
  expect(textOf(await ask(opened.open(http), `${url}/v1/write`, { method: "POST", body: "x" }))).toContain(
    '"POST" is not allowed at api.test/read/x',
  );
});

test.each([
  [301, "POST", "GET", ""],
  [302, "POST", "GET", ""],
  [303, "POST", "GET", ""],
  [303, "PUT", "GET", ""],
  [303, "HEAD", "HEAD", ""],
  [301, "PUT", "PUT", "text"],
  [307, "POST", "POST", "text"],
  [308, "POST", "POST", "text"],
  [301, "PROPFIND", "PROPFIND", "text"],
  [302, "REPORT", "REPORT", "text"],
  [303, "PROPFIND", "GET", ""],
  [307, "PROPFIND", "PROPFIND", "text"],
  [307, "PROPPATCH", "PROPPATCH", "text"],
] as const)("a %i after %s asks with %s, as browsers do", async (status, method, then, body) => {
  const { server, opened, url } = await withServer(({ path }, response) => {
    if (path === "/to") response.end();
    else response.writeHead(status, { location: "/to" }).end();
  });
  const headersJson = '{"content-type":"text/plain","x-a":"1"}';
  const sent = { method, headersJson, ...(method !== "HEAD" && { body: "text" }) };
  const call = opened.open(following("api.test"));
  expect((await ask(call, `${url}/from`, sent)).ok).toBe(true);
  expect(call.traffic.map(({ writes = false }) => writes)).toEqual(
    [method, then].map((sentBy) => ["POST", "PUT", "PROPPATCH"].includes(sentBy)),
  );
  expect(pathsOf(server)).toEqual([`${method} /from`, `${then} /to`]);
  expect(server.requests[1]).toMatchObject({ body, headers: { "x-a": "1" } });
  expect(server.requests[1]?.headers["content-type"]).toBe(
    body === "" && then === "GET" ? undefined : "text/plain",
  );
});

describe("credentials", () => {
  async function twoHosts(answer: (host: string, path: string) => string | undefined) {
    const server = await trackedUpstream(({ path, headers }, response) => {
      const location = answer(headers.host ?? "", path);
      if (location === undefined) response.end("ok");
      else response.writeHead(302, { location }).end();
    });
    const names = ["api.test", "b.test"];
    const hosts = names.map((name) => `${name}:${server.port}`);
    const addresses = Object.fromEntries(names.map((name) => [name, ["127.0.0.1"]]));
    const opened = await trackedBrokerage({ privateHosts: hosts, addresses });
    await opened.vault.secrets.set("token", "a-value-of-a-secret");
    const http = {
      ...credential({ type: "bearer" }),
      ...following("api.test", "b.test"),
      redirects: true,
    };
    return { server, opened, http, at: (name: string) => `http://${name}:${server.port}` };
  }

  test("one goes only to its own host, at every hop", async () => {
    const { server, opened, http, at } = await twoHosts((host, path) => {
      if (path === "/1") return `${at("b.test")}/2`;
      return host.startsWith("b.") ? `${at("api.test")}/3` : undefined;
    });
    const call = opened.open(http);
    expect(await ask(call, `${at("api.test")}/1`)).toMatchObject({ ok: true, url: `${at("api.test")}/3` });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer a-value-of-a-secret",
      undefined,
      "Bearer a-value-of-a-secret",
    ]);
    expect(call.traffic.map(({ credentials }) => credentials)).toEqual([["token"], [], ["token"]]);
  });

  test("a server that puts it into the address of a redirect gets it nowhere", async () => {
    const { server, opened, http, at } = await twoHosts(() => `${at("b.test")}/?t=a-value-of-a-secret`);
    const reply = textOf(await ask(opened.open(http), at("api.test")));
    expect(reply).toContain("The request carries the value of a secret: nothing was sent.");
    expect(reply).not.toContain("a-value");
    expect(server.requests).toHaveLength(1);
  });

  test("what the tool signed in with by itself does not go to another origin", async () => {
    const { server, opened, at } = await twoHosts((host) =>
      host.startsWith("b.") ? undefined : `${at("b.test")}/`,
    );
    const headersJson = '{"authorization":"Basic own","cookie":"a=b","x-a":"1"}';
    await ask(opened.open(following("api.test", "b.test")), at("api.test"), { headersJson });
    expect(server.requests[0]?.headers).toMatchObject({ authorization: "Basic own", cookie: "a=b" });
    expect(server.requests[1]?.headers).toMatchObject({ "x-a": "1" });
    expect(server.requests[1]?.headers).not.toHaveProperty("authorization");
    expect(server.requests[1]?.headers).not.toHaveProperty("cookie");
  });
});

test("each hop counts for the rate limit", async () => {
  const { server, opened, url } = await withServer((_, response) =>
    response.writeHead(302, { location: "/" }).end(),
  );
  const http = { ...following("api.test"), rate_limit: { requests_per_minute: 3, requests_per_hour: 9 } };
  expect(textOf(await ask(opened.open(http), url))).toContain("rate_limit_exceeded");
  expect(server.requests).toHaveLength(3);
});

test("the time of a request is that of all its hops", async () => {
  const { opened, url } = await withServer(({ path }, response) => {
    if (path === "/") response.writeHead(302, { location: "/slow" }).end();
  });
  expect(textOf(await ask(opened.open(following("api.test")), url, { timeoutMs: 300 }))).toContain(
    "gave no complete answer within 0.",
  );
});

test("a check of addresses is asked for each hop, with where it comes from, and can refuse one", async () => {
  const { server, opened, url } = await withServer(({ path }, response) => {
    if (path === "/2") response.end();
    else response.writeHead(302, { location: path === "/" ? "/1" : "/2" }).end();
  });
  const asked: unknown[] = [];
  const call = opened.open(following("api.test"), {
    checkAddress(address) {
      asked.push(address);
      return address.url.endsWith("/2") ? "A person has to be asked about this address." : undefined;
    },
  });
  expect(textOf(await ask(call, url))).toBe("refused: A person has to be asked about this address.");
  expect(asked).toEqual([
    { url: `${url}/` },
    { url: `${url}/1`, from: `${url}/` },
    { url: `${url}/2`, from: `${url}/1` },
  ]);
  expect(pathsOf(server)).toEqual(["GET /", "GET /1"]);
});

test("a recording keeps where the reply came from, and a replay says it", async () => {
  const { playBack, recordTo, readRecording } = await import("../../../host/broker/recording.ts");
  const { opened, url } = await withServer(({ path }, response) => {
    if (path === "/to") response.end("there");
    else response.writeHead(302, { location: "/to" }).end();
  });
  const file = `${opened.home}/tape.json`;
  const tape = recordTo(file, {}, (text) => text);
  await ask(opened.open(following("api.test"), { tape }), `${url}/from`);
  const again = await openBrokerage({ privateHosts: [new URL(url).host] });
  const player = playBack(await readRecording(file), file);
  expect(await ask(again.open(following("api.test"), { tape: player }), `${url}/from`)).toMatchObject({
    ok: true,
    url: `${url}/to`,
  });
  await again.close();
});

test("without `redirects` they are refused, and the sentence says how to have them followed", async () => {
  const { server, opened, url } = await withServer((_, response) =>
    response.writeHead(302, { location: "/to" }).end(),
  );
  expect(textOf(await ask(opened.open(everywhere("api.test")), url))).toMatch(
    /redirects are not followed\. Ask that address itself, .* or set "redirects": true/,
  );
  expect(server.requests).toHaveLength(1);
});
