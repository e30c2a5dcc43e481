/** Responses of `wasi:http`, their headers and their bodies, which are read in pieces. */
import type { HttpResponse, ToolReply } from "../../protocol.ts";
import { ADDRESS, type Fields, type FieldsClass, WORDS } from "./fields.ts";
import { Event, type Holdings, InputStream, Pollable, Refusal, Resource } from "./io.ts";

/** The only error code that has room for words. */
type ErrorCode = { readonly tag: "internal-error"; readonly val: string };
export type Result<Value, Failure> =
  | { readonly tag: "ok"; readonly val: Value }
  | { readonly tag: "err"; readonly val: Failure };

/** A guest that asks for words is never shown this status: see `wit/fetch.js`. */
const REFUSED_STATUS = 599;
const MAX_WORDS = 4000;

export class FutureIncomingResponse extends Resource {
  readonly #account;
  readonly #headers: FieldsClass;
  readonly #settled = new Event();
  readonly #wantsWords: boolean;
  #reply: ToolReply | undefined;
  #isDropped = false;

  constructor(holdings: Holdings, headers: FieldsClass, wantsWords: boolean) {
    super(holdings);
    this.#account = holdings.account;
    this.#headers = headers;
    this.#wantsWords = wantsWords;
  }

  subscribe(): Pollable {
    return new Pollable(this.holdings, this.#settled);
  }

  get(): Result<Result<IncomingResponse, ErrorCode>, undefined> | undefined {
    if (!this.#settled.hasHappened) return undefined;
    const reply = this.#reply;
    if (reply === undefined) return { tag: "err", val: undefined };
    this.#reply = undefined;
    const answer = withAddress(this.#wantsWords ? withWords(reply) : reply);
    return {
      tag: "ok",
      val: answer.ok
        ? { tag: "ok", val: new IncomingResponse(this.holdings, this.#headers, { headers: [], ...answer }) }
        : { tag: "err", val: { tag: "internal-error", val: answer.error } },
    };
  }

  settle(reply: ToolReply): void {
    if (!this.#isDropped) {
      const fits = !reply.ok || this.#account.take(reply.body.byteLength);
      this.#reply = fits
        ? reply
        : { ok: false, error: "The answers that this call has not read yet are over 32 MiB." };
    }
    this.#settled.happen();
  }

  [Symbol.dispose](): void {
    this.#isDropped = true;
    if (this.#reply?.ok) this.#account.give(this.#reply.body.byteLength);
    this.#reply = undefined;
  }
}

export class IncomingResponse extends Resource {
  readonly #account;
  readonly #headers: FieldsClass;
  readonly #answer: HttpResponse;
  #body: IncomingBody | undefined;

  constructor(holdings: Holdings, headers: FieldsClass, answer: HttpResponse) {
    super(holdings);
    this.#account = holdings.account;
    this.#headers = headers;
    this.#answer = answer;
  }

  status(): number {
    return this.#answer.status;
  }
  headers(): Fields {
    return this.#headers.frozen(this.#answer.headers);
  }
  consume(): IncomingBody {
    if (this.#body !== undefined) throw new Refusal();
    const { body } = this.#answer;
    this.#body = new IncomingBody(this.holdings, body, () => this.#account.give(body.byteLength));
    return this.#body;
  }
  [Symbol.dispose](): void {
    if (this.#body === undefined) this.#account.give(this.#answer.body.byteLength);
  }
}

export class IncomingBody extends Resource {
  #stream: InputStream | undefined;
  #bytes: Uint8Array | undefined;
  readonly #done: () => void;

  constructor(holdings: Holdings, bytes: Uint8Array, done: () => void) {
    super(holdings);
    this.#bytes = bytes;
    this.#done = done;
  }

  static finish(body: IncomingBody): FutureTrailers {
    body[Symbol.dispose]();
    return new FutureTrailers(body.holdings);
  }

  stream(): InputStream {
    if (this.#stream !== undefined) throw new Refusal();
    this.#stream = new InputStream(this.holdings, this.#bytes, this.#done);
    this.#bytes = undefined;
    return this.#stream;
  }
  [Symbol.dispose](): void {
    if (this.#stream === undefined) this.#done();
    this.#bytes = undefined;
  }
}

/** The broker passes none on. */
export class FutureTrailers extends Resource {
  #isRead = false;

  subscribe(): Pollable {
    return new Pollable(this.holdings);
  }
  get(): Result<Result<undefined, ErrorCode>, undefined> {
    if (this.#isRead) return { tag: "err", val: undefined };
    this.#isRead = true;
    return { tag: "ok", val: { tag: "ok", val: undefined } };
  }
}

export function withAddress(reply: ToolReply): ToolReply {
  if (!reply.ok) return reply;
  const { headers = [], url } = reply;
  const others = headers.filter(([name]) => name !== ADDRESS);
  return { ...reply, headers: url === undefined ? others : [...others, [ADDRESS, url]] };
}

/** A script engine shows its guest no error code: our own builds ask for a header, which only we can set. */
function withWords(reply: ToolReply): ToolReply {
  if (reply.ok) return { ...reply, headers: (reply.headers ?? []).filter(([name]) => name !== WORDS) };
  const words = encodeURIComponent(reply.error.slice(0, MAX_WORDS).toWellFormed());
  return { ok: true, status: REFUSED_STATUS, headers: [[WORDS, words]], body: new Uint8Array() };
}
