/** A listener that a channel opens and closes. A port in use names its setting; a close lets responses finish. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Fault, reason } from "../fault.ts";
import { hostInUrl } from "./address.ts";
import { type ConnectionLimit, limitConnections } from "./connections.ts";

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The settings an operator would change, named in the error. */
  readonly hostVariable: string;
  readonly portVariable: string;
  readonly connections?: ConnectionLimit;
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

const MAX_RESPONSE_LISTENERS = 20;

export async function listen(handler: RequestListener, options: ListenOptions): Promise<Listener> {
  const { host, port, connections } = options;
  // Loaded here, since commands that serve nothing start sooner without it.
  const { createServer } = await import("node:http");
  // An offer of another protocol is declined by responding in this one; many clients offer HTTP/2 each time.
  const shouldUpgradeCallback = ({ headers }: IncomingMessage) =>
    headers.upgrade?.toLowerCase() === "websocket" && server.listenerCount("upgrade") > 0;
  const server: Listener["server"] = createServer(
    { shouldUpgradeCallback, requestTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      // Each limit that counts an open request waits for its end.
      response.setMaxListeners(MAX_RESPONSE_LISTENERS);
      endReading(request, response);
      if (!refuse?.(request, response)) handler(request, response);
    },
  );
  const refuse = connections && limitConnections(server, connections);
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

// What may be left of a body for the connection to be used again.
const MAX_LEFTOVER_BYTES = 64 * 1024;
// Long enough for the answer to arrive. Cut off at once, many callers never see it.
const GRACE_MS = 2000;

/**
 * An answer that comes before the end of a body, such as a refusal, also ends the reading. A short rest is read and dropped, so that
 * the next request can follow; otherwise the connection closes, since reading the rest would cost as much as accepting it.
 */
export function endReading(request: IncomingMessage, response: ServerResponse, graceMillis = GRACE_MS): void {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  if (length === undefined && encoding === undefined) return;
  if (encoding === undefined && Number(length) <= MAX_LEFTOVER_BYTES) {
    // It may still lead into a parser that has given up.
    response.once("finish", () => request.unpipe().resume());
    return;
  }
  // Node reads and drops a body that nobody has begun to read, as fast as it comes.
  request.read(0);
  const writeHead = response.writeHead.bind(response) as (...given: unknown[]) => ServerResponse;
  response.writeHead = (...given: unknown[]) => {
    if (!request.complete) closeUnread(request, response, graceMillis);
    return writeHead(...given);
  };
}

function closeUnread(request: IncomingMessage, response: ServerResponse, graceMillis: number): void {
  const { socket } = response;
  response.shouldKeepAlive = false;
  // A handler that gave up in the middle of the body may have closed the connection.
  if (socket === null) return;
  // A listener that takes nothing stops the reading once the buffer is full.
  request.unpipe().on("readable", () => {});
  // Node calls this after the answer.
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), graceMillis).unref();
  };
}
