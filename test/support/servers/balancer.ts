/** A balancer without memory: each request and each socket goes to the next node that takes it. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterThisTest } from "../undo.ts";

export interface Balancer {
  readonly url: string;
  /** Which node took each request, oldest first. */
  readonly taken: readonly number[];
}

/** `ports` are the nodes' ports; one that refuses the connection is passed over. */
export async function startBalancer(ports: readonly number[], later = afterThisTest): Promise<Balancer> {
  const taken: number[] = [];
  let turn = 0;
  const inOrder = (): readonly number[] => {
    const first = turn++ % ports.length;
    return [...ports.keys()].map((at) => (first + at) % ports.length);
  };

  function pass(from: IncomingMessage, to: ServerResponse, body: Buffer, nodes: readonly number[]): void {
    const [node, ...others] = nodes;
    if (node === undefined) {
      to.writeHead(503, { "retry-after": "1" }).end("no node takes connections");
      return;
    }
    const { method, url, headers } = from;
    const port = ports[node] as number;
    const onward = request(
      { host: "127.0.0.1", port, method, path: url, headers, agent: false },
      (answer) => {
        taken.push(node);
        to.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.on("error", () => to.destroy());
        answer.pipe(to);
      },
    );
    onward.on("error", (error: NodeJS.ErrnoException) => {
      if (to.headersSent) to.destroy();
      else if (error.code === "ECONNREFUSED") pass(from, to, body, others);
      // It may have been done, so it is not done again by another.
      else to.writeHead(502).end(error.message);
    });
    to.on("close", () => onward.destroy());
    onward.end(body);
  }

  const server = createServer(async (from, to) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of from) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    pass(from, to, Buffer.concat(chunks), inOrder());
  });
  const pairs = new Set<Socket>();
  server.on("upgrade", (from: IncomingMessage, client: Socket, head: Buffer) => {
    const go = ([node, ...others]: readonly number[]): void => {
      if (node === undefined) return void client.destroy();
      const upstream = connect(ports[node] as number, "127.0.0.1");
      const refused = () => go(others);
      upstream.once("error", refused);
      upstream.once("connect", () => {
        upstream.off("error", refused);
        taken.push(node);
        const lines = [`${from.method} ${from.url} HTTP/1.1`];
        for (let at = 0; at < from.rawHeaders.length; at += 2)
          lines.push(`${from.rawHeaders[at]}: ${from.rawHeaders[at + 1]}`);
        upstream.write(`${lines.join("\r\n")}\r\n\r\n`);
        upstream.write(head);
        for (const [a, b] of [
          [client, upstream],
          [upstream, client],
        ] as const) {
          pairs.add(a);
          a.on("error", () => b.destroy());
          a.on("close", () => {
            pairs.delete(a);
            b.destroy();
          });
          a.pipe(b);
        }
      });
    };
    go(inOrder());
  });
  return { url: await opened(server, pairs, later), taken };
}

async function opened(server: Server, pairs: ReadonlySet<Socket>, later = afterThisTest): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  later(async () => {
    for (const socket of pairs) socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
