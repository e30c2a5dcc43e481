/** A listener that a channel opens and closes. A port in use names its setting; a close lets responses finish. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Fault, reason } from "../fault.ts";
import { hostInUrl } from "./address.ts";
import { dropRest } from "./leftover-body.ts";

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The settings an operator would change, named in the error. */
  readonly hostVariable: string;
  readonly portVariable: string;
}

export interface Listener {
  readonly server: Server<typeof IncomingMessage, typeof ServerResponse>;
  /** Written for a browser: a wildcard host reads as localhost. */
  readonly url: string;
  /** Takes no new request, lets the ones under way finish for so long, then cuts them. */
  close(graceMillis: number): Promise<void>;
}

export async function listen(handler: RequestListener, options: ListenOptions): Promise<Listener> {
  const { host, port } = options;
  // An offer of another protocol is declined by responding in this one; many clients offer HTTP/2 each time.
  const shouldUpgradeCallback = ({ headers }: IncomingMessage) =>
    headers.upgrade?.toLowerCase() === "websocket" && server.listenerCount("upgrade") > 0;
  const server: Listener["server"] = createServer({ shouldUpgradeCallback }, (request, response) => {
    dropRest(request, response);
    handler(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(refusal(error as NodeJS.ErrnoException, options)));
    server.listen(port, host, resolve);
  });
  server.removeAllListeners("error");
  return {
    server,
    url: `http://${hostInUrl(host)}:${(server.address() as AddressInfo).port}`,
    close: (graceMillis) =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), graceMillis);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

function refusal(
  error: NodeJS.ErrnoException,
  { host, port, hostVariable, portVariable }: ListenOptions,
): Fault {
  const address = `${host}:${port}`;
  const say = (code: string, message: string, param: string) =>
    new Fault("config", code, message, { param, cause: error });
  if (error.code === "EADDRINUSE") {
    return say(
      "port_in_use",
      `${address} is in use by another process: stop it, or set ${portVariable} to another port`,
      portVariable,
    );
  }
  if (error.code === "EACCES") {
    return say(
      "port_forbidden",
      `${address} may not be opened by this user: set ${portVariable} to 1024 or above`,
      portVariable,
    );
  }
  return say(
    "host_unusable",
    `${address} cannot be opened (${reason(error)}): check ${hostVariable}`,
    hostVariable,
  );
}
