/** The method, address and options of a guest's request, the same in both releases of `wasi:http`. */
import type { ToolRequest } from "../../protocol.ts";
import { type Fields, toHeadersJson } from "./fields.ts";
import { type Holdings, Refusal, Resource } from "./io.ts";

const MAX_TEXT = 1 << 16;

export type Variant = { readonly tag: string; readonly val?: string };

export class RequestHead extends Resource {
  readonly fields: Fields;
  readonly #account;
  #held = 0;
  #method: Variant = { tag: "get" };
  #scheme: Variant | undefined;
  #authority: string | undefined;
  #path: string | undefined;

  constructor(holdings: Holdings, fields: Fields) {
    super(holdings);
    this.#account = holdings.account;
    this.fields = fields;
    fields.isFrozen = true;
  }
  getMethod(): Variant {
    return this.#method;
  }
  setMethod(method: Variant): void {
    this.#hold(method.val);
    this.#method = method;
  }
  getScheme(): Variant | undefined {
    return this.#scheme;
  }
  setScheme(scheme: Variant | undefined): void {
    this.#hold(scheme?.val);
    this.#scheme = scheme;
  }
  getAuthority(): string | undefined {
    return this.#authority;
  }
  setAuthority(authority: string | undefined): void {
    this.#hold(authority);
    this.#authority = authority;
  }
  getPathWithQuery(): string | undefined {
    return this.#path;
  }
  setPathWithQuery(path: string | undefined): void {
    this.#hold(path);
    this.#path = path;
  }
  getHeaders(): Fields {
    const shown = this.fields.clone();
    shown.isFrozen = true;
    return shown;
  }
  asked(timeoutMs: number | undefined): Omit<ToolRequest, "body"> {
    const scheme = this.#scheme === undefined ? "https" : nameOf(this.#scheme).toLowerCase();
    return {
      method: nameOf(this.#method).toUpperCase(),
      url: `${scheme}://${this.#authority ?? ""}${this.#path ?? "/"}`,
      headersJson: toHeadersJson(this.fields),
      timeoutMs,
    };
  }
  [Symbol.dispose](): void {
    this.#account.give(this.#held);
    this.#held = 0;
  }
  #hold(text: string | undefined): void {
    if (text === undefined) return;
    if (text.length > MAX_TEXT) throw new Refusal();
    const bytes = text.length * 2;
    if (!this.#account.take(bytes)) throw new RangeError("the requests are too long");
    this.#held += bytes;
  }
}

const nameOf = ({ tag, val }: Variant): string => val ?? tag;
