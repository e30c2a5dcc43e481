/** One open socket. It reads the stream as fast as the client does; frames it has not read stay in the stream. */
import type { WebSocket } from "ws";
import { type Declared, type SignedIn, toWire } from "../../../kernel/kit.ts";
import { SocketFrame } from "./frame.ts";
import type { Place, UserStream } from "./stream.ts";

/** With more bytes than this in the send buffers, reading the stream pauses. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** Close codes: 1001 we stop, 1008 no longer signed in, 1013 too slow. After 1001 and 1013 a client reconnects. */
export const CLOSE = { stopping: 1001, signedOut: 1008, tooSlow: 1013 } as const;

export interface ResumePoint {
  readonly stream: string;
  readonly after: number;
}

export interface Connection {
  readonly identity: SignedIn;
  /** Sends the new frames of the stream until the send buffer is full. */
  pump(): void;
  /** Pings the socket, and ends one that did not answer the last ping. */
  beat(): void;
  close(code: number, why: string): void;
  terminate(): void;
}

export function createConnection(
  socket: WebSocket,
  identity: SignedIn,
  stream: UserStream,
  from: ResumePoint | undefined,
): Connection {
  let hasAnswered = true;
  let isWaiting = false;
  socket.on("pong", () => {
    hasAnswered = true;
  });
  // A close event follows, which is handled.
  socket.on("error", () => {});

  const send = (frame: Declared<typeof SocketFrame>): void =>
    socket.send(JSON.stringify(toWire(SocketFrame, frame)));
  const resumed = from?.stream === stream.name ? stream.resume(from.after) : undefined;
  const place: Place = resumed ?? stream.begin();
  const here = { stream: stream.name, id: place.at };
  send({ type: "hello", ...here, user: identity.user });
  if (from !== undefined && resumed === undefined)
    send({ type: "resync", ...here, reason: "Events were missed: fetch the thread again." });

  const close = (code: number, why: string): void => socket.close(code, why);
  const pump = (): void => {
    if (isWaiting) return;
    while (socket.readyState === socket.OPEN) {
      const entry = stream.next(place);
      if (entry === undefined) return;
      if (entry === "lost") {
        close(CLOSE.tooSlow, "too slow; reconnect and resume");
        return;
      }
      isWaiting = socket.bufferedAmount + entry.text.length > MAX_BUFFERED_BYTES;
      socket.send(entry.text, isWaiting ? resumeSending : undefined);
      if (isWaiting) return;
    }
  };
  const resumeSending = (): void => {
    isWaiting = false;
    pump();
  };

  return {
    identity,
    pump,
    beat() {
      if (!hasAnswered) return socket.terminate();
      hasAnswered = false;
      socket.ping();
      // A browser cannot see pings; this lets a page notice that its connection is dead.
      if (!isWaiting) send({ type: "alive", stream: stream.name, id: place.at });
    },
    close,
    terminate: () => socket.terminate(),
  };
}
