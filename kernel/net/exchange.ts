/** One request and its reply, up to a cap. undici's streams would cost a small reply more than everything else does. */
import type { IncomingHttpHeaders } from "node:http";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Dispatcher } from "undici-types";

export interface ExchangeRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

export interface Exchanged {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A budget in bytes that replies read side by side share. */
export interface Room {
  left: number;
}

export interface ExchangeLimits {
  readonly maxBytes: number;
  readonly room?: Room | undefined;
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** The message is a sentence that names the host. */
export class OutboundError extends Error {
  readonly kind: "address" | "cancelled" | "timeout" | "size" | "reply" | "failed";

  constructor(kind: OutboundError["kind"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** The connection failed, or the signal did; `hasBegun` says whether the server had begun to reply. */
export class Unanswered extends Error {
  readonly hasBegun: boolean;

  constructor(cause: unknown, hasBegun: boolean) {
    super("there was no whole reply", { cause });
    this.hasBegun = hasBegun;
  }
}

const DECODERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Rejects with an `OutboundError` for a reply that breaks a limit, or with `Unanswered` whose cause is the error of undici or the reason of the signal. */
export function exchange(
  dispatcher: Dispatcher,
  { method, url, headers, body }: ExchangeRequest,
  signal: AbortSignal,
  { maxBytes, room, onBytes }: ExchangeLimits,
): Promise<Exchanged> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchanged>();
  const chunks: Uint8Array[] = [];
  let held = 0;
  let reply: Pick<Exchanged, "status" | "headers"> | undefined;
  let decoder: Transform | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  let failure: unknown;

  const settle = () => {
    signal.removeEventListener("abort", abort);
    if (room) room.left += held;
    held = 0;
  };
  const fail = (error: unknown) => {
    if (failure !== undefined) return;
    failure = error;
    settle();
    decoder?.destroy();
    controller?.abort(error as Error);
    reject(error instanceof OutboundError ? error : new Unanswered(error, reply !== undefined));
  };
  const refuse = (kind: OutboundError["kind"], why: string) => fail(new OutboundError(kind, why));
  const abort = () => fail(signal.reason);
  const end = () => {
    if (failure !== undefined || reply === undefined) return;
    const size = held;
    settle();
    resolve({ ...reply, body: Buffer.concat(chunks, size) });
  };
  // Counted after decompression: a small reply that unfolds to gigabytes stops at the cap.
  const take = (chunk: Uint8Array) => {
    if (failure !== undefined) return;
    held += chunk.byteLength;
    if (room) room.left -= chunk.byteLength;
    chunks.push(chunk);
    onBytes?.(held);
    if (held > maxBytes)
      refuse(
        "size",
        `${url.host} answered with more than ${maxBytes} bytes, which is the most that is read.`,
      );
    else if (room && room.left < 0)
      refuse(
        "reply",
        `The answer of ${url.host} does not fit beside those that are being read at the same time.`,
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
        reply = { status, headers: given };
        const isEmpty = method === "HEAD" || status === 204 || status === 304;
        const name = String(given["content-encoding"] ?? "")
          .trim()
          .toLowerCase();
        if (isEmpty || name === "" || name === "identity") return;
        decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name as keyof typeof DECODERS]() : undefined;
        if (decoder === undefined)
          refuse(
            "reply",
            `${url.host} answered in the encoding ${JSON.stringify(name.slice(0, 40))}, which was not asked for.`,
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
