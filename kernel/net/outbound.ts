/**
 * Every request that leaves Postern. Who may be dialled, redirects, the cap, the deadline and what is hidden in the reply are
 * options; that a checked address is the one dialled, that TLS is verified and that nothing is followed unasked is not.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Dispatcher } from "undici-types";
import { reason } from "../fault.ts";
import type { Mask } from "../mask/mask.ts";
import { AddressRefused, hostAndPort, type PrivateHosts } from "./address.ts";
import type { DialOptions } from "./dialer.ts";
import { type Exchanged, exchange, OutboundError, type Room, Unanswered } from "./exchange.ts";

export { OutboundError } from "./exchange.ts";

export interface OutboundOptions extends DialOptions {
  /** Appended to a refused address, to say what an operator can do about it. */
  readonly refusedHint?: string;
}

export interface OutboundRequest {
  readonly method?: string | undefined;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly timeoutMs: number;
  /** Ends the request when the server sends nothing for so long; without it only `timeoutMs` counts. */
  readonly stallMs?: number | undefined;
  readonly maxBytes: number;
  readonly room?: Room | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The number of redirects of a GET or HEAD to follow. With none, the default, a redirect is a reply like any other. */
  readonly redirects?: number | undefined;
  /** Sending it twice does no harm; by default that of a GET or HEAD. */
  readonly isRepeatable?: boolean | undefined;
  /** Sent with the request, but not to another origin that a redirect leads to. */
  readonly authorization?: string | undefined;
  /** In place of the exceptions of all requests. */
  readonly privateHosts?: PrivateHosts | undefined;
  /** The server that chose the URL, where no person did: a public one must not lead us to the operator's private hosts. */
  readonly namedBy?: URL | undefined;
  /** Checks and normalises the URL and each that a redirect names; throws where one must not be asked. */
  readonly admit?: ((url: string, privateHosts: PrivateHosts) => URL) | undefined;
  readonly onBytes?: ((count: number) => void) | undefined;
}

export interface OutboundReply extends Exchanged {
  /** The address that answered, after redirects. */
  readonly url: URL;
}

export interface FetchBounds {
  /** Bounds the whole reply, or each event of a stream of events. */
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
  /** Hides the secrets that were sent along in what comes back. */
  readonly mask?: Pick<Mask, "hide" | "stream"> | undefined;
  /** The exceptions for this request, in place of those for all. */
  readonly privateHosts?: PrivateHosts | undefined;
  /** Returns a redirect instead of failing on it; the caller decides where it may lead. */
  readonly returnsRedirects?: boolean;
}

export interface Outbound {
  /** Sends a request and reads the whole reply. Throws an `OutboundError`. */
  send(request: OutboundRequest): Promise<OutboundReply>;
  /** A `fetch` for protocol code that is not ours. Throws an `OutboundError`, or the reason of the caller's signal. */
  fetch(url: URL, init?: RequestInit, bounds?: FetchBounds): Promise<Response>;
  /** Serves the one reader that takes bytes from the socket as they come. */
  dispatcher(): Promise<Dispatcher>;
  close(): Promise<void>;
}

export const MAX_REPLY_BYTES = 10 * 1024 * 1024;
const MAX_REPLY_HEADER_BYTES = 16 * 1024;

const READS = new Set(["GET", "HEAD"]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const LOST_CODES = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);
const CANCELLED = new Error("the call is over");
const TIMED_OUT = new Error("the time is up");
const STALLED = new Error("nothing came");

