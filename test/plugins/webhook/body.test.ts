/** Bodies of undeclared length, and what is left on a connection after one is refused. */
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { chunk, head, LAST_CHUNK, statusLines } from "../../support/servers/raw-socket.ts";
import { bootWebhook, SECRET } from "../../support/services/webhook.ts";

const CHUNKED = { "transfer-encoding": "chunked" };
const LONG = "x".repeat(2 ** 20);
const HELLO = JSON.stringify({ user_id: "ada", message: "hello" });

test.for([
  ["no content type", { "content-type": "" }],
  ["a content type that is none", { "content-type": "nonsense" }],
  ["a form", { "content-type": "multipart/form-data; boundary=b" }],
  ["a compressed body", { "content-encoding": "gzip" }],
] as const)("%s of undeclared length is 413 where it is too large, else 415", async ([, headers]) => {
  const webhook = await bootWebhook();
  expect((await webhook.post(LONG, { ...CHUNKED, ...headers })).status).toBe(413);
  expect((await webhook.post("x", { ...CHUNKED, ...headers })).status).toBe(415);
});

test("a compressed body counts as it was sent: nothing is unpacked to refuse it", async () => {
  const webhook = await bootWebhook();
  const headers = { "content-encoding": "gzip" };
  expect((await webhook.post(gzipSync(Buffer.alloc(10_000_000)), headers)).status).toBe(415);
  expect((await webhook.post("garbage", headers)).status).toBe(415);
});

test("a body cannot reach a prototype", async () => {
  const webhook = await bootWebhook();
  const metadata = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
  const { status } = await webhook.post(
    `${HELLO.slice(0, -1)},"metadata":${metadata},"__proto__":{"polluted":1}}`,
  );
  expect(status).toBe(200);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

test.for([
  ["a declared length", "application/json", [`Content-Length: ${LONG.length}`], [LONG]],
  [
    "an undeclared length",
    "application/json",
    ["Transfer-Encoding: chunked"],
    [chunk(LONG), chunk(LONG), LAST_CHUNK],
  ],
  ["a wrong type", "text/plain", ["Transfer-Encoding: chunked"], [chunk(LONG), chunk(LONG), LAST_CHUNK]],
] as const)("after a body that is too large, of %s, the connection closes", async (given) => {
  const [, type, length, body] = given;
  const webhook = await bootWebhook();
  const common = ["Host: localhost", `X-Webhook-Secret: ${SECRET}`];
  const first = head("POST /webhook HTTP/1.1", ...common, `Content-Type: ${type}`, ...length);
  const next = ["POST /webhook HTTP/1.1", ...common, "Content-Type: application/json"];
  const second = head(...next, `Content-Length: ${HELLO.length}`) + HELLO;
  const lines = await statusLines(webhook.url, [first, ...body, second], 2);
  expect(lines).toEqual(["HTTP/1.1 413 Payload Too Large"]);
});
