/** A real server on loopback that stands for somebody else's API, and remembers what reached it. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";

export interface Upstream {
  readonly port: number;
  /** Everything that arrived, bodies included. */
  readonly requests: readonly ReceivedRequest[];
  close(): Promise<void>;
}

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Answering = (request: ReceivedRequest, response: ServerResponse) => void;

export async function openUpstream(
  answer: Answering = (_, response) => response.end("ok"),
  tls?: { readonly key: string; readonly cert: string },
): Promise<Upstream> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const listener: RequestListener = (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const request = {
        method: incoming.method ?? "",
        path: incoming.url ?? "",
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString(),
      };
      requests.push(request);
      answer(request, response);
    });
  };
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
