/** A server of a test, on a free port of loopback until the test ends. */
import { once } from "node:events";
import { Server as HttpServer } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { afterThisTest } from "../undo.ts";

export async function listen(
  server: Server,
  later = afterThisTest,
  wanted = 0,
): Promise<{ readonly port: number; readonly host: string; readonly url: string }> {
  await once(server.listen(wanted, "127.0.0.1"), "listening");
  later(() => {
    server.close();
    if (server instanceof HttpServer) server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  return { port, host, url: `http://${host}` };
}
