/**
 * A `fetch` for protocol code that is not ours: the rule for addresses, no redirects, answers that end at their cap (a stream at
 * the cap of each event), and nothing in them of the secrets that were sent.
 */
import { setTimeout } from "node:timers/promises";
import type { FetchLike } from "@modelcontextprotocol/client";
import { Agent, fetch as dispatch } from "undici";
import { createConnector, type Mask } from "../../kernel/kit.ts";
import { MAX_REPLY_BYTES } from "./exchange.ts";
import { explain, MAX_REPLY_HEADER_BYTES, type NetworkOptions } from "./network.ts";
import { Refused, readUrl } from "./policy.ts";
import { createReadThrottle } from "./read-throttle.ts";
import { readHeaders } from "./reply-headers.ts";

export interface FetchBounds {
  readonly maxBytes?: number;
  /** For the whole answer; the caller's signal ends it anyway. */
  readonly timeoutMs?: number;
  /** Hides in what comes back the secrets that were sent along. */
  readonly mask?: Pick<Mask, "hide" | "stream">;
  /** A redirect is an answer like others; the caller decides where it may lead. */
  readonly answersRedirects?: boolean;
}

export interface CheckedFetch {
  /** Throws `Refused`, or the reason of the caller's signal. */
  (url: string | URL, init: RequestInit | undefined, bounds?: FetchBounds): Promise<Response>;
  close(): Promise<void>;
}

const CONNECT_MILLIS = 10_000;
// The caller has a shorter limit; this one ends requests that nobody waits for any more.
const MAX_REQUEST_MS = 15 * 60 * 1000;
/** How many times the cap of an event all events of one answer may have. */
const EVENTS_FACTOR = 8;

export function createCheckedFetch({ privateHosts, lookup }: NetworkOptions): CheckedFetch {
  const agent = new Agent({
    connect: createConnector({ privateHosts, lookup, allowH2: false, timeout: CONNECT_MILLIS }),
    headersTimeout: MAX_REQUEST_MS,
    bodyTimeout: 0,
    maxHeaderSize: MAX_REPLY_HEADER_BYTES,
  });

  const checkedFetch = async (
    given: string | URL,
    init: RequestInit = {},
    bounds: FetchBounds = {},
  ): Promise<Response> => {
    const url = readUrl(String(given), privateHosts);
    const { timeoutMs, maxBytes = MAX_REPLY_BYTES, mask, answersRedirects = false } = bounds;
    const signals = [init.signal, timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)];
    const signal = AbortSignal.any(signals.filter((one) => one !== undefined && one !== null));
    const fail = (error: unknown): unknown => {
      if (error instanceof Refused) return error;
      if (init.signal?.aborted === true) return init.signal.reason;
      if (signal.aborted) {
        return new Refused(`${url.host} gave no complete answer within ${(timeoutMs ?? 0) / 1000} seconds.`);
      }
      return explain(error instanceof TypeError ? (error.cause ?? error) : error, url.host, 0);
    };
    try {
      const answer = await dispatch(url, {
        method: init.method ?? "GET",
        headers: [...new Headers(init.headers)],
        body: (init.body ?? null) as string | URLSearchParams | Uint8Array | null,
        dispatcher: agent,
        redirect: "manual",
        signal,
      });
      const { status, body } = answer;
      if (status >= 300 && status < 400 && !answersRedirects) {
        await body?.cancel();
        throw new Refused(`${url.host} answered with a redirect, which is not followed.`);
      }
      const isEvents = /^text\/event-stream\b/i.test(answer.headers.get("content-type") ?? "");
      const count = isEvents
        ? countEvents(maxBytes, init.method?.toUpperCase() === "POST")
        : countBytes(maxBytes);
      const headers = readHeaders(Object.fromEntries(answer.headers)).filter(([name]) => !SIZES.has(name));
      return new Response(
        body === null || status === 204
          ? null
          : (body as ReadableStream<Uint8Array>).pipeThrough(
              bounded(
                count,
                `${url.host} answered with more than ${maxBytes} bytes${isEvents ? " in an event" : ""}, which is the most that is read.`,
                mask,
                signal,
              ),
            ),
        {
          status,
          headers: headers.map(([name, value]): [string, string] => [name, mask?.hide(value) ?? value]),
        },
      );
    } catch (error) {
      throw fail(error);
    }
  };
  return Object.assign(checkedFetch, { close: () => agent.destroy() });
}

/** The same with the whole body read before it answers: what breaks off fails as what never came. */
export function readWhole(send: FetchLike): FetchLike {
  return async (...args) => {
    const response = await send(...args);
    const { status, headers } = response;
    return new Response(response.body === null ? null : await response.arrayBuffer(), { status, headers });
  };
}

/** They describe the body as it came; ours is decoded and scrubbed. */
const SIZES = new Set(["content-length", "content-encoding"]);

/** How long to wait before more is read; undefined where it is too much. */
type Count = (chunk: Uint8Array) => number | undefined;

function countBytes(most: number): Count {
  let size = 0;
  return (chunk) => {
    size += chunk.length;
    return size <= most ? 0 : undefined;
  };
}

const LF = 10;
const CR = 13;

/**
 * An event ends with an empty line. What the answer to one request may have altogether is bounded too; a stream of news is not.
 * However many events come, they are read at a pace that leaves time for others.
 */
function countEvents(most: number, isAnswer: boolean): Count {
  let inEvent = 0;
  let inLine = 0;
  let isAfterCr = false;
  const total = countBytes(isAnswer ? most * EVENTS_FACTOR : Number.POSITIVE_INFINITY);
  const throttle = createReadThrottle(2 * most);
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
      if (inEvent > most) return undefined;
    }
    return total(chunk) === undefined ? undefined : throttle(chunk.length, events);
  };
}

/** Answers of this protocol are text; only where something is to be hidden are they read as such. */
function bounded(
  count: Count,
  tooMuch: string,
  mask: FetchBounds["mask"],
  signal: AbortSignal,
): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const hiding = mask?.stream();
  return new TransformStream({
    async transform(chunk, controller) {
      const millis = count(chunk);
      if (millis === undefined) throw new Refused(tooMuch);
      const text = hiding?.push(decoder.decode(chunk, { stream: true }));
      if (text === undefined) controller.enqueue(chunk);
      else if (text !== "") controller.enqueue(encoder.encode(text));
      if (millis > 0)
        await setTimeout(millis, undefined, { ref: false, signal }).catch(() => signal.throwIfAborted());
    },
    flush(controller) {
      const text = hiding === undefined ? "" : hiding.push(decoder.decode()) + hiding.end();
      if (text !== "") controller.enqueue(encoder.encode(text));
    },
  });
}
