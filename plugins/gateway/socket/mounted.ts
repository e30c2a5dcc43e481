/** Sockets that other plugins take: the gateway checks the sign-in, keeps the connection alive and closes it. */
import type { WebSocket } from "ws";
import type { MountedSocket, SignedIn } from "../../../kernel/kit.ts";
import type { Authenticator } from "../sign-in/authenticator.ts";
import { CLOSE } from "./connection.ts";

const PING_INTERVAL_MS = 30_000;
const STOP_TIMEOUT_MS = 1000;

export interface MountedSockets {
  mount(mounted: MountedSocket): void;
  at(path: string): MountedSocket | undefined;
  connect(mounted: MountedSocket, socket: WebSocket, identity: SignedIn): void;
  countOf(user: string): number;
  readonly count: number;
  /** Closes the sockets of users who are no longer signed in. */
  recheck(): Promise<void>;
  close(): Promise<void>;
}

interface Held {
  readonly identity: SignedIn;
  hasAnswered: boolean;
}

export function createMountedSockets(
  { isValid }: Pick<Authenticator, "isValid">,
  pingMillis = PING_INTERVAL_MS,
): MountedSockets {
  const sockets = new Map<string, MountedSocket>();
  const open = new Map<WebSocket, Held>();

  const check = async ([socket, { identity }]: readonly [WebSocket, Held]): Promise<void> => {
    if (!(await isValid(identity))) socket.close(CLOSE.signedOut, "signed out");
  };
  const recheck = async (): Promise<void> => {
    await Promise.all([...open].map(check));
  };
  const timer = setInterval(() => {
    void recheck();
    for (const [socket, held] of open) {
      if (!held.hasAnswered) socket.terminate();
      held.hasAnswered = false;
      if (socket.readyState === socket.OPEN) socket.ping();
    }
  }, pingMillis);

  return {
    mount: (mounted) => void sockets.set(mounted.path, mounted),
    at: (path) => sockets.get(path),
    connect(mounted, socket, identity) {
      const held: Held = { identity, hasAnswered: true };
      open.set(socket, held);
      socket.on("pong", () => {
        held.hasAnswered = true;
      });
      socket.on("close", () => open.delete(socket));
      // A close event follows, which is handled.
      socket.on("error", () => {});
      mounted.accept(socket, identity.user);
      // The sign-in may have been revoked after it was checked and before the socket was in `open`.
      void check([socket, held]);
    },
    countOf: (user) => [...open.values()].filter(({ identity }) => identity.user.id === user).length,
    get count() {
      return open.size;
    },
    recheck,
    async close() {
      clearInterval(timer);
      for (const socket of open.keys()) socket.close(CLOSE.stopping, "the service is stopping");
      for (const deadline = Date.now() + STOP_TIMEOUT_MS; open.size > 0 && Date.now() < deadline; )
        await new Promise((resolve) => setTimeout(resolve, 10));
      for (const socket of open.keys()) socket.terminate();
    },
  };
}
