/** The globals a tool's JavaScript has besides the language itself. There is no `process` and no DOM. */

type BufferSource = ArrayBuffer | ArrayBufferView;

declare class TextEncoder {
  readonly encoding: "utf-8";
  encode(text?: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}

/** Every encoding of the web; only UTF-8, and no streams, with `--engine quickjs`. */
declare class TextDecoder {
  constructor(encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: BufferSource, options?: { stream?: boolean }): string;
}

/** Each call adds a log line to the receipt. */
declare const console: Record<"debug" | "log" | "info" | "warn" | "error", (...values: unknown[]) => void>;

declare function atob(text: string): string;
declare function btoa(text: string): string;

/** Not with `--engine quickjs`. */
declare class URL {
  constructor(url: string, base?: string | URL);
  href: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
  readonly origin: string;
  readonly searchParams: URLSearchParams;
  toString(): string;
  toJSON(): string;
}

/** Not with `--engine quickjs`. */
declare class URLSearchParams {
  constructor(init?: string | URLSearchParams | Record<string, string> | Iterable<[string, string]>);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  toString(): string;
  forEach(callback: (value: string, name: string, params: URLSearchParams) => void): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

/*
 * None of the following with `--engine quickjs`.
 */

/**
 * Sends a request the same way as `httpRequest`: only what `http.allowlist` allows, with credentials added by Postern.
 * Several can be under way at once. Redirects are not followed: they reject, as does everything that is refused, with
 * a `TypeError` whose message is the reason.
 */
declare function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;

interface RequestInit {
  method?: string;
  headers?: HeadersInit;
  /** At most 1 MiB, streams included. */
  body?: BodyInit | null;
  signal?: AbortSignal | null;
  /** Needed for a body that is a stream. */
  duplex?: "half";
}

interface ResponseInit {
  status?: number;
  statusText?: string;
  headers?: HeadersInit;
}

type HeadersInit = Headers | Record<string, string> | Iterable<[string, string]>;
type BodyInit = string | BufferSource | URLSearchParams | FormData | Blob | ReadableStream<Uint8Array>;

declare class Headers {
  constructor(init?: HeadersInit);
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getSetCookie(): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  forEach(callback: (value: string, name: string, headers: Headers) => void): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

interface Body {
  readonly body: ReadableStream<Uint8Array> | null;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
  blob(): Promise<Blob>;
  formData(): Promise<FormData>;
  json<Value>(): Promise<Value>;
  text(): Promise<string>;
}

interface Request extends Body {}
declare class Request {
  constructor(input: string | URL | Request, init?: RequestInit);
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  clone(): Request;
}

interface Response extends Body {}
declare class Response {
  constructor(body?: BodyInit | null, init?: ResponseInit);
  static json(data: unknown, init?: ResponseInit): Response;
  static redirect(url: string | URL, status?: number): Response;
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly redirected: boolean;
  readonly type: string;
  readonly headers: Headers;
}

/** Read it with `getReader()`; it cannot be iterated. */
declare class ReadableStream<Chunk = unknown> {
  constructor(source?: {
    start?(controller: ReadableStreamController<Chunk>): void | Promise<void>;
    pull?(controller: ReadableStreamController<Chunk>): void | Promise<void>;
    cancel?(reason: unknown): void | Promise<void>;
  });
  readonly locked: boolean;
  cancel(reason?: unknown): Promise<void>;
  tee(): [ReadableStream<Chunk>, ReadableStream<Chunk>];
  pipeTo(target: WritableStream<Chunk>): Promise<void>;
  pipeThrough<Out>(through: {
    writable: WritableStream<Chunk>;
    readable: ReadableStream<Out>;
  }): ReadableStream<Out>;
  getReader(): {
    read(): Promise<{ done: false; value: Chunk } | { done: true; value: undefined }>;
    cancel(reason?: unknown): Promise<void>;
    releaseLock(): void;
  };
}

interface ReadableStreamController<Chunk> {
  enqueue(chunk: Chunk): void;
  close(): void;
  error(reason: unknown): void;
}

declare class WritableStream<Chunk = unknown> {
  constructor(sink?: {
    write?(chunk: Chunk): void | Promise<void>;
    close?(): void | Promise<void>;
    abort?(reason: unknown): void | Promise<void>;
  });
  readonly locked: boolean;
  abort(reason?: unknown): Promise<void>;
  close(): Promise<void>;
  getWriter(): {
    readonly closed: Promise<void>;
    write(chunk: Chunk): Promise<void>;
    close(): Promise<void>;
    abort(reason?: unknown): Promise<void>;
    releaseLock(): void;
  };
}

declare class TransformStream<In = unknown, Out = unknown> {
  constructor(transformer?: {
    transform?(chunk: In, controller: { enqueue(chunk: Out): void }): void | Promise<void>;
    flush?(controller: { enqueue(chunk: Out): void }): void | Promise<void>;
  });
  readonly readable: ReadableStream<Out>;
  readonly writable: WritableStream<In>;
}

declare class CompressionStream {
  constructor(format: "deflate" | "deflate-raw" | "gzip");
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<BufferSource>;
}

declare class DecompressionStream {
  constructor(format: "deflate" | "deflate-raw" | "gzip");
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<BufferSource>;
}

declare class Event {
  constructor(type: string);
  readonly type: string;
  readonly target: EventTarget | null;
  readonly defaultPrevented: boolean;
  preventDefault(): void;
  stopPropagation(): void;
}

declare class EventTarget {
  addEventListener(type: string, listener: (event: Event) => void): void;
  removeEventListener(type: string, listener: (event: Event) => void): void;
  dispatchEvent(event: Event): boolean;
}

declare class DOMException {
  constructor(message?: string, name?: string);
  readonly name: string;
  readonly message: string;
  readonly code: number;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare class AbortSignal extends EventTarget {
  static abort(reason?: unknown): AbortSignal;
  static timeout(millis: number): AbortSignal;
  static any(signals: AbortSignal[]): AbortSignal;
  readonly aborted: boolean;
  readonly reason: unknown;
  onabort: ((event: Event) => void) | null;
  throwIfAborted(): void;
}

declare class Blob {
  constructor(parts?: (string | BufferSource | Blob)[], options?: { type?: string });
  readonly size: number;
  readonly type: string;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array>;
  stream(): ReadableStream<Uint8Array>;
  slice(start?: number, end?: number, type?: string): Blob;
  text(): Promise<string>;
}

declare class File extends Blob {
  constructor(parts: (string | BufferSource | Blob)[], name: string, options?: { type?: string });
  readonly name: string;
  readonly lastModified: number;
}

declare class FormData {
  append(name: string, value: string | Blob, filename?: string): void;
  delete(name: string): void;
  get(name: string): string | File | null;
  getAll(name: string): (string | File)[];
  has(name: string): boolean;
  set(name: string, value: string | Blob, filename?: string): void;
  forEach(callback: (value: string | File, name: string, data: FormData) => void): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string | File>;
  entries(): IterableIterator<[string, string | File]>;
  [Symbol.iterator](): IterableIterator<[string, string | File]>;
}

declare function setTimeout<Args extends unknown[]>(
  callback: (...args: Args) => void,
  millis?: number,
  ...args: Args
): number;
declare function clearTimeout(timer: number | undefined): void;
declare function setInterval<Args extends unknown[]>(
  callback: (...args: Args) => void,
  millis?: number,
  ...args: Args
): number;
declare function clearInterval(timer: number | undefined): void;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<Value>(value: Value, options?: { transfer?: ArrayBuffer[] }): Value;

declare const performance: {
  now(): number;
  readonly timeOrigin: number;
};

declare const crypto: {
  getRandomValues<View extends ArrayBufferView>(view: View): View;
  randomUUID(): string;
  readonly subtle: SubtleCrypto;
};

type CryptoAlgorithm = string | { name: string; hash?: string | { name: string } };

declare class CryptoKey {
  readonly type: string;
  readonly extractable: boolean;
  readonly algorithm: object;
  readonly usages: string[];
}

declare class SubtleCrypto {
  digest(algorithm: CryptoAlgorithm, data: BufferSource): Promise<ArrayBuffer>;
  importKey(
    format: string,
    key: BufferSource | object,
    algorithm: CryptoAlgorithm,
    extractable: boolean,
    usages: string[],
  ): Promise<CryptoKey>;
  sign(algorithm: CryptoAlgorithm, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  verify(
    algorithm: CryptoAlgorithm,
    key: CryptoKey,
    signature: BufferSource,
    data: BufferSource,
  ): Promise<boolean>;
}
