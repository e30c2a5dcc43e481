/** Bodies that are too long, packed, or made to do harm. */
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
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

/** Sends the head of a request and leaves it at that. */
function openRaw(url: string, start: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () => void socket.write(start));
  let text = "";
  socket
    .on("error", () => {})
    .on("data", (chunk) => {
      text += String(chunk);
    });
  return { socket, text: () => text };
}

const bomb = gzipSync(Buffer.alloc(64 * MIB, " "));

test.for(["gzip", "br", "deflate", "zstd"])(
  "a body that is compressed with %s is 415, unread",
  async (encoding) => {
    const { send } = await open();
    for (const path of ["/api/chat/send", "/api/session"])
      expect((await send(path, bomb, encoding)).status).toBe(415);
  },
);

test.for([
  ["nested deeper than 200 levels", "[".repeat(9 * MIB)],
  ["nested deeper than 200 levels", `{"message":"Hello","more":${'{"a":'.repeat(8000)}1${"}".repeat(8000)}}`],
  ["more than 100000 values", `[${"1,".repeat(2 * MIB)}1]`],
])("a body that is %s is refused before it is parsed", async ([what, body]) => {
  const { send } = await open();
  const answer = await send("/api/chat/send", body as string);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    error: { code: "body_too_complex", message: expect.stringContaining(what as string) },
  });
});

test("brackets and quotes inside of texts are not counted", async () => {
  const { send } = await open();
  const message = `${"[".repeat(500)} \\" ${"{".repeat(500)} \\\\`;
  expect((await send("/api/chat/send", JSON.stringify({ message }))).status).toBe(202);
});

test("a user who sends much at once is refused, and nobody else", async () => {
  const { gateway } = await open();
  const token = await gateway.addUser("ann");
  const unfinished = head(
    ...["POST /api/chat/send HTTP/1.1", "Host: localhost", json, `Authorization: Bearer ${token}`],
    `Content-Length: ${14 * MIB}`,
  );
  const connections = Array.from({ length: 5 }, () => openRaw(gateway.url, unfinished));
  // Four of them are all that a user may have; the fifth is told so, unread.
  await expect
    .poll(() => connections.map(({ text }) => text().slice(0, 12)).sort())
    .toEqual(["", "", "", "", "HTTP/1.1 429"]);
  const send = (asking: { token?: string }, bytes = 0) =>
    gateway.ask("/api/chat/send", {
      method: "POST",
      body: { message: "Hi", more: "x".repeat(bytes) },
      ...asking,
    });
  const refused = await send({ token }, 9 * MIB);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  expect((await send({ token })).status).toBe(202);
  expect((await send({}, 9 * MIB)).status).toBe(202);
  for (const { socket } of connections) socket.destroy();
  await expect.poll(async () => (await send({ token }, 9 * MIB)).status).toBe(202);
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
  [415, "packed", "/api/session", [json, "Content-Encoding: gzip"], [chunk(bomb), chunk(bomb)]],
  [413, "in a form", "/api/tools/examine", form, [chunk(PART), ...Array(15).fill(chunk("x".repeat(MIB)))]],
  [
    400,
    "in the header of a form's part",
    "/api/tools/examine",
    form,
    [chunk("--b\r\n"), chunk("x".repeat(MIB))],
  ],
] as const)(
  "%i: a body that is too large, %s, is refused and closes the connection",
  async ([status, , path, headers, body]) => {
    const { gateway } = await open();
    const first = head(`POST ${path} HTTP/1.1`, "Host: localhost", ...headers, "Transfer-Encoding: chunked");
    const next = head("GET /health HTTP/1.1", "Host: localhost");
    const lines = await statusLines(gateway.url, [first, ...body, LAST_CHUNK, next], 2);
    expect(lines).toEqual([expect.stringContaining(` ${status} `)]);
  },
);
