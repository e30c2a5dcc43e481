/** `wasi:http` 0.3: the client's half. A request goes the way of `http-request` when its body has been read to the end. */
import type { HttpResponse } from "../../protocol.ts";
import { createFieldsClass, type Fields } from "./fields.ts";
import {
  countStream,
  type Done,
  done,
  drain,
  type GuestFuture,
  type GuestStream,
  pieces,
} from "./guest-streams.ts";
import { MAX_BODY_BYTES, type Send, sendCounted, timeoutIn } from "./http.ts";
import { type Holdings, Refusal, Resource } from "./io.ts";
import { RequestHead } from "./request-head.ts";
import { type Result, withAddress } from "./responses.ts";

/** The only error code that has room for words. */
type ErrorCode = { readonly tag: "internal-error"; readonly val: string };
type Trailers = GuestFuture<Result<Fields | undefined, unknown>>;
type Duration = bigint | undefined;

const internal = (val: string): ErrorCode => ({ tag: "internal-error", val });

export function createHttp3(holdings: Holdings, send: Send): Readonly<Record<string, object>> {
  const Headers = createFieldsClass(holdings);

  class RequestOptions extends Resource {
    #timeouts: { connect?: Duration; firstByte?: Duration; betweenBytes?: Duration } = {};
    isFrozen = false;

    constructor() {
      super(holdings);
    }
    getConnectTimeout(): Duration {
      return this.#timeouts.connect;
    }
    setConnectTimeout(connect: Duration): void {
      this.#set({ connect });
    }
    getFirstByteTimeout(): Duration {
      return this.#timeouts.firstByte;
    }
    setFirstByteTimeout(firstByte: Duration): void {
      this.#set({ firstByte });
    }
    getBetweenBytesTimeout(): Duration {
      return this.#timeouts.betweenBytes;
    }
    setBetweenBytesTimeout(betweenBytes: Duration): void {
      this.#set({ betweenBytes });
    }
    clone(): RequestOptions {
      const copy = new RequestOptions();
      copy.#timeouts = this.#timeouts;
      return copy;
    }
    #set(timeouts: object): void {
      if (this.isFrozen) throw new Refusal({ tag: "immutable" });
      this.#timeouts = { ...this.#timeouts, ...timeouts };
    }
  }

  class Request extends RequestHead {
    readonly #account = holdings.account;
    /** Read from the start: a guest may write it whole before it sends, or while it waits for the answer. */
    readonly #body: Promise<Uint8Array | undefined | string>;
    #isSent = false;
    readonly #options: RequestOptions | undefined;
    readonly #sent = Promise.withResolvers<Result<undefined, ErrorCode>>();

    private constructor(
      headers: Fields,
      contents: GuestStream | undefined,
      trailers: Trailers,
      options: RequestOptions | undefined,
    ) {
      super(holdings, headers);
      countStream(holdings);
      this.#options = options;
      this.#body = contents === undefined ? Promise.resolve(undefined) : this.#readBody(contents, trailers);
      if (options !== undefined) options.isFrozen = true;
    }
    static new(
      headers: Fields,
      contents: GuestStream | undefined,
      trailers: Trailers,
      options: RequestOptions | undefined,
    ): [Request, Done<ErrorCode>] {
      const request = new Request(headers, contents, trailers, options);
      return [request, request.#sent.promise];
    }
    static consumeBody(): never {
      throw new TypeError("a tool answers no requests");
    }

    getOptions(): RequestOptions | undefined {
      const shown = this.#options?.clone();
      if (shown !== undefined) shown.isFrozen = true;
      return shown;
    }
    override [Symbol.dispose](): void {
      super[Symbol.dispose]();
      if (!this.#isSent)
        void this.#body.then((body) => {
          if (typeof body === "object") this.#account.give(body.byteLength);
        });
    }

    static async send(request: Request): Promise<Response> {
      const options = request.#options;
      const asked = request.asked(timeoutIn(options?.getConnectTimeout(), options?.getFirstByteTimeout()));
      const account = request.#account;
      request.#isSent = true;
      const body = await request.#body;
      try {
        const whole: Result<Uint8Array | undefined, string> =
          typeof body === "string" ? { tag: "err", val: body } : { tag: "ok", val: body };
        const reply = withAddress(await sendCounted(holdings, send, asked, whole));
        if (!reply.ok) throw request.#failed(reply.error);
        request.#sent.resolve(await done());
        if (!account.take(reply.body.byteLength))
          throw new Refusal(internal("The answers that this call has not read yet are over 32 MiB."));
        return Response.received({ headers: [], ...reply });
      } finally {
        if (typeof body === "object") account.give(body.byteLength);
        request.fields[Symbol.dispose]();
        request[Symbol.dispose]();
      }
    }

    /** A text is the reason why there is none to send. */
    async #readBody(contents: GuestStream, trailers: Trailers): Promise<Uint8Array | string> {
      const taken: Uint8Array[] = [];
      let size = 0;
      const read = await drain(
        contents,
        (bytes) => {
          if (size + bytes.byteLength > MAX_BODY_BYTES) throw new Refusal("The request body is over 1 MiB");
          if (!this.#account.take(bytes.byteLength))
            throw new Refusal("The request bodies together are too long");
          size += bytes.byteLength;
          taken.push(bytes);
        },
        (error) => (error instanceof Refusal ? String(error.payload) : "The request body was not finished"),
      );
      const problem = read.tag === "err" ? read.val : await problemOf(trailers);
      if (problem === undefined) return Buffer.concat(taken);
      this.#account.give(size);
      return `${problem}: nothing was sent.`;
    }
    #failed(words: string): Refusal {
      const code = internal(words);
      this.#sent.resolve({ tag: "err", val: code });
      return new Refusal(code);
    }
  }

  class Response extends Resource {
    readonly #account = holdings.account;
    readonly #answer: HttpResponse;
    #isConsumed = false;

    private constructor(answer: HttpResponse) {
      super(holdings);
      this.#answer = answer;
    }
    static received(answer: HttpResponse): Response {
      return new Response(answer);
    }
    static new(): never {
      throw new TypeError("a tool answers no requests");
    }
    static consumeBody(response: Response): [AsyncIterable<Uint8Array>, Done<ErrorCode>] {
      countStream(holdings);
      response.#isConsumed = true;
      const { body } = response.#answer;
      return [pieces(body, () => response.#account.give(body.byteLength)), done()];
    }

    getStatusCode(): number {
      return this.#answer.status;
    }
    setStatusCode(): never {
      throw new Refusal();
    }
    getHeaders(): Fields {
      return Headers.frozen(this.#answer.headers);
    }
    [Symbol.dispose](): void {
      if (!this.#isConsumed) this.#account.give(this.#answer.body.byteLength);
    }
  }

  return {
    "was3:http/types": { Fields: Headers, Request, RequestOptions, Response },
    "was3:http/client": { send: Request.send },
  };
}

async function problemOf(trailers: Trailers): Promise<string | undefined> {
  try {
    const { tag, val } = await trailers;
    if (tag === "err") return "The request body was given up";
    const isPlain = val === undefined || (val as Fields).entries().length === 0;
    return isPlain ? undefined : "A request may not have trailers";
  } catch {
    return "The request body was not finished";
  }
}
