/**
 * One request and its answer, read no further than its cap. On undici's callbacks instead of its streams, which cost a
 * small answer more than everything else on its way.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Dispatcher } from "undici";
import { type AllowedRequest, Refused } from "./policy.ts";

export interface Exchanged {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decoded. */
  readonly body: Uint8Array;
}

/** How many bytes may be held at a time. */
export interface Room {
  left: number;
}

export const MAX_REPLY_BYTES = 10 * 1024 * 1024;

const DECODERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** `hasBegun` of the rejection says whether the server had answered at all. */
export class Unanswered extends Error {
  readonly hasBegun: boolean;

  constructor(cause: unknown, hasBegun: boolean) {
    super("there was no whole answer", { cause });
    this.hasBegun = hasBegun;
  }
}

/** Rejects with `Refused`, or with `Unanswered` whose cause is what undici or the signal said. */
export function exchange(
  dispatcher: Dispatcher,
  { method, url, headers, body }: AllowedRequest,
  signal: AbortSignal,
  room: Room = { left: MAX_REPLY_BYTES },
): Promise<Exchanged> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchanged>();
  const chunks: Uint8Array[] = [];
  let held = 0;
  let answer: Pick<Exchanged, "status" | "headers"> | undefined;
  let decoder: Transform | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  let failure: unknown;

  const settle = () => {
    signal.removeEventListener("abort", abort);
    room.left += held;
    held = 0;
  };
  const fail = (error: unknown) => {
    if (failure !== undefined) return;
    failure = error;
    settle();
    decoder?.destroy();
    controller?.abort(error as Error);
    reject(error instanceof Refused ? error : new Unanswered(error, answer !== undefined));
  };
  const abort = () => fail(signal.reason);
  const end = () => {
    if (failure !== undefined || answer === undefined) return;
    const size = held;
    settle();
    resolve({ ...answer, body: Buffer.concat(chunks, size) });
  };
  /** Counted after decompression: a small answer that unfolds to gigabytes stops at the cap. */
  const take = (chunk: Uint8Array) => {
    if (failure !== undefined) return;
    held += chunk.byteLength;
    room.left -= chunk.byteLength;
    chunks.push(chunk);
    if (held > MAX_REPLY_BYTES)
      fail(
        new Refused(
          `${url.host} answered with more than ${MAX_REPLY_BYTES} bytes, which is the most a tool may read.`,
        ),
      );
    else if (room.left < 0)
      fail(
        new Refused(
          `The answer of ${url.host} does not fit beside those that the tool is being sent at the same time.`,
        ),
      );
  };

  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  if (failure !== undefined) return promise;
  dispatcher.dispatch(
    {
      origin: url.origin,
      path: url.pathname + url.search,
      method: method as Dispatcher.HttpMethod,
      headers: { "accept-encoding": "gzip, br", ...headers },
      body: body ?? null,
    },
    {
      onRequestStart(given) {
        controller = given;
        if (failure !== undefined) given.abort(failure as Error);
      },
      onResponseStart(_, status, given) {
        if (status < 200) return;
        answer = { status, headers: given };
        const isEmpty = method === "HEAD" || status === 204 || status === 304;
        const name = isEmpty ? "" : encodingOf(given);
        if (name === "") return;
        decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name as keyof typeof DECODERS]() : undefined;
        if (decoder === undefined)
          fail(
            new Refused(
              `${url.host} answered in the encoding ${JSON.stringify(name.slice(0, 40))}, which was not asked for.`,
            ),
          );
        else decoder.on("data", take).on("end", end).on("error", fail);
      },
      onResponseData(flow, chunk) {
        if (decoder === undefined) take(chunk);
        else if (!decoder.write(chunk)) {
          flow.pause();
          decoder.once("drain", () => flow.resume());
        }
      },
      onResponseEnd() {
        if (decoder === undefined) end();
        else decoder.end();
      },
      onResponseError: (_, error) => fail(error),
    },
  );
  return promise;
}

/** Returns it in lower case; empty where the body is not encoded. */
function encodingOf(headers: IncomingHttpHeaders): string {
  const name = String(headers["content-encoding"] ?? "")
    .trim()
    .toLowerCase();
  return name === "identity" ? "" : name;
}