export function createOutbound(options: OutboundOptions): Outbound {
  const { privateHosts, refusedHint = "" } = options;
  const isException = (url: URL) => privateHosts === "any" || privateHosts.has(hostAndPort(url));
  const agents = new Map<string, Promise<Dispatcher>>();
  // By what is in the set, which may change: a connection that was allowed once is not used for a request that is not.
  const keyOf = (hosts: PrivateHosts | "any"): string =>
    hosts === "any" ? hosts : [...hosts].sort().join(" ");
  // Loaded late: commands that send nothing should not wait for it.
  const dial = (hosts: PrivateHosts | "any"): Promise<Dispatcher> => {
    const key = keyOf(hosts);
    const known = agents.get(key);
    if (known) return known;
    const opened = import("./dialer.ts").then(({ createDialer }) =>
      createDialer({ maxHeaderBytes: MAX_REPLY_HEADER_BYTES, ...options, privateHosts: hosts }),
    );
    agents.set(key, opened);
    return opened;
  };

  function explain(error: unknown, { host }: URL, timeoutMs: number, stallMs = timeoutMs): OutboundError {
    if (error instanceof OutboundError) return error;
    if (error instanceof AddressRefused) return new OutboundError("address", error.message + refusedHint);
    if (error === CANCELLED) return new OutboundError("cancelled", "The call was cancelled.");
    if (error === STALLED)
      return new OutboundError("timeout", `${host} sent nothing for ${stallMs / 1000} seconds.`);
    if (error === TIMED_OUT)
      return new OutboundError(
        "timeout",
        `${host} gave no complete answer within ${timeoutMs / 1000} seconds.`,
      );
    if ((error as NodeJS.ErrnoException | undefined)?.code === "UND_ERR_HEADERS_OVERFLOW")
      return new OutboundError(
        "reply",
        `${host} answered with more than ${options.maxHeaderBytes ?? MAX_REPLY_HEADER_BYTES} bytes of headers, which is the most that is read.`,
      );
    return new OutboundError("failed", `The request to ${host} failed: ${reason(error)}`, { cause: error });
  }

  async function sendOnce(
    hosts: PrivateHosts | "any",
    url: URL,
    headers: Readonly<Record<string, string>>,
    request: OutboundRequest,
  ): Promise<Exchanged> {
    const {
      method = "GET",
      isRepeatable = READS.has(method),
      body,
      timeoutMs,
      stallMs,
      maxBytes,
      room,
      signal,
    } = request;
    const agent = await dial(hosts);
    // Not AbortSignal.timeout and AbortSignal.any: they cost more than sending does.
    const stop = new AbortController();
    const cancel = () => stop.abort(CANCELLED);
    const timer = setTimeout(() => stop.abort(TIMED_OUT), timeoutMs);
    const stall = stallMs === undefined ? undefined : setTimeout(() => stop.abort(STALLED), stallMs);
    if (signal?.aborted) cancel();
    else signal?.addEventListener("abort", cancel, { once: true });
    try {
      const once = () =>
        exchange(agent, { method, url, headers, body }, stop.signal, {
          maxBytes,
          room,
          onBytes: (count) => {
            stall?.refresh();
            request.onBytes?.(count);
          },
        });
      // A server may close a kept connection just as it is used again: nothing was answered, so a read is sent anew.
      return await once().catch((error: unknown) => {
        if (isRepeatable && isLost(error)) return once();
        throw error;
      });
    } catch (error) {
      throw explain(error instanceof Unanswered ? error.cause : error, url, timeoutMs, stallMs);
    } finally {
      clearTimeout(timer);
      clearTimeout(stall);
      signal?.removeEventListener("abort", cancel);
    }
  }

  async function send(request: OutboundRequest): Promise<OutboundReply> {
    const { url: first, method = "GET", headers: given = {}, redirects = 0, authorization } = request;
    const { namedBy, admit } = request;
    let url = first;
    let by = namedBy;
    let isPublic = false;
    let isSame = true;
    for (let count = 0; ; count++) {
      // Neither comes back: not the exceptions after a public server, not the credentials after another origin.
      isPublic ||= by !== undefined && !isException(by);
      isSame &&= url.origin === first.origin;
      const headers = isSame && authorization !== undefined ? { ...given, authorization } : given;
      const hosts = isPublic ? NO_HOSTS : (request.privateHosts ?? privateHosts);
      if (admit && hosts !== "any") url = admit(url.href, hosts);
      const reply = await sendOnce(hosts, url, headers, request);
      if (redirects === 0 || !REDIRECTS.has(reply.status) || !READS.has(method)) return { ...reply, url };
      if (count === redirects)
        throw new OutboundError("reply", `${first.host} redirects more than ${redirects} times.`);
      const to = URL.parse([reply.headers.location ?? ""].flat()[0] ?? "", url);
      if (to === null) throw new OutboundError("reply", `${url.host} redirects to an invalid URL.`);
      by = url;
      url = to;
    }
  }

  async function boundedFetch(url: URL, init: RequestInit = {}, bounds: FetchBounds = {}): Promise<Response> {
    const { maxBytes = MAX_REPLY_BYTES, timeoutMs, mask, returnsRedirects = false } = bounds;
    const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
    const signals = [init.signal, timeout].filter((one) => one !== undefined && one !== null);
    const signal = AbortSignal.any(signals);
    try {
      const hosts = bounds.privateHosts ?? privateHosts;
      const [{ fetch }, dispatcher] = await Promise.all([import("undici"), dial(hosts)]);
      const answer = await fetch(url, {
        method: init.method ?? "GET",
        headers: [...new Headers(init.headers)],
        body: (init.body ?? null) as string | URLSearchParams | Uint8Array | null,
        dispatcher,
        redirect: "manual",
        signal,
      });
      const { status, body } = answer;
      if (status >= 300 && status < 400 && !returnsRedirects) {
        await body?.cancel();
        throw new OutboundError("reply", `${url.host} answered with a redirect, which is not followed.`);
      }
      const isEvents = /^text\/event-stream\b/i.test(answer.headers.get("content-type") ?? "");
      const meter = isEvents
        ? meterEvents(maxBytes, init.method?.toUpperCase() === "POST")
        : meterBytes(maxBytes);
      const tooMuch = `${url.host} answered with more than ${maxBytes} bytes${isEvents ? " in an event" : ""}, which is the most that is read.`;
      const headers = [...answer.headers].filter(([name]) => !DROPPED_HEADERS.has(name));
      return new Response(
        body === null || status === 204
          ? null
          : (body as ReadableStream<Uint8Array>).pipeThrough(cap(meter, tooMuch, mask, signal)),
        {
          status,
          headers: headers.map(([name, value]): [string, string] => [name, mask?.hide(value) ?? value]),
        },
      );
    } catch (error) {
      if (init.signal?.aborted) throw init.signal.reason;
      // The platform's fetch hides the error that ended it behind one of its own.
      const cause = error instanceof TypeError ? (error.cause ?? error) : error;
      throw explain(timeout?.aborted ? TIMED_OUT : cause, url, timeoutMs ?? 0);
    }
  }

  return {
    send,
    fetch: boundedFetch,
    dispatcher: () => dial(privateHosts),
    async close() {
      await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy()));
    },
  };
}

