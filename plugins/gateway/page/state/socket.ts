/** The socket that brings every turn's events, and comes back by itself after a drop. */
import { update } from "./app.ts";
import { connected, receive, resync } from "./turns.ts";
import type { SocketFrame } from "./wire.ts";

const SIGNED_OUT = 1008;
const FIRST_WAIT_MILLIS = 500;
const LONGEST_WAIT_MILLIS = 15_000;
// The server gives a sign of life every 30 s; two missed ones mean that the line is dead.
const SILENCE_MILLIS = 75_000;

/** Opens the socket and keeps it open until the answer is called. */
export function keepConnected(): () => void {
  let socket: WebSocket | undefined;
  let stream: string | undefined;
  let last = 0;
  let wait = FIRST_WAIT_MILLIS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  const listenForSilence = () => {
    clearTimeout(silence);
    silence = setTimeout(() => socket?.close(), SILENCE_MILLIS);
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
      wait = Math.min(wait * 2, LONGEST_WAIT_MILLIS);
    };
  };

  const take = (frame: SocketFrame) => {
    if (frame.type === "hello") {
      // Numbers begin anew after a restart of the service: what came before must be read from the store.
      const isFirst = stream === undefined;
      const isNewStream = !isFirst && stream !== frame.stream;
      stream = frame.stream;
      last = frame.id;
      wait = FIRST_WAIT_MILLIS;
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
