/** From an HTTP request to a socket: who asks, from which page, and how many they have already. */
import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Proxies } from "../../../kernel/kit.ts";
import type { Log, MountedSocket } from "../../../kernel/plugin.ts";
import { type Authenticator, FOREIGN_ORIGIN, type OriginCheck, Refusal } from "../sign-in/authenticator.ts";
import type { ResumePoint } from "./connection.ts";
import type { MountedSockets } from "./mounted.ts";
import type { Sockets } from "./sockets.ts";

export const SOCKET_PATH = "/api/chat/ws";

const MOST_PER_USER = 32;
const MOST = 2000;
/** Nothing is read from a client but the frames that keep a connection alive. */
const LARGEST_MESSAGE = 1024;

export interface UpgradeParts {
  readonly sockets: Sockets;
  /** Those of other plugins. */
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
    [undefined, upgraderOf(LARGEST_MESSAGE)],
  ]);

  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const url = URL.parse(request.url ?? "/", "http://localhost");
    const address = proxies.address(request);
    const no = (status: number, text: string): void => {
      log.info({ address, status }, `a socket was refused: ${text}`);
      refuse(socket, status, text);
    };
    const elsewhere = mounted.at(url?.pathname ?? "");
    if (url === null || (url.pathname !== SOCKET_PATH && elsewhere === undefined))
      return no(404, "There is no socket at this address");
    if (!isOwnOrigin(request)) return no(403, FOREIGN_ORIGIN.message);
    const verdict = await authenticator.identify(request);
    if (verdict instanceof Refusal) return no(verdict.status, verdict.message);
    const { user } = verdict;
    const held = elsewhere === undefined ? sockets : mounted;
    if (held.countOf(user.id) >= MOST_PER_USER)
      return no(429, `You have ${MOST_PER_USER} sockets open: close one`);
    if (held.count >= MOST) return no(503, "Too many sockets are open");
    const upgrader = upgraders.get(elsewhere) ?? upgraderOf(elsewhere?.largestMessage ?? LARGEST_MESSAGE);
    upgraders.set(elsewhere, upgrader);
    upgrader.handleUpgrade(request, socket, head, (opened) => {
      log.info({ user: user.id, address }, "a socket opened");
      if (elsewhere === undefined) sockets.connect(opened, verdict, resumePoint(url));
      else mounted.connect(elsewhere, opened, verdict);
    });
  };

  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    upgrade(request, socket, head).catch((error) => {
      log.error({ error }, "an upgrade failed by a bug");
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
  // A client that never closes its half would keep the socket for ever.
  socket.once("finish", () => socket.destroy());
  socket.end(`${lines.join("\r\n")}\r\n\r\n${text}`);
}