const NO_HOSTS: PrivateHosts = new Set();

function isLost(error: unknown): boolean {
  return (
    error instanceof Unanswered &&
    !error.hasBegun &&
    LOST_CODES.has(String((error.cause as NodeJS.ErrnoException | undefined)?.code))
  );
}

/** Sizes are those before decoding. A cookie that is set after a server saw a credential is as good as the credential. */
const DROPPED_HEADERS = new Set(["content-length", "content-encoding", "set-cookie", "set-cookie2"]);

/** Returns how many milliseconds to wait before more is read, and undefined where a chunk is one too many. */
type Meter = (chunk: Uint8Array) => number | undefined;

function meterBytes(max: number): Meter {
  let size = 0;
  return (chunk) => {
    size += chunk.length;
    return size <= max ? 0 : undefined;
  };
}

const LF = 10;
const CR = 13;
/** All events of one reply together may have so many times the cap of an event. */
const EVENTS_FACTOR = 8;

/** An event ends with an empty line. The reply to a POST is bounded as a whole, notifications only in their rate. */
function meterEvents(max: number, isBounded: boolean): Meter {
  let inEvent = 0;
  let inLine = 0;
  let isAfterCr = false;
  const total = meterBytes(isBounded ? max * EVENTS_FACTOR : Number.POSITIVE_INFINITY);
  const throttle = createThrottle(2 * max);
  return (chunk) => {
    let events = 0;
    for (const byte of chunk) {
      inEvent += 1;
      const isLineEnd = byte === LF || byte === CR;
      if (!isLineEnd) inLine += 1;
      else if (byte !== LF || !isAfterCr) {
        if (inLine === 0) {
          inEvent = 0;
          events += 1;
        }
        inLine = 0;
      }
      isAfterCr = byte === CR;
      if (inEvent > max) return undefined;
    }
    return total(chunk) === undefined ? undefined : throttle(chunk.length, events);
  };
}

/** Decodes the body only where something is to be hidden in it. */
function cap(
  meter: Meter,
  tooMuch: string,
  mask: FetchBounds["mask"],
  signal: AbortSignal,
): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const hiding = mask?.stream();
  return new TransformStream({
    async transform(chunk, controller) {
      const millis = meter(chunk);
      if (millis === undefined) throw new OutboundError("size", tooMuch);
      const text = hiding?.push(decoder.decode(chunk, { stream: true }));
      if (text === undefined) controller.enqueue(chunk);
      else if (text !== "") controller.enqueue(encoder.encode(text));
      if (millis > 0)
        await wait(millis, undefined, { ref: false, signal }).catch(() => signal.throwIfAborted());
    },
    flush(controller) {
      const text = hiding === undefined ? "" : hiding.push(decoder.decode()) + hiding.end();
      if (text !== "") controller.enqueue(encoder.encode(text));
    },
  });
}

/** Reading a message takes as long as reading so many bytes. */
const MESSAGE_COST = 4096;
const COST_PER_MS = 4096;

/** Returns how many milliseconds to wait after so many bytes and messages; `burst` bytes may come at once. */
export function createThrottle(burst: number): (bytes: number, messages: number) => number {
  let debt = 0;
  let last = performance.now();
  return (bytes, messages) => {
    const now = performance.now();
    debt = Math.max(0, debt - (now - last) * COST_PER_MS) + bytes + messages * MESSAGE_COST;
    last = now;
    return Math.max(0, debt - burst) / COST_PER_MS;
  };
}
