/** The one way out: dials only addresses that were checked, verifies TLS, follows nothing, reads no more than its cap. */
import { PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Agent, errors, request as sendRequest } from "undici";
import { reason } from "../../kernel/fault.ts";
import { AddressRefused, type Lookup, type PrivateHosts } from "../../kernel/net/address.ts";
import { createConnector } from "../../kernel/net/connector.ts";
import type { HeaderList } from "./grant.ts";
import type { AllowedRequest } from "./policy.ts";
import { readHeaders } from "./reply-headers.ts";

export interface WireReply {
  readonly status: number;
  /** Where the answer points to, if anywhere; it is never followed here. */
  readonly location: string | undefined;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

export interface SendBounds {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Answers that are read side by side share it. */
  readonly room?: Room;
}

/** How many bytes may be held at a time. */
export interface Room {
  left: number;
}

export interface Network {
  /** Throws a `NetworkError` whose message is a sentence for the tool. */
  send(request: AllowedRequest, bounds: SendBounds): Promise<WireReply>;
  close(): Promise<void>;
}

export interface NetworkOptions {
  readonly privateHosts: PrivateHosts;
  readonly lookup?: Lookup;
}

export class NetworkError extends Error {}

export const MAX_REPLY_BYTES = 10 * 1024 * 1024;
const MAX_REPLY_HEADER_BYTES = 16 * 1024;

const DECODERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

const READS = new Set(["GET", "HEAD"]);
const LOST = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);

export function createNetwork({ privateHosts, lookup }: NetworkOptions): Network {
  const connect = createConnector({ privateHosts, lookup, allowH2: false });
  const agent = new Agent({
    connect,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_REPLY_HEADER_BYTES,
  });

  return {
    async send({ method, url, headers, body }, { timeoutMs, signal, room }) {
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        const either = AbortSignal.any([signal, timeout]);
        const sendOnce = () =>
          sendRequest(url, {
            dispatcher: agent,
            method,
            headers: { "accept-encoding": "gzip, br", ...headers },
            body: body ?? null,
            signal: either,
          });
        // A server may close a kept connection just as it is used again: nothing was answered, so reading asks anew.
        const reply = await sendOnce().catch((error: unknown) => {
          if (READS.has(method) && LOST.has(String((error as NodeJS.ErrnoException).code))) return sendOnce();
          throw error;
        });
        const { location, "content-encoding": encoding } = reply.headers;
        const isEmpty = method === "HEAD" || reply.statusCode === 204 || reply.statusCode === 304;
        return {
          status: reply.statusCode,
          location: Array.isArray(location) ? location[0] : location,
          headers: readHeaders(reply.headers),
          body: await readBody(reply.body, isEmpty ? "" : String(encoding ?? ""), url.host, either, room),
        };
      } catch (error) {
        if (error instanceof NetworkError) throw error;
        if (error instanceof AddressRefused) {
          throw new NetworkError(
            `${error.message}, which tools may not reach. An operator can except hosts in TOOLS_PRIVATE_HOSTS.`,
          );
        }
        if (signal.aborted) throw new NetworkError("The call was cancelled.");
        if (timeout.aborted) {
          throw new NetworkError(`${url.host} gave no complete answer within ${timeoutMs / 1000} seconds.`);
        }
        if (error instanceof errors.HeadersOverflowError) {
          throw new NetworkError(
            `${url.host} answered with more than ${MAX_REPLY_HEADER_BYTES} bytes of headers, which is the most a tool may read.`,
          );
        }
        throw new NetworkError(`The request to ${url.host} failed: ${reason(error)}`);
      }
    },
    close: () => agent.destroy(),
  };
}

/** Counted after decompression: a small answer that unfolds to gigabytes stops at the cap. */
async function readBody(
  body: Readable,
  encoding: string,
  host: string,
  signal: AbortSignal,
  room: Room = { left: MAX_REPLY_BYTES },
): Promise<Uint8Array> {
  const name = encoding.trim().toLowerCase();
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name as keyof typeof DECODERS]() : undefined;
  if (decoder === undefined && name !== "" && name !== "identity") {
    body.on("error", () => {}).destroy();
    throw new NetworkError(
      `${host} answered in the encoding ${JSON.stringify(name.slice(0, 40))}, which was not asked for.`,
    );
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  const collect = async (source: AsyncIterable<Uint8Array>) => {
    for await (const chunk of source) {
      size += chunk.byteLength;
      room.left -= chunk.byteLength;
      if (size > MAX_REPLY_BYTES) {
        throw new NetworkError(
          `${host} answered with more than ${MAX_REPLY_BYTES} bytes, which is the most a tool may read.`,
        );
      }
      if (room.left < 0) {
        throw new NetworkError(
          `The answer of ${host} does not fit beside those that the tool is being sent at the same time.`,
        );
      }
      chunks.push(chunk);
    }
  };
  try {
    await pipeline(body, decoder ?? new PassThrough(), collect, { signal });
    return Buffer.concat(chunks, size);
  } finally {
    room.left += size;
  }
}
