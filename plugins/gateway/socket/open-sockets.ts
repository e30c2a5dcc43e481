/** Open sockets: each is kept alive, and closed when its user is no longer signed in or the service stops. */

import type { WebSocket } from "ws";
import type { SignedIn } from "../../accounts/services.ts";
import type { Authenticator } from "../sign-in/authenticator.ts";

/** Close codes: 1001 we stop, after which a client reconnects, and 1008 no longer signed in. */
const CLOSE = { stopping: 1001, signedOut: 1008 } as const;

const BEAT_MS = 30_000;
const STOP_TIMEOUT_MS = 1000;
const MAX_UNREAD_BYTES = 32 * 1024 * 1024;

interface Held {
  readonly identity: SignedIn;
  /** False from a ping until its pong. */
  hasAnswered: boolean;
}

export type OpenSockets = ReturnType<typeof createOpenSockets>;

export function createOpenSockets({ isValid }: Pick<Authenticator, "isValid">, beatMillis = BEAT_MS) {
  const open = new Map<WebSocket, Held>();
  const check = async (socket: WebSocket, { identity }: Held): Promise<void> => {
    if (!(await isValid(identity))) socket.close(CLOSE.signedOut, "signed out");
  };
  /** Closes the sockets of users who are no longer signed in. */
  const recheck = async (): Promise<void> => {
    await Promise.all([...open].map(([socket, held]) => check(socket, held)));
  };
  const timer = setInterval(() => {
    void recheck();
    for (const [socket, held] of open) {
      // A client sends pongs whether or not it reads.
      if (!held.hasAnswered || socket.bufferedAmount > MAX_UNREAD_BYTES) socket.terminate();
      held.hasAnswered = false;
      if (socket.readyState === socket.OPEN) socket.ping();
    }
  }, beatMillis);

  return {
    add(socket: WebSocket, identity: SignedIn): void {
      const held: Held = { identity, hasAnswered: true };
      open.set(socket, held);
      socket.on("pong", () => {
        held.hasAnswered = true;
      });
      socket.on("close", () => open.delete(socket));
      // A close event follows, which is handled.
      socket.on("error", () => {});
      // The sign-in may have been revoked after it was checked and before the socket was in `open`.
      void check(socket, held);
    },
    countOf: (user: string) => [...open.values()].filter(({ identity }) => identity.user.id === user).length,
    countUsers: () => new Set([...open.values()].map(({ identity }) => identity.user.id)).size,
    count: () => open.size,
    recheck,
    async close(): Promise<void> {
      clearInterval(timer);
      for (const socket of open.keys()) socket.close(CLOSE.stopping, "the service is stopping");
      for (const deadline = Date.now() + STOP_TIMEOUT_MS; open.size > 0 && Date.now() < deadline; )
        await new Promise((resolve) => setTimeout(resolve, 10));
      for (const socket of open.keys()) socket.terminate();
    },
  };
}
