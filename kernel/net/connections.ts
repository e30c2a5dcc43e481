/** How many connections one caller may have open at the same time, so that nobody takes the places of all others. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Fault } from "../fault.ts";
import { httpFault } from "./http-fault.ts";
import type { Proxies } from "./proxies.ts";

const RETRY_SECS = 1;
// A client that sends its request at once gets an answer first.
const REFUSED_AFTER_MS = 2000;

/** Counts what is open for each caller. `open` returns false at the limit. */
export function createOpenCount(limit: number) {
  const counts = new Map<string, number>();
  return {
    open(caller: string, closing: Pick<Socket | ServerResponse, "once" | "destroyed">): boolean {
      // The caller hung up, and no event would follow.
      if (closing.destroyed) return true;
      const count = counts.get(caller) ?? 0;
      if (count >= limit) return false;
      counts.set(caller, count + 1);
      closing.once("close", () => {
        const left = (counts.get(caller) ?? 1) - 1;
        if (left > 0) counts.set(caller, left);
        else counts.delete(caller);
      });
      return true;
    },
  };
}

export const tooManyConnections = (limit: number): Fault =>
  new Fault(
    "limited",
    "too_many_connections",
    `${limit} of your requests are open, which is the limit: wait until one of them has ended.`,
    { retryAfterSecs: RETRY_SECS },
  );

export interface ConnectionLimit {
  readonly perAddress: number;
  readonly proxies: Proxies;
}

/**
 * Limits the connections of each address. A trusted proxy sends the requests of many over its connections: behind it, the open requests of
 * each client count instead. Returns what answers a request that is too many, with true.
 */
export function limitConnections(server: Server, { perAddress, proxies }: ConnectionLimit) {
  const count = createOpenCount(perAddress);
  const refused = new WeakSet<Socket>();
  server.on("connection", (socket: Socket) => {
    const { remoteAddress = "" } = socket;
    if (proxies.isTrusted(remoteAddress) || count.open(proxies.plain(remoteAddress), socket)) return;
    refused.add(socket);
    const cut = setTimeout(() => socket.destroy(), REFUSED_AFTER_MS).unref();
    socket.once("close", () => clearTimeout(cut));
  });
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const { socket } = request;
    const isRefused = proxies.isTrusted(socket.remoteAddress ?? "")
      ? !count.open(proxies.address(request), response)
      : refused.has(socket);
    if (!isRefused) return false;
    const { status, headers, body } = httpFault(tooManyConnections(perAddress), { largestBody: "" });
    response.shouldKeepAlive = false;
    response.writeHead(status, { ...headers, "content-type": "application/json" }).end(JSON.stringify(body));
    return true;
  };
}
