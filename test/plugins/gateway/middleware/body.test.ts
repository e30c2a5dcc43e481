/** Bodies that are too long, packed, or made to do harm. */
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { chunk, head, LAST_CHUNK, statusLines } from "../../../support/servers/raw-socket.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

const MIB = 1024 * 1024;

async function open() {
  const gateway = await openGateway();
  const send = (path: string, body: string | Uint8Array<ArrayBuffer>, encoding?: string) =>
    fetch(gateway.url + path, {
      method: "POST",
      body,
      headers: {
        authorization: `Bearer ${OPERATOR_TOKEN}`,
        "content-type": "application/json",
        ...(encoding !== undefined && { "content-encoding": encoding }),
      },
    });
  return { gateway, send };
}

const bomb = gzipSync(Buffer.alloc(64 * MIB, " "));

test("a compressed body is read, and its limit counts what it unpacks to", async () => {
  const { send } = await open();
  const chat = JSON.stringify({ message: "Hello" });
  expect((await send("/api/chat/send", gzipSync(chat), "gzip")).status).toBe(202);
  expect((await send("/api/chat/send", brotliCompressSync(chat), "br")).status).toBe(202);
  expect(bomb.length).toBeLessThan(MIB);
  expect((await send("/api/chat/send", bomb, "gzip")).status).toBe(413);
  expect((await send("/api/session", gzipSync(Buffer.alloc(MIB, " ")), "gzip")).status).toBe(413);
});

test.for([
  ["gzip", "garbage"],
  ["gzip", gzipSync(JSON.stringify({ message: "Hello" })).subarray(0, 20)],
  ["deflate", "garbage"],
  ["br", "\u0001\u0002 garbage"],
  ["br", brotliCompressSync(JSON.stringify({ message: "Hello ".repeat(50) })).subarray(0, 20)],
] as const)("a body that is not the %s it claims to be is 400", async ([encoding, body]) => {
  const { send } = await open();
  expect((await send("/api/chat/send", body, encoding)).status).toBe(400);
});

test("an encoding that nobody here can unpack is 415", async () => {
  const { send } = await open();
  expect((await send("/api/chat/send", "{}", "zstd")).status).toBe(415);
});

test("a body cannot reach a prototype: __proto__ is an unknown field, ignored", async () => {
  const { send } = await open();
  const polluting =
    '{"message":"Hello","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
  expect((await send("/api/chat/send", polluting)).status).toBe(202);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

const form = ["Content-Type: multipart/form-data; boundary=b", `Authorization: Bearer ${OPERATOR_TOKEN}`];
const PART =
  '--b\r\nContent-Disposition: form-data; name="component"; filename="x"\r\nContent-Type: a/b\r\n\r\n';
const json = "Content-Type: application/json";

test.for([
  [
    413,
    "of undeclared length",
    "/api/session",
    [json],
    [chunk("x".repeat(40_000)), chunk("x".repeat(2 * MIB))],
  ],
  [413, "packed", "/api/session", [json, "Content-Encoding: gzip"], [chunk(bomb), chunk(bomb)]],
  [413, "in a form", "/api/tools/examine", form, [chunk(PART), ...Array(15).fill(chunk("x".repeat(MIB)))]],
  [
    400,
    "in the header of a form's part",
    "/api/tools/examine",
    form,
    [chunk("--b\r\n"), chunk("x".repeat(MIB))],
  ],
] as const)(
  "%i: a body that is too large, %s, does not hold up the next request",
  async ([status, , path, headers, body]) => {
    const { gateway } = await open();
    const first = head(`POST ${path} HTTP/1.1`, "Host: localhost", ...headers, "Transfer-Encoding: chunked");
    const next = head("GET /health HTTP/1.1", "Host: localhost");
    const lines = await statusLines(gateway.url, [first, ...body, LAST_CHUNK, next], 2);
    expect(lines).toEqual([expect.stringContaining(` ${status} `), "HTTP/1.1 200 OK"]);
  },
);
