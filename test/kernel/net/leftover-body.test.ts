import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { dropRest } from "../../../kernel/net/listen.ts";
import { chunk, head } from "../../support/servers/raw-socket.ts";

test("a caller that sends on and on after its answer is cut off", async () => {
  const server = createServer((request, response) => {
    dropRest(request, response, 200);
    response.writeHead(413).end();
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(head("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked"));
  const sending = setInterval(() => socket.write(chunk("on and on")), 20);
  onTestFinished(() => clearInterval(sending));
  socket.on("error", () => {});
  let text = "";
  socket.setEncoding("latin1").on("data", (data: string) => {
    text += data;
  });
  // Not `once` of node:events, which rejects where the cut arrives as a reset.
  await new Promise((resolve) => socket.once("close", resolve));
  expect(text).toMatch(/^HTTP\/1\.1 413 /);
});
