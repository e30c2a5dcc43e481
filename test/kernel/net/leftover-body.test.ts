import { createServer, type RequestListener } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { endReading } from "../../../kernel/net/listen.ts";
import { listen } from "../../support/servers/listening.ts";
import { chunk, head, statusLines } from "../../support/servers/raw-socket.ts";

const MIB = 2 ** 20;
const MAX_READ_BYTES = 256 * 1024;

async function serve(handler: RequestListener, graceMillis = 200) {
  const server = createServer((request, response) => {
    endReading(request, response, graceMillis);
    handler(request, response);
  });
  const sockets: Socket[] = [];
  server.on("connection", (socket) => sockets.push(socket));
  const { port } = await listen(server);
  return { port, sockets };
}

/** Sends as long as the other end takes it; resolves with what came back. */
function flood(port: number, start: string, piece: Buffer): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.write(start);
  const send = () => {
    while (socket.writable && socket.write(piece));
  };
  socket.on("connect", send).on("drain", send);
  // The cut may arrive as a reset.
  socket.on("error", () => {});
  let text = "";
  socket.setEncoding("latin1").on("data", (data: string) => {
    text += data;
  });
  return new Promise((resolve) => socket.once("close", () => resolve(text)));
}

test.for([
  ["a declared length", `Content-Length: ${1000 * MIB}`, Buffer.alloc(MIB)],
  ["an undeclared length", "Transfer-Encoding: chunked", chunk(Buffer.alloc(MIB))],
] as const)("a caller that sends on after its answer, with %s, is not read and is cut off", async (given) => {
  const [, length, piece] = given;
  const { port, sockets } = await serve((_, response) => response.writeHead(413).end("too large"));
  const answer = await flood(port, head("POST / HTTP/1.1", "Host: x", length), piece);
  expect(answer).toMatch(/^HTTP\/1\.1 413 .*\r\nConnection: close\r\n.*too large/s);
  expect(sockets[0]?.bytesRead).toBeLessThan(MAX_READ_BYTES);
});

test("a body that was being read is read no further once it is refused", async () => {
  const { port, sockets } = await serve((request, response) => {
    request.on("data", () => {
      if (!response.headersSent) response.writeHead(413).end();
    });
  });
  const start = head("POST / HTTP/1.1", "Host: x", `Content-Length: ${1000 * MIB}`);
  expect(await flood(port, start, Buffer.alloc(MIB))).toMatch(/^HTTP\/1\.1 413 /);
  expect(sockets[0]?.bytesRead).toBeLessThan(MAX_READ_BYTES);
});

test("after a short body that nobody read, the connection takes the next request", async () => {
  const { port } = await serve((_, response) => response.writeHead(413).end());
  const request = head("POST / HTTP/1.1", "Host: x", "Content-Length: 60000") + "x".repeat(60_000);
  const lines = await statusLines(`http://127.0.0.1:${port}`, [request, request], 2);
  expect(lines).toEqual(["HTTP/1.1 413 Payload Too Large", "HTTP/1.1 413 Payload Too Large"]);
});
