/** Upgrades an HTTP request to a socket, after checking its sign-in, its origin and the number of open sockets. */
import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { MountedSocket, Proxies } from "../../../kernel/kit.ts";
import type { Log } from "../../../kernel/plugin.ts";
import { type Authenticator, FOREIGN_ORIGIN, type OriginCheck, Refusal } from "../sign-in/authenticator.ts";
import type { ResumePoint } from "./connection.ts";
import type { MountedSockets } from "./mounted.ts";
import type { Sockets } from "./sockets.ts";

export const SOCKET_PATH = "/api/chat/ws";

const MAX_PER_USER = 32;
const MAX_SOCKETS = 2000;
/** A client sends nothing but the frames that keep a connection alive. */
const MAX_MESSAGE_BYTES = 1024;

export interface UpgradeParts {
  readonly sockets: Sockets;
  /** The sockets of other plugins. */
  readonly mounted: MountedSockets;
  readonly authenticator: Authenticator;
  readonly proxies: Proxies;
  readonly isOwnOrigin: OriginCheck;
  readonly log: Log;
}

export function acceptSockets(
  server: Server,
  { sockets, mounted, authenticator, proxies, isOwnOrigin, log }: UpgradeParts,
): void {
  const upgraderOf = (maxPayload: number) =>
    new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false, clientTracking: false });
  const upgraders = new Map<MountedSocket | undefined, WebSocketServer>([
    [undefined, upgraderOf(MAX_MESSAGE_BYTES)],
  ]);

  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const url = URL.parse(request.url ?? "/", "http://localhost");
    const address = proxies.address(request);
    const reject = (status: number, text: string): void => {
      log.info({ address, status }, `a socket was refused: ${text}`);
      refuse(socket, status, text);
    };
    const other = mounted.at(url?.pathname ?? "");
    if (url === null || (url.pathname !== SOCKET_PATH && other === undefined))
      return reject(404, "There is no socket at this address");
    if (!isOwnOrigin(request)) return reject(403, FOREIGN_ORIGIN.message);
    const verdict = await authenticator.identify(request);
    if (verdict instanceof Refusal) return reject(verdict.status, verdict.message);
    const { user } = verdict;
    const held = other === undefined ? sockets : mounted;
    if (held.countOf(user.id) >= MAX_PER_USER)
      return reject(429, `You have ${MAX_PER_USER} sockets open: close one`);
    if (held.count >= MAX_SOCKETS) return reject(503, "Too many sockets are open");
    const upgrader = upgraders.get(other) ?? upgraderOf(other?.largestMessage ?? MAX_MESSAGE_BYTES);
    upgraders.set(other, upgrader);
    upgrader.handleUpgrade(request, socket, head, (opened) => {
      log.info({ user: user.id, address }, "a socket opened");
      if (other === undefined) sockets.connect(opened, verdict, resumePoint(url));
      else mounted.connect(other, opened, verdict);
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

function resumePoint({ searchParams }: URL): ResumePoint | undefined {
  const stream = searchParams.get("stream");
  const after = searchParams.get("after") ?? "";
  return stream !== null && /^\d{1,15}$/.test(after) ? { stream, after: Number(after) } : undefined;
}

function refuse(socket: Duplex, status: number, text: string): void {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Connection: close",
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  // A client that never closes its half would keep the socket open forever.
  socket.once("finish", () => socket.destroy());
  socket.end(`${lines.join("\r\n")}\r\n\r\n${text}`);
}
