/** Sockets that other plugins take: the gateway says who is there, keeps the connection alive and ends it. */
import type { WebSocket } from "ws";
import type { MountedSocket } from "../../../kernel/kit.ts";
import type { SignedIn } from "../../../kernel/plugin.ts";
import type { Authenticator } from "../sign-in/authenticator.ts";
import { CLOSE } from "./connection.ts";

const BEAT_MILLIS = 30_000;
const STOP_MILLIS = 1000;

export interface MountedSockets {
  mount(mounted: MountedSocket): void;
  at(path: string): MountedSocket | undefined;
  connect(mounted: MountedSocket, socket: WebSocket, identity: SignedIn): void;
  countOf(user: string): number;
  readonly count: number;
  /** Closes the sockets of those who are no longer signed in. */
  recheck(): Promise<void>;
  close(): Promise<void>;
}

interface Held {
  readonly identity: SignedIn;
  hasAnswered: boolean;
}

export function createMountedSockets(
  { isValid }: Pick<Authenticator, "isValid">,
  beatMillis = BEAT_MILLIS,
): MountedSockets {
  const places = new Map<string, MountedSocket>();
  const open = new Map<WebSocket, Held>();

  const check = async ([socket, { identity }]: readonly [WebSocket, Held]): Promise<void> => {
    if (!(await isValid(identity))) socket.close(CLOSE.signedOut, "signed out");
  };
  const recheck = async (): Promise<void> => {
    await Promise.all([...open].map(check));
  };
  const heart = setInterval(() => {
    void recheck();
    for (const [socket, held] of open) {
      if (!held.hasAnswered) socket.terminate();
      held.hasAnswered = false;
      if (socket.readyState === socket.OPEN) socket.ping();
    }
  }, beatMillis);

  return {
    mount: (mounted) => void places.set(mounted.path, mounted),
    at: (path) => places.get(path),
    connect(mounted, socket, identity) {
      const held: Held = { identity, hasAnswered: true };
      open.set(socket, held);
      socket.on("pong", () => {
        held.hasAnswered = true;
      });
      socket.on("close", () => open.delete(socket));
      // The close that follows says all there is to say.
      socket.on("error", () => {});
      mounted.accept(socket, identity.user);
      // What was revoked after the request was checked and before the socket was among those that are rechecked.
      void check([socket, held]);
    },
    countOf: (user) => [...open.values()].filter(({ identity }) => identity.user.id === user).length,
    get count() {
      return open.size;
    },
    recheck,
    async close() {
      clearInterval(heart);
      for (const socket of open.keys()) socket.close(CLOSE.stopping, "the service stops");
      for (const deadline = Date.now() + STOP_MILLIS; open.size > 0 && Date.now() < deadline; )
        await new Promise((resolve) => setTimeout(resolve, 10));
      for (const socket of open.keys()) socket.terminate();
    },
  };
}
