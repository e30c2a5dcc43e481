/** Upgrades an HTTP request to a socket, after checking its sign-in, its origin and the number of open sockets. */

import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { LRUCache } from "lru-cache";
import { WebSocketServer } from "ws";
import { type Proxies, SCOPED_TOKEN } from "../../../kernel/kit/http.ts";
import type { Kernel, Log } from "../../../kernel/plugin.ts";
import { type Mounts, STOPPED } from "../mounts.ts";
import type { MountedSocket } from "../services.ts";
import { type Authenticator, FOREIGN_ORIGIN, type OriginCheck, Refusal } from "../sign-in/authenticator.ts";
import { SOCKET_PATH } from "./frame.ts";
import type { OpenSockets } from "./open-sockets.ts";
import type { ResumePoint, Sockets } from "./sockets.ts";

const MAX_PER_USER = 32;
const MAX_SOCKETS = 2000;
/** A client sends nothing but the frames that keep a connection alive. */
const MAX_MESSAGE_BYTES = 1024;
const MAX_FRAGMENTS = 1000;
/**
 * Bounds the bytes that the sockets of a user send within a minute: answers to a few pings on the chat's, and on those of plugins
 * messages that take as much memory as bodies do. Pings and empty frames cost us work, and no message event reports them.
 */
const MAX_CHAT_BYTES = 256 * 1024;
const MAX_MOUNTED_BYTES = 256 * 1024 * 1024;
/** As much as of the bodies of requests. */
const MAX_UNFINISHED_BYTES = 64 * 1024 * 1024;
const MINUTE_MS = 60_000;
const MAX_METERED_USERS = 10_000;

export interface UpgradeParts {
  readonly sockets: Sockets;
  /** Sockets of other plugins by their path, and those of them that are open. */
  readonly mounted: ReadonlyMap<string, MountedSocket>;
  readonly mountedOpen: OpenSockets;
  readonly authenticator: Authenticator;
  readonly proxies: Proxies;
  readonly isOwnOrigin: OriginCheck;
  readonly log: Log;
  readonly kernel: Pick<Kernel, "isStarted">;
  readonly wasMounted: Mounts["wasMounted"];
}

export function acceptSockets(
  server: Server,
  {
    sockets,
    mounted,
    mountedOpen,
    authenticator,
    proxies,
    isOwnOrigin,
    log,
    kernel,
    wasMounted,
  }: UpgradeParts,
): void {
  const upgraderOf = (maxPayload: number) =>
    new WebSocketServer({
      noServer: true,
      maxPayload,
      maxFragments: MAX_FRAGMENTS,
      perMessageDeflate: false,
      clientTracking: false,
    });
  const upgraders = new Map<MountedSocket | undefined, WebSocketServer>([
    [undefined, upgraderOf(MAX_MESSAGE_BYTES)],
  ]);

  const chatMeter = createMeter(MAX_CHAT_BYTES);
  const mountedMeter = createMeter(MAX_MOUNTED_BYTES);

  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const url = URL.parse(request.url ?? "/", "http://localhost");
    const address = proxies.address(request);
    const reject = (status: number, text: string): void => {
      log.info({ address, status }, `a socket was refused: ${text}`);
      refuse(socket, status, text);
    };
    const other = mounted.get(url?.pathname ?? "");
    const isMissing = url === null || (url.pathname !== SOCKET_PATH && other === undefined);
    const mayComeBack = !kernel.isStarted || wasMounted(url?.pathname ?? "");
    if (isMissing && !mayComeBack) return reject(404, "There is no socket at this address");
    if (!isOwnOrigin(request)) return reject(403, FOREIGN_ORIGIN.message);
    const verdict = await authenticator.identify(request);
    if (verdict instanceof Refusal) return reject(verdict.status, verdict.message);
    if (isMissing)
      return reject(
        503,
        kernel.isStarted ? STOPPED.message : "The service is starting: try again in a second.",
      );
    const { user } = verdict;
    if (user.scope && other && !other.scoped) return reject(403, SCOPED_TOKEN.message);
    const held = other === undefined ? sockets : mountedOpen;
    if (held.countOf(user.id) >= MAX_PER_USER)
      return reject(429, `You have ${MAX_PER_USER} sockets open: close one`);
    if (held.count() >= MAX_SOCKETS) return reject(503, "Too many sockets are open");
    const meter = other === undefined ? chatMeter : mountedMeter;
    if (meter.isFull(user.id))
      return reject(429, "Your sockets sent too much within a minute: wait, then go on");
    const upgrader = upgraders.get(other) ?? upgraderOf(other?.largestMessage ?? MAX_MESSAGE_BYTES);
    upgraders.set(other, upgrader);
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
        if (meter.take(user.id, length) || opened.readyState !== opened.OPEN) return;
        log.warn({ user: user.id, address }, "a socket was closed: its user sent too much");
        opened.terminate();
      });
      if (other === undefined) return sockets.connect(opened, verdict, resumePoint(url));
      mountedOpen.add(opened, verdict);
      other.accept(opened, user);
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

/** Counts what each user sent within a minute, and of that what is no whole message yet. */
function createMeter(maxBytes: number) {
  // As a size: with `max` the arrays of all its places would be made at every start.
  const sent = new LRUCache<string, { bytes: number }>({
    maxSize: MAX_METERED_USERS,
    sizeCalculation: () => 1,
    ttl: MINUTE_MS,
  });
  const held = new Map<string, number>();
  const isFull = (user: string) => (sent.get(user)?.bytes ?? 0) > maxBytes;
  const add = (user: string, bytes: number): void => {
    const left = (held.get(user) ?? 0) + bytes;
    if (left > 0) held.set(user, left);
    else held.delete(user);
  };
  return {
    isFull,
    /** False where that is more than there may be. */
    take(user: string, bytes: number): boolean {
      const minute = sent.get(user);
      if (minute === undefined) sent.set(user, { bytes });
      else minute.bytes += bytes;
      add(user, bytes);
      return !isFull(user) && (held.get(user) ?? 0) <= MAX_UNFINISHED_BYTES;
    },
    release: (user: string, bytes: number) => add(user, -bytes),
  };
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
    ...(status === 503 ? ["Retry-After: 1"] : []),
  ];
  // A client that never closes its half would keep the socket open forever.
  socket.once("finish", () => socket.destroy());
  socket.end(`${lines.join("\r\n")}\r\n\r\n${text}`);
}
