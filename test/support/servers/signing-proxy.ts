/** Sends every request on with a token, for clients that cannot be given one. Everything else stays as it was sent. */
import { createServer, request } from "node:http";
import type { Later } from "../undo.ts";
import { listen } from "./listening.ts";

export async function openSigningProxy(target: string, token: string, later: Later): Promise<string> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    const { method, url: path } = incoming;
    const forwarded = request({ hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  return (await listen(server, later)).url;
}
