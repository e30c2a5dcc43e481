/** What is refused must not cost as much as what is accepted. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished } from "vitest";
import { attack } from "../support/attacks.ts";
import { head, statusLines } from "../support/servers/raw-socket.ts";
import { openGateway } from "../support/services/gateway.ts";
import { bootWebhook } from "../support/services/webhook.ts";

const MIB = 2 ** 20;
const MAX_READ_BYTES = 256 * 1024;
const CHUNKED = "Transfer-Encoding: chunked";

/** The service's ends of all connections from now on. */
function serverSockets(): readonly Socket[] {
  const sockets: Socket[] = [];
  const add = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
  subscribe("net.server.socket", add);
  onTestFinished(() => void unsubscribe("net.server.socket", add));
  return sockets;
}

/** Sends the same on many connections and keeps them open; the list gets the status line of each answer. */
function sendOnEach(url: string, count: number, bytes: readonly (string | Uint8Array)[]): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; at < count; at++) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    for (const piece of bytes) socket.write(piece);
    socket.on("error", () => {});
    socket.once("data", (data) => void lines.push(String(data).split("\r\n", 1)[0] ?? ""));
  }
  return lines;
}

attack("I", "Bodies that are refused are not read: one token's connections cost kilobytes", async () => {
  const gateway = await openGateway({ variables: { GATEWAY_REQUESTS_PER_USER: "10" } });
  const token = await gateway.addUser("eve");
  const sockets = serverSockets();
  const start = ["POST /api/chat/send HTTP/1.1", "Host: localhost", "Content-Type: application/json"];
  const request = head(...start, `Authorization: Bearer ${token}`, `Content-Length: ${13 * MIB}`);
  // The bodies that are accepted are never finished.
  const lines = sendOnEach(gateway.url, 60, [request, Buffer.alloc(MIB, "x")]);
  const REFUSED = 56;
  await expect.poll(() => lines.length, { timeout: 20_000 }).toBe(REFUSED);
  expect(new Set(lines)).toEqual(new Set(["HTTP/1.1 429 Too Many Requests"]));
  // The callers hold their connections open, and the service closes them all the same.
  const isRefused = ({ bytesRead }: Socket) => bytesRead < MAX_READ_BYTES;
  const closed = () => sockets.filter((socket) => socket.destroyed && isRefused(socket));
  await expect.poll(() => closed().length, { timeout: 20_000 }).toBe(REFUSED);
});

attack("I", "One user's open requests are counted, however small they are, and nobody else's", async () => {
  const gateway = await openGateway({ variables: { GATEWAY_REQUESTS_PER_USER: "3" } });
  const start = ["POST /api/chat/send HTTP/1.1", "Host: localhost", "Content-Type: application/json"];
  const requestOf = (token: string) => head(...start, `Authorization: Bearer ${token}`, "Content-Length: 9");
  const lines = sendOnEach(gateway.url, 5, [requestOf(await gateway.addUser("eve")), "{"]);
  await expect.poll(() => lines).toEqual(Array(2).fill("HTTP/1.1 429 Too Many Requests"));
  const [line] = await statusLines(gateway.url, [requestOf(await gateway.addUser("ann")), "{}       "], 1);
  expect(line).toContain(" 400 ");
});

attack("I", "A body that nobody asked for is not read, whatever its request is answered", async () => {
  const gateway = await openGateway();
  const webhook = await bootWebhook();
  const sockets = serverSockets();
  const requests: readonly [string, string, string][] = [
    [gateway.url, "GET /health", "200"],
    [gateway.url, "POST /api/chat/send", "401"],
    [gateway.url, "POST /api/session", "413"],
    [webhook.url, "POST /webhook", "413"],
    [webhook.url, "POST /nowhere", "404"],
  ];
  const body = Buffer.alloc(20 * MIB, "x");
  for (const [url, path, status] of requests) {
    const start = [`${path} HTTP/1.1`, "Host: localhost", "Content-Type: application/json"];
    for (const [length, sent] of [
      [`Content-Length: ${body.length}`, [body]],
      [CHUNKED, [`${body.length.toString(16)}\r\n`, body]],
    ] as const) {
      const [line] = await statusLines(url, [head(...start, length), ...sent], 1);
      expect(line, `${path} ${length}`).toContain(` ${status} `);
      expect(sockets.at(-1)?.bytesRead, `${path} ${length}`).toBeLessThan(MAX_READ_BYTES);
    }
  }
});

attack(
  "I",
  "One address cannot hold every connection, and a place is free again once one has closed",
  async () => {
    const gateway = await openGateway({ variables: { GATEWAY_CONNECTIONS_PER_ADDRESS: "4" } });
    const webhook = await bootWebhook({ HTTP_CONNECTIONS_PER_ADDRESS: "4" });
    for (const { url } of [gateway, webhook]) {
      const port = Number(new URL(url).port);
      const ask = async () =>
        (await statusLines(url, [head("GET /health HTTP/1.1", "Host: localhost")], 1))[0];
      const sockets = serverSockets();
      const idle = Array.from({ length: 4 }, () => connect(port, "127.0.0.1"));
      onTestFinished(() => idle.forEach((socket) => void socket.destroy()));
      await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
      await expect.poll(ask).toBe("HTTP/1.1 429 Too Many Requests");
      const held = sockets[0];
      const closed = new Promise((resolve) => held?.once("close", resolve));
      idle[0]?.destroy();
      await closed;
      await expect.poll(ask).not.toContain("429");
    }
  },
);
