import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { head, statusLines } from "../../support/servers/raw-socket.ts";
import { OPERATOR_TOKEN, openGateway } from "../../support/services/gateway.ts";

/** Sends lines as they are, where fetch would tidy them up; answers the status line. */
async function sendRaw(url: string, lines: readonly string[]): Promise<string> {
  const [line = ""] = await statusLines(url, [head(...lines)], 1);
  return line;
}

test("odd addresses get an answer of the caller's fault, never 500", async () => {
  const gateway = await openGateway();
  const headers = ["Host: localhost", `Authorization: Bearer ${OPERATOR_TOKEN}`, "Connection: close"];
  const targets = [
    "/api/threads/%E0%A4%A",
    "/api/threads/%00",
    "/api/threads/%2e%2e%2fmemory",
    "//evil.example/api/status",
    "/api/../../etc/passwd",
    "/api/threads?limit=1&limit=2",
    "/api/memory?limit=-1",
    "/api/jobs?before=%27%3B--",
    "http://evil.example/api/nothing",
    "*",
  ];
  for (const target of targets) {
    const line = await sendRaw(gateway.url, [`GET ${target} HTTP/1.1`, ...headers]);
    expect([target, line]).toEqual([target, expect.stringMatching(/^HTTP\/1\.1 4\d\d /)]);
  }
});

test("odd upgrades are refused and the service goes on", async () => {
  const gateway = await openGateway();
  const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Host: localhost"];
  const signed = `Authorization: Bearer ${OPERATOR_TOKEN}`;
  const requests = [
    ["GET /elsewhere HTTP/1.1", ...upgrade, signed],
    ["GET /api/chat/ws HTTP/1.1", ...upgrade, signed],
    [
      "GET /api/chat/ws HTTP/1.1",
      ...upgrade,
      signed,
      "Sec-WebSocket-Key: short",
      "Sec-WebSocket-Version: 13",
    ],
    ["POST /api/chat/ws HTTP/1.1", ...upgrade, signed, "Content-Length: 0"],
    ["GET //// HTTP/1.1", ...upgrade],
    ["GET http://[ HTTP/1.1", ...upgrade],
  ];
  for (const lines of requests) expect(await sendRaw(gateway.url, lines)).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect((await gateway.ask("/api/status")).status).toBe(200);
});

test("a client that offers another protocol is answered in this one, as curl --http2 and Java's expect", async () => {
  const gateway = await openGateway();
  const offer = [
    "Connection: Upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
  ];
  const headers = ["Host: localhost", `Authorization: Bearer ${OPERATOR_TOKEN}`, ...offer];
  expect(await sendRaw(gateway.url, ["GET /api/status HTTP/1.1", ...headers])).toBe("HTTP/1.1 200 OK");
  const body = JSON.stringify({ message: "Hello" });
  const posted = ["Content-Type: application/json", `Content-Length: ${body.length}`, "", body];
  expect(await sendRaw(gateway.url, ["POST /api/chat/send HTTP/1.1", ...headers, ...posted])).toBe(
    "HTTP/1.1 202 Accepted",
  );
});

test("a request without a body, with null or with an empty body is 400 and says so", async () => {
  const gateway = await openGateway();
  for (const body of [undefined, null]) {
    const answer = await gateway.ask("/api/chat", { method: "POST", body });
    expect(answer.status).toBe(400);
    expect(answer.body.error.type).toBe("invalid_request_error");
  }
  const empty = await fetch(`${gateway.url}/api/chat`, {
    method: "POST",
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/json" },
    body: "",
  });
  expect(empty.status).toBe(400);
});

test("HEAD answers as GET does, without a body", async () => {
  const gateway = await openGateway();
  const answer = await fetch(`${gateway.url}/api/status`, {
    method: "HEAD",
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
  });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe("");
});

test("a body that is not compressed as it says, and a host that is none, are the caller's fault", async () => {
  const gateway = await openGateway();
  const packed = await fetch(`${gateway.url}/api/session`, {
    method: "POST",
    body: "xxxx",
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
  });
  expect(packed.status).toBe(415);
  expect(await sendRaw(gateway.url, ["GET /oauth/callback?state=x HTTP/1.1", "Host: ["])).toMatch(/ 4\d\d /);
});

test("a refused socket is closed by us, also where the client keeps its half open", async () => {
  const gateway = await openGateway();
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const lines = ["GET /api/chat/ws HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket"];
  socket.write(
    `${lines.join("\r\n")}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  );
  await once(socket.resume(), "end");
  // Once the other end is gone altogether, what we still write is answered by a reset.
  const gone = once(socket, "error");
  const writing = setInterval(() => socket.write("x"), 50);
  expect(String((await gone)[0])).toMatch(/EPIPE|ECONNRESET/);
  clearInterval(writing);
});
