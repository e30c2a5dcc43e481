/** Somebody's API in a process of its own: GET /v1/100 answers after 100 ms. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const server = createServer((request, response) => {
  const delay = Number(request.url?.split("/").at(-1));
  const answer = () => response.setHeader("content-type", "application/json").end('{"found":true}');
  if (delay > 0) setTimeout(answer, delay);
  else answer();
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` });
});
process.on("disconnect", () => process.exit());
