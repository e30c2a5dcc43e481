/** The socket for the events of the user's turns. It reconnects by itself, and says when events were missed. */
import { WebSocket } from "ws";
import type { User } from "../../kernel/kit/people.ts";
import { fromWire } from "../../kernel/kit/schema.ts";
import { tryJson } from "../../kernel/kit/text.ts";
import { TurnEvent } from "../../kernel/kit/turns.ts";
import { Fault, type Mask, reason } from "../../kernel/plugin.ts";
import type { Terminal } from "../tui/services.ts";
import { type ServiceAddress, type ServiceLocation, tokenRefused } from "./address.ts";
import { readFault } from "./refusal.ts";
import { bearer, checkOf } from "./requests.ts";
import { Frame } from "./wire.ts";

type Watch = Terminal["watch"];

export type Events = ReturnType<typeof createEvents>;

const SOCKET_PATH = "/api/chat/ws";
const MIN_WAIT_MS = 500;
const MAX_WAIT_MS = 15_000;
// The server sends a frame at least every 30 s; after two missed ones the connection is dead.
const MAX_SILENCE_MS = 75_000;
const CONNECT_TIMEOUT_MS = 15_000;
/** A frame that ends a turn has the whole turn in it. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 2000;
const SIGNED_OUT = 1008;

export function createEvents(service: ServiceAddress, mask: Mask) {
  const listeners = new Set<Parameters<Watch>>();
  /** Set while the socket is open. */
  let connected: ServiceLocation | undefined;
  let socket: WebSocket | undefined;
  let problem: string | undefined;
  let at: { stream: string; id: number } | undefined;
  let wait = MIN_WAIT_MS;
  let timer: NodeJS.Timeout | undefined;
  let silence: NodeJS.Timeout | undefined;
  let isClosed = false;
  let opening: Promise<User> | undefined;

  const listenForSilence = () => {
    clearTimeout(silence);
    silence = setTimeout(() => socket?.terminate(), MAX_SILENCE_MS).unref();
  };

  /** Returns who is signed in, if the frame says so. What a newer service sends besides is for newer clients. */
  function take(value: unknown): User | undefined {
    if (checkOf(Frame)(value).length > 0) return undefined;
    const { type, id, stream = at?.stream ?? "", user, turn, thread } = fromWire(Frame, value);
    at = { stream, id };
    if (type === "resync") for (const [, lost] of listeners) lost();
    if (turn === undefined || thread === undefined || checkOf(TurnEvent)(value).length > 0) return user;
    const event = fromWire(TurnEvent, value);
    for (const [tell] of listeners) tell(event, { id: turn, thread });
    return undefined;
  }

  function locate(): ServiceLocation {
    const place = service.locate();
    mask.add(place.token);
    return place;
  }

  /** Resolves when the service has said who is signed in. */
  function connect(): Promise<User> {
    const place = locate();
    const { promise, resolve, reject } = Promise.withResolvers<User>();
    const url = new URL(SOCKET_PATH, place.origin);
    if (at) url.search = String(new URLSearchParams({ stream: at.stream, after: String(at.id) }));
    const opened = new WebSocket(url, {
      headers: { authorization: bearer(place.token) },
      handshakeTimeout: CONNECT_TIMEOUT_MS,
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
    });
    socket = opened;
    opened.on("message", (data) => {
      listenForSilence();
      const user = take(tryJson(String(data)));
      if (user === undefined) return;
      connected = place;
      problem = undefined;
      wait = MIN_WAIT_MS;
      resolve(user);
    });
    opened.on("unexpected-response", (request, response) => {
      let words = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        if (words.length < MAX_REFUSAL_BYTES) words += chunk;
      });
      response.on("end", () => {
        reject(refusal(url, response.statusCode ?? 0, words));
        request.destroy();
        opened.terminate();
      });
    });
    opened.on("error", (error) => reject(unreachable(place.origin, error)));
    opened.on("close", (code) => {
      clearTimeout(silence);
      reject(unreachable(place.origin, new Error("it closed the connection")));
      if (socket !== opened || connected === undefined) return;
      connected = undefined;
      problem = code === SIGNED_OUT ? tokenRefused(service, place.origin).message : away(place.origin);
      retry();
    });
    return promise;
  }

  function refusal({ origin, host }: URL, status: number, words: string): Fault {
    return status === 401 ? tokenRefused(service, origin) : readFault(host, status, words);
  }

  function retry(): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      // Called later, so that a service that cannot be located is a reason to try again like any other.
      Promise.try(connect).catch((error: unknown) => {
        if (error instanceof Fault && error.kind !== "unavailable") problem = error.message;
        retry();
      });
    }, wait);
    wait = Math.min(wait * 2, MAX_WAIT_MS);
  }

  return {
    /** Opens the socket and keeps it open from then on. Rejects with a `Fault` where that cannot be done at all. */
    open(): Promise<User> {
      opening ??= Promise.try(connect);
      return opening;
    },
    /** Where requests go. Throws where the socket was opened and there is no connection. */
    place(): ServiceLocation {
      if (opening === undefined) return locate();
      if (connected !== undefined) return connected;
      throw new Fault("unavailable", "not_connected", problem ?? "There is no connection.");
    },
    /** Why there is no connection; undefined while there is one. */
    problem: () => problem,
    watch(...listener: Parameters<Watch>): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(silence);
      socket?.terminate();
    },
  };
}

const away = (origin: string) => `No connection to ${origin}: trying again.`;

function unreachable(origin: string, error: unknown): Fault {
  return new Fault("unavailable", "service_unreachable", `${origin} cannot be reached: ${reason(error)}`);
}
