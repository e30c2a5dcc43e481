/** All sockets and the streams they read. A stream is kept for a while without readers, so that one can reconnect. */
import type { WebSocket } from "ws";
import type { SignedIn } from "../../../kernel/kit.ts";
import type { Services } from "../../../kernel/plugin.ts";
import type { Authenticator } from "../sign-in/authenticator.ts";
import { CLOSE, type Connection, createConnection, type ResumePoint } from "./connection.ts";
import { openStream, type UserStream } from "./stream.ts";

export interface SocketTimes {
  readonly beatMillis: number;
  /** How long a stream without readers is kept. */
  readonly keepMillis: number;
}

const TIMES: SocketTimes = { beatMillis: 30_000, keepMillis: 10 * 60_000 };

const STOP_TIMEOUT_MS = 1000;

export interface Sockets {
  /** Opens the user's stream, so that no event of their turns is missed from now on. */
  follow(user: string): void;
  connect(socket: WebSocket, identity: SignedIn, from: ResumePoint | undefined): void;
  countOf(user: string): number;
  readonly count: number;
  readonly users: number;
  /** The number of open streams, with or without readers. */
  readonly streams: number;
  /** Closes the sockets of users who are no longer signed in. */
  recheck(): Promise<void>;
  close(): Promise<void>;
}

interface Seat {
  readonly stream: UserStream;
  readonly connections: Set<Connection>;
  leftAt: number;
}

export function createSockets(
  agent: Services["agent"],
  { isValid }: Pick<Authenticator, "isValid">,
  times: SocketTimes = TIMES,
): Sockets {
  const seats = new Map<string, Seat>();

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
    for (const connection of seat?.connections ?? [])
      connection.close(CLOSE.tooSlow, "events were missed; reconnect");
  };
  const all = (): readonly Connection[] => [...seats.values()].flatMap(({ connections }) => [...connections]);

  const check = async (connection: Connection): Promise<void> => {
    if (!(await isValid(connection.identity))) connection.close(CLOSE.signedOut, "signed out");
  };
  const recheck = async (): Promise<void> => {
    await Promise.all(all().map(check));
  };
  const sweep = (): void => {
    for (const [user, { stream, connections, leftAt }] of seats) {
      const isLeft = connections.size === 0 && !stream.hasOpenTurns && Date.now() - leftAt > times.keepMillis;
      if (!isLeft) continue;
      stream.close();
      seats.delete(user);
    }
  };
  const timer = setInterval(() => {
    void recheck();
    for (const connection of all()) connection.beat();
    sweep();
  }, times.beatMillis);

  return {
    follow: (user) => void seatOf(user),
    connect(socket, identity, from) {
      const seat = seatOf(identity.user.id);
      const connection = createConnection(socket, identity, seat.stream, from);
      seat.connections.add(connection);
      socket.on("close", () => {
        seat.connections.delete(connection);
        seat.leftAt = Date.now();
      });
      connection.pump();
      // The sign-in may have been revoked after it was checked and before the connection was in its seat.
      void check(connection);
    },
    countOf: (user) => seats.get(user)?.connections.size ?? 0,
    get count() {
      return all().length;
    },
    get users() {
      return [...seats.values()].filter(({ connections }) => connections.size > 0).length;
    },
    get streams() {
      return seats.size;
    },
    recheck,
    async close() {
      clearInterval(timer);
      for (const connection of all()) connection.close(CLOSE.stopping, "the service is stopping");
      for (const deadline = Date.now() + STOP_TIMEOUT_MS; all().length > 0 && Date.now() < deadline; )
        await new Promise((resolve) => setTimeout(resolve, 10));
      for (const connection of all()) connection.terminate();
      for (const { stream } of seats.values()) stream.close();
      seats.clear();
    },
  };
}
