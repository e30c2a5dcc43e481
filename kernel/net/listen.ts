/** A listener that a channel opens and closes. A port in use names its setting; a close lets responses finish. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Fault, reason } from "../fault.ts";
import { hostInUrl } from "./address.ts";

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

// For the whole of a request, its body included: one that trickles in holds memory all the while.
const REQUEST_TIMEOUT_MS = 120_000;

export async function listen(handler: RequestListener, options: ListenOptions): Promise<Listener> {
  const { host, port } = options;
  // Loaded here, since commands that serve nothing start sooner without it.
  const { createServer } = await import("node:http");
  // An offer of another protocol is declined by responding in this one; many clients offer HTTP/2 each time.
  const shouldUpgradeCallback = ({ headers }: IncomingMessage) =>
    headers.upgrade?.toLowerCase() === "websocket" && server.listenerCount("upgrade") > 0;
  const server: Listener["server"] = createServer(
    { shouldUpgradeCallback, requestTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      dropRest(request, response);
      handler(request, response);
    },
  );
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
  const refuse = (code: string, message: string, param = portVariable) =>
    new Fault("config", code, `${address} ${message}`, { param, cause: error });
  if (error.code === "EADDRINUSE")
    return refuse(
      "port_in_use",
      `is in use by another process: stop it, or set ${portVariable} to another port`,
    );
  if (error.code === "EACCES")
    return refuse("port_forbidden", `may not be opened by this user: set ${portVariable} to 1024 or above`);
  return refuse("host_unusable", `cannot be opened (${reason(error)}): check ${hostVariable}`, hostVariable);
}

// Enough for a megabyte on a slow line. A caller that sends on and on is cut off then.
const MAX_LEFTOVER_MS = 30_000;

/**
 * Reads and drops the rest of a body that was answered before its end, such as one that is too large. Unread it
 * would hold up the next request on the connection; cut off at once, many callers never see the answer.
 */
export function dropRest(
  request: IncomingMessage,
  response: ServerResponse,
  mostMillis = MAX_LEFTOVER_MS,
): void {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  if (length === undefined && encoding === undefined) return;
  response.once("finish", () => {
    if (request.readableEnded || request.destroyed) return;
    const cut = setTimeout(() => request.destroy(), mostMillis).unref();
    request.once("close", () => clearTimeout(cut));
    // It may still lead into a parser that has given up.
    request.unpipe();
    request.resume();
  });
}
