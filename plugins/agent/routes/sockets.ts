/** The sockets of the chat and the streams they read. A stream is kept for a while, so that one can reconnect. */

import type { WebSocket } from "ws";
import { type Declared, toWire } from "../../../kernel/kit/schema.ts";
import type { Services, User } from "../../../kernel/plugin.ts";
import { SocketFrame } from "./frame.ts";
import { openStream, type ReadPosition, type UserStream } from "./stream.ts";

export interface SocketTimes {
  readonly beatMillis: number;
  /** How long a stream without readers is kept. */
  readonly keepMillis: number;
}

/** Close codes: 1001 we stop, 1013 too slow. After both a client reconnects. */
const CLOSE = { stopping: 1001, tooSlow: 1013 } as const;

const TIMES: SocketTimes = { beatMillis: 30_000, keepMillis: 10 * 60_000 };

export type Sockets = ReturnType<typeof createSockets>;

interface Seat {
  readonly stream: UserStream;
  readonly connections: Set<Connection>;
  leftAt: number;
}

export function createSockets(
  agent: Pick<Services["agent"], "watch">,
  { beatMillis, keepMillis }: SocketTimes = TIMES,
) {
  const seats = new Map<string, Seat>();
  const timer = setInterval(() => {
    for (const [user, { stream, connections, leftAt }] of seats) {
      for (const connection of connections) connection.sayAlive();
      const isLeft = connections.size === 0 && !stream.hasOpenTurns && Date.now() - leftAt > keepMillis;
      if (!isLeft) continue;
      stream.close();
      seats.delete(user);
    }
  }, beatMillis);

  const seatOf = (user: string): Seat => {
    let seat = seats.get(user);
    if (seat === undefined) {
      const connections = new Set<Connection>();
      const stream = openStream(
        (listener) => agent.watch(user, listener, () => lose(user)),
        () => {
          for (const connection of connections) connection.pump();
        },
      );
      seat = { stream, connections, leftAt: Date.now() };
      seats.set(user, seat);
    }
    seat.leftAt = Date.now();
    return seat;
  };
  /** Frames are missing: a client that reconnects gets a stream with another name and reads the thread again. */
  const lose = (user: string): void => {
    const seat = seats.get(user);
    seats.delete(user);
    seat?.stream.close();
    for (const { socket } of seat?.connections ?? [])
      socket.close(CLOSE.tooSlow, "events were missed; reconnect");
  };

  return {
    /** Opens the user's stream, so that no event of their turns is missed from now on. */
    follow: (user: string) => void seatOf(user),
    connect(socket: WebSocket, user: User, from: ResumePoint | undefined): void {
      const seat = seatOf(user.id);
      const connection = createConnection(socket, user, seat.stream, from);
      seat.connections.add(connection);
      socket.on("close", () => {
        seat.connections.delete(connection);
        seat.leftAt = Date.now();
      });
      connection.pump();
    },
    /** Returns the number of open streams, with or without readers. */
    streams: () => seats.size,
    close(): void {
      clearInterval(timer);
      for (const { stream, connections } of seats.values()) {
        stream.close();
        for (const { socket } of connections) socket.close(CLOSE.stopping, "the service is stopping");
      }
      seats.clear();
    },
  };
}

interface ResumePoint {
  readonly stream: string;
  readonly after: number;
}

/** Reads the position from the query of a client that reconnects. */
export function resumePoint(query: URLSearchParams): ResumePoint | undefined {
  const stream = query.get("stream");
  const after = query.get("after") ?? "";
  return stream !== null && /^\d{1,15}$/.test(after) ? { stream, after: Number(after) } : undefined;
}

/** With more bytes than this in the send buffers, reading the stream pauses. */
const MAX_BUFFERED_BYTES = 256 * 1024;

type Connection = ReturnType<typeof createConnection>;

/** One socket that reads a stream. Frames that its client has not read stay in the stream. */
function createConnection(socket: WebSocket, user: User, stream: UserStream, from: ResumePoint | undefined) {
  let isWaiting = false;
  const send = (frame: Declared<typeof SocketFrame>): void =>
    socket.send(JSON.stringify(toWire(SocketFrame, frame)));
  const resumed = from?.stream === stream.name ? stream.resume(from.after) : undefined;
  const place: ReadPosition = resumed ?? stream.begin();
  const here = { stream: stream.name, id: place.at };
  send({ type: "hello", ...here, user });
  if (from !== undefined && resumed === undefined)
    send({ type: "resync", ...here, reason: "Events were missed: fetch the thread again." });

  /** Sends the new frames of the stream until the send buffer is full. */
  const pump = (): void => {
    while (!isWaiting && socket.readyState === socket.OPEN) {
      const entry = stream.next(place);
      if (entry === undefined) return;
      if (entry === "lost") {
        socket.close(CLOSE.tooSlow, "too slow; reconnect and resume");
        return;
      }
      isWaiting = socket.bufferedAmount + entry.text.length > MAX_BUFFERED_BYTES;
      socket.send(entry.text, isWaiting ? resumeSending : undefined);
    }
  };
  const resumeSending = (): void => {
    isWaiting = false;
    pump();
  };

  return {
    socket,
    pump,
    /** A browser cannot see pings; this lets a page notice that its connection is dead. */
    sayAlive() {
      if (!isWaiting) send({ type: "alive", stream: stream.name, id: place.at });
    },
  };
}
