/** A receiver of callbacks on a loopback port: answers what the test says, keeps what it got. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import { listen } from "./listening.ts";

export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly port: number;
  readonly deliveries: readonly Delivery[];
  /** Resolves when so many have arrived. */
  received(count: number): Promise<void>;
}

export async function startReceiver(
  answer: (nth: number) => number = () => 204,
  port = 0,
): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const watchers = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    deliveries.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(answer(deliveries.length)).end();
    for (const watcher of watchers) watcher();
  });
  const listening = await listen(server, undefined, port);
  return {
    port: listening.port,
    deliveries,
    received: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (deliveries.length < count) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
  };
}
