/** Upgrades an HTTP request to a socket, after checking its sign-in, its origin and the number of open sockets. */

import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type Proxies, SCOPED_TOKEN } from "../../../kernel/kit/http.ts";
import type { Kernel, Log } from "../../../kernel/plugin.ts";
import { type Mounts, STOPPED } from "../mounts.ts";
import { type Authenticator, FOREIGN_ORIGIN, type OriginCheck, Refusal } from "../sign-in/authenticator.ts";
import type { MountedSockets } from "./mounted-sockets.ts";

const MAX_PER_USER = 32;
const MAX_SOCKETS = 2000;

export interface UpgradeParts {
  readonly sockets: Pick<MountedSockets, "at">;
  readonly authenticator: Authenticator;
  readonly proxies: Proxies;
  readonly isOwnOrigin: OriginCheck;
  readonly log: Log;
  readonly kernel: Pick<Kernel, "isStarted">;
  readonly wasMounted: Mounts["wasMounted"];
}

export function acceptSockets(
  server: Server,
  { sockets, authenticator, proxies, isOwnOrigin, log, kernel, wasMounted }: UpgradeParts,
): void {
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const url = URL.parse(request.url ?? "/", "http://localhost");
    const address = proxies.address(request);
    const reject = (status: number, text: string): void => {
      log.info({ address, status }, `a socket was refused: ${text}`);
      refuse(socket, status, text);
    };
    const mounted = sockets.at(url?.pathname ?? "");
    const mayComeBack = !kernel.isStarted || wasMounted(url?.pathname ?? "");
    if (mounted === undefined && !mayComeBack) return reject(404, "There is no socket at this address");
    if (!isOwnOrigin(request)) return reject(403, FOREIGN_ORIGIN.message);
    const verdict = await authenticator.identify(request);
    if (verdict instanceof Refusal) return reject(verdict.status, verdict.message);
    if (url === null || mounted === undefined)
      return reject(
        503,
        kernel.isStarted ? STOPPED.message : "The service is starting: try again in a second.",
      );
    const { user } = verdict;
    const { description, upgrader, open, meter, maxBytes } = mounted;
    if (user.scope && !description.scoped) return reject(403, SCOPED_TOKEN.message);
    if (open.countOf(user.id) >= MAX_PER_USER)
      return reject(429, `You have ${MAX_PER_USER} sockets open: close one`);
    if (open.count() >= MAX_SOCKETS) return reject(503, "Too many sockets are open");
    if (meter.isFull(user.id, maxBytes))
      return reject(429, "Your sockets sent too much within a minute: wait, then go on");
    upgrader.handleUpgrade(request, socket, head, (opened) => {
      log.info({ user: user.id, address }, "a socket opened");
      let unfinished = 0;
      const finish = (): void => {
        meter.release(user.id, unfinished);
        unfinished = 0;
      };
      for (const event of ["message", "pong", "close"]) opened.on(event, finish);
      socket.on("data", ({ length }: Buffer) => {
        unfinished += length;
        if (meter.take(user.id, length, maxBytes) || opened.readyState !== opened.OPEN) return;
        log.warn({ user: user.id, address }, "a socket was closed: its user sent too much");
        opened.terminate();
      });
      open.add(opened, verdict);
      description.accept(opened, user, url.searchParams);
    });
  };

  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    upgrade(request, socket, head).catch((error) => {
      log.error({ error }, "an upgrade failed because of a bug");
      refuse(socket, 500, "Something went wrong in the server");
    });
  });
}

function refuse(socket: Duplex, status: number, text: string): void {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Connection: close",
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...(status === 503 ? ["Retry-After: 1"] : []),
  ];
  // A client that never closes its half would keep the socket open forever.
  socket.once("finish", () => socket.destroy());
  socket.end(`${lines.join("\r\n")}\r\n\r\n${text}`);
}
