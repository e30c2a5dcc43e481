/** `wasi:http`, which `fetch` is made of. A request is sent as soon as it is whole, and the guest waits with `poll`. */
import type { ToolReply, ToolRequest } from "../../protocol.ts";
import { createFieldsClass, type Fields, WANTS_WORDS } from "./fields.ts";
import { type Holdings, OutputStream, Refusal, Resource } from "./io.ts";
import { RequestHead, type Variant } from "./request-head.ts";
import {
  FutureIncomingResponse,
  FutureTrailers,
  IncomingBody,
  IncomingResponse,
  type Result,
} from "./responses.ts";

export type Send = (request: ToolRequest) => Promise<ToolReply>;

export const MAX_BODY_BYTES = 1 << 20;

const TOO_MANY = "This call has asked for far too many requests.";
const LOST = { ok: false, error: "The request could not be sent." } as const;

export function createHttp(holdings: Holdings, send: Send): Readonly<Record<string, object>> {
  const Headers = createFieldsClass(holdings);

  class RequestOptions extends Resource {
    readonly #timeouts = new Map<string, bigint | undefined>();

    constructor() {
      super(holdings);
    }
    connectTimeout(): bigint | undefined {
      return this.#timeouts.get("connect");
    }
    setConnectTimeout(duration: bigint | undefined): void {
      this.#timeouts.set("connect", duration);
    }
    firstByteTimeout(): bigint | undefined {
      return this.#timeouts.get("first byte");
    }
    setFirstByteTimeout(duration: bigint | undefined): void {
      this.#timeouts.set("first byte", duration);
    }
    betweenBytesTimeout(): bigint | undefined {
      return this.#timeouts.get("between bytes");
    }
    setBetweenBytesTimeout(duration: bigint | undefined): void {
      this.#timeouts.set("between bytes", duration);
    }
  }

  class OutgoingRequest extends RequestHead {
    #body: OutgoingBody | undefined;

    constructor(headers: Fields) {
      super(holdings, headers);
    }
    body(): OutgoingBody {
      if (this.#body !== undefined) throw new Refusal();
      this.#body = new OutgoingBody(holdings);
      return this.#body;
    }
    method(): Variant {
      return this.getMethod();
    }
    scheme(): Variant | undefined {
      return this.getScheme();
    }
    authority(): string | undefined {
      return this.getAuthority();
    }
    pathWithQuery(): string | undefined {
      return this.getPathWithQuery();
    }
    headers(): Fields {
      return this.getHeaders();
    }

    static send(request: OutgoingRequest, options: RequestOptions | undefined): FutureIncomingResponse {
      const wantsWords = request.fields.has(WANTS_WORDS);
      const future = new FutureIncomingResponse(holdings, Headers, wantsWords);
      const asked = request.asked(timeoutIn(options?.connectTimeout(), options?.firstByteTimeout()));
      // It counts until it is answered: a guest could put any number of them on their way.
      const begin = async (body: Result<Uint8Array | undefined, string>) => {
        future.settle(await sendCounted(holdings, send, asked, body));
        request.#body?.release();
        request.fields[Symbol.dispose]();
        request[Symbol.dispose]();
      };
      if (request.#body === undefined) void begin({ tag: "ok", val: undefined });
      else request.#body.whenWhole((whole) => void begin(whole));
      return future;
    }
  }

  return {
    "wasi:http/types": {
      Fields: Headers,
      FutureIncomingResponse,
      FutureTrailers,
      IncomingBody,
      IncomingRequest,
      IncomingResponse,
      OutgoingBody,
      OutgoingRequest,
      OutgoingResponse,
      RequestOptions,
      ResponseOutparam,
      // A stream of ours fails in no way of HTTP's own.
      httpErrorCode: () => undefined,
    },
    "wasi:http/outgoing-handler": { handle: OutgoingRequest.send },
  };
}

/** A body that is an error is the reason why nothing is sent. */
export async function sendCounted(
  { account }: Holdings,
  send: Send,
  asked: Omit<ToolRequest, "body">,
  body: Result<Uint8Array | undefined, string>,
): Promise<ToolReply> {
  if (body.tag === "err") return { ok: false, error: body.val };
  if (!account.countRequest()) return { ok: false, error: TOO_MANY };
  return send({ ...asked, body: body.val }).catch(() => LOST);
}

/** In milliseconds. The guest waits for the whole answer. */
export function timeoutIn(connect: Duration, firstByte: Duration): number | undefined {
  if (firstByte === undefined) return undefined;
  const millis = ((connect ?? 0n) + firstByte) / 1_000_000n;
  return millis > 0xffff_ffffn ? undefined : Math.max(1, Number(millis));
}

type Duration = bigint | undefined;

class OutgoingBody extends Resource {
  readonly #account;
  /** One buffer that grows: a guest that writes byte by byte would have us keep a million pieces. */
  #bytes = new Uint8Array(1024);
  #size = 0;
  #isTaken = false;
  #end: Result<Uint8Array, string> | undefined;
  #tell: ((end: Result<Uint8Array, string>) => void) | undefined;

  constructor(holdings: Holdings) {
    super(holdings);
    this.#account = holdings.account;
  }

  static finish(body: OutgoingBody, trailers: Fields | undefined): void {
    const isPlain = trailers === undefined || trailers.entries().length === 0;
    body.#close(
      isPlain
        ? { tag: "ok", val: body.#bytes.slice(0, body.#size) }
        : { tag: "err", val: "A request may not have trailers: nothing was sent." },
    );
  }

  write(): OutputStream {
    if (this.#isTaken) throw new Refusal();
    this.#isTaken = true;
    return new OutputStream(this.holdings, (bytes) => this.#take(bytes));
  }

  whenWhole(tell: (end: Result<Uint8Array, string>) => void): void {
    if (this.#end === undefined) this.#tell = tell;
    else tell(this.#end);
  }

  release(): void {
    this.#account.give(this.#size);
    this.#size = 0;
  }

  /** An answer that is too long fails where the guest looks for it, and no more of it is kept. */
  #take(bytes: Uint8Array): void {
    if (this.#end !== undefined) return;
    const size = this.#size + bytes.byteLength;
    const isLong = size > MAX_BODY_BYTES;
    if (isLong || !this.#account.take(bytes.byteLength)) {
      const words = isLong ? "The request body is over 1 MiB" : "The request bodies together are too long";
      this.#close({ tag: "err", val: `${words}: nothing was sent.` });
      return;
    }
    if (size > this.#bytes.byteLength) {
      const larger = new Uint8Array(Math.min(MAX_BODY_BYTES, Math.max(size, this.#bytes.byteLength * 2)));
      larger.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#size);
    this.#size = size;
  }

  #close(end: Result<Uint8Array, string>): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    if (end.tag === "err") this.release();
    this.#tell?.(end);
  }

  [Symbol.dispose](): void {
    this.#close({ tag: "err", val: "The request body was not finished: nothing was sent." });
  }
}

// The server's side. Nothing hands one out; the glue only needs the classes to exist.
class IncomingRequest {}
class ResponseOutparam {}
class OutgoingResponse {
  constructor() {
    throw new TypeError("a tool answers no requests");
  }
}
