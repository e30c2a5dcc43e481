/** One open socket. It reads the stream at its own pace; what it has not read stays in the stream, not in a buffer here. */
import type { WebSocket } from "ws";
import { type Declared, toWire } from "../../../kernel/kit.ts";
import type { SignedIn } from "../../../kernel/plugin.ts";
import { SocketFrame } from "./frame.ts";
import type { Place, UserStream } from "./stream.ts";

/** So many bytes may wait in the kernel's and our own send buffer before we stop to read on. */
const BUFFERED_BYTES = 256 * 1024;

/** Close codes: 1001 we stop, 1008 no longer signed in, 1013 too slow. After 1001 and 1013 a client comes back. */
export const CLOSE = { stopping: 1001, signedOut: 1008, tooSlow: 1013 } as const;

export interface ResumePoint {
  readonly stream: string;
  readonly after: number;
}

export interface Connection {
  readonly identity: SignedIn;
  /** Sends what has happened since, as far as the socket takes it. */
  pump(): void;
  /** Ends a socket that did not answer the last time; asks it again otherwise. */
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
  // The close that follows says all there is to say.
  socket.on("error", () => {});

  const say = (frame: Declared<typeof SocketFrame>): void =>
    socket.send(JSON.stringify(toWire(SocketFrame, frame)));
  const resumed = from?.stream === stream.name ? stream.resume(from.after) : undefined;
  const place: Place = resumed ?? stream.begin();
  const here = { stream: stream.name, id: place.at };
  say({ type: "hello", ...here, user: identity.user });
  if (from !== undefined && resumed === undefined)
    say({ type: "resync", ...here, reason: "Events were missed: fetch the thread again." });

  const close = (code: number, why: string): void => socket.close(code, why);
  const pump = (): void => {
    if (isWaiting) return;
    while (socket.readyState === socket.OPEN) {
      const entry = stream.next(place);
      if (entry === undefined) return;
      if (entry === "lost") {
        close(CLOSE.tooSlow, "too slow; come back and resume");
        return;
      }
      isWaiting = socket.bufferedAmount + entry.text.length > BUFFERED_BYTES;
      socket.send(entry.text, isWaiting ? goOn : undefined);
      if (isWaiting) return;
    }
  };
  const goOn = (): void => {
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
      if (!isWaiting) say({ type: "alive", stream: stream.name, id: place.at });
    },
    close,
    terminate: () => socket.terminate(),
  };
}
