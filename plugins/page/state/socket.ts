/** The socket for the events of all turns. It reconnects by itself. */
import { update } from "./app.ts";
import { connected, receive, resync } from "./turns.ts";
import type { SocketFrame } from "./wire.ts";

const SIGNED_OUT = 1008;
const MIN_WAIT_MS = 500;
const MAX_WAIT_MS = 15_000;
// The server sends a frame at least every 30 s; after two missed ones the connection is dead.
const MAX_SILENCE_MS = 75_000;

/** Opens the socket and keeps it open. Returns a function that closes it. */
export function keepConnected(): () => void {
  let socket: WebSocket | undefined;
  let stream: string | undefined;
  let last = 0;
  let wait = MIN_WAIT_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  const listenForSilence = () => {
    clearTimeout(silence);
    silence = setTimeout(() => socket?.close(), MAX_SILENCE_MS);
  };

  const open = () => {
    clearTimeout(timer);
    const place = stream === undefined ? "" : `?${new URLSearchParams({ stream, after: String(last) })}`;
    const opened = new WebSocket(`${location.origin.replace(/^http/, "ws")}/api/chat/ws${place}`);
    socket = opened;
    opened.onmessage = ({ data }) => {
      listenForSilence();
      take(JSON.parse(String(data)) as SocketFrame);
    };
    opened.onclose = ({ code }) => {
      clearTimeout(silence);
      if (isStopped || socket !== opened) return;
      update({ connected: false });
      if (code === SIGNED_OUT) return update({ signedOut: true, user: undefined });
      timer = setTimeout(open, wait);
      wait = Math.min(wait * 2, MAX_WAIT_MS);
    };
  };

  const take = (frame: SocketFrame) => {
    if (frame.type === "hello") {
      // After a restart of the service the numbers start again, so the store has to be read.
      const isFirst = stream === undefined;
      const isNewStream = !isFirst && stream !== frame.stream;
      stream = frame.stream;
      last = frame.id;
      wait = MIN_WAIT_MS;
      if (isFirst) connected();
      else update({ connected: true });
      if (isNewStream) resync();
    } else if (frame.type === "resync") {
      resync();
    } else if (frame.type !== "alive") {
      last = frame.id;
      receive(frame);
    }
  };

  const wakeUp = () => {
    if (document.visibilityState === "visible" && socket?.readyState === WebSocket.CLOSED) open();
  };
  document.addEventListener("visibilitychange", wakeUp);
  addEventListener("online", wakeUp);
  open();
  return () => {
    isStopped = true;
    clearTimeout(timer);
    clearTimeout(silence);
    document.removeEventListener("visibilitychange", wakeUp);
    removeEventListener("online", wakeUp);
    socket?.close();
  };
}
