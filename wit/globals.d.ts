/** The globals a tool's JavaScript has besides the language itself. There is no `process` and no DOM. */

declare class TextEncoder {
  encode(text?: string): Uint8Array;
}

declare class TextDecoder {
  constructor(encoding?: "utf-8" | "utf8", options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(bytes?: Uint8Array): string;
}

/** Each call adds a log line to the receipt. */
declare const console: Record<"debug" | "log" | "info" | "warn" | "error", (...values: unknown[]) => void>;

declare function atob(text: string): string;
declare function btoa(text: string): string;

/** Not with `--engine quickjs`. */
declare class URL {
  constructor(url: string, base?: string | URL);
  static canParse(url: string, base?: string): boolean;
  href: string;
  protocol: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
  readonly origin: string;
  readonly searchParams: URLSearchParams;
}

/** Not with `--engine quickjs`. */
declare class URLSearchParams {
  constructor(init?: string | Record<string, string> | [string, string][]);
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
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

type HeadersInit = Headers | Record<string, string> | [string, string][];
type BodyInit =
  | string
  | Uint8Array
  | ArrayBuffer
  | URLSearchParams
  | FormData
  | Blob
  | ReadableStream<Uint8Array>;

declare class Headers {
  constructor(init?: HeadersInit);
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
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
}

interface Response extends Body {}
declare class Response {
  constructor(body?: BodyInit | null, init?: ResponseInit);
  static json(data: unknown, init?: ResponseInit): Response;
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
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

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare class AbortSignal {
  static abort(reason?: unknown): AbortSignal;
  static timeout(millis: number): AbortSignal;
  static any(signals: AbortSignal[]): AbortSignal;
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

declare class Blob {
  constructor(parts?: (string | Uint8Array | ArrayBuffer | Blob)[], options?: { type?: string });
  readonly size: number;
  readonly type: string;
  arrayBuffer(): Promise<ArrayBuffer>;
  slice(start?: number, end?: number, type?: string): Blob;
  text(): Promise<string>;
}

declare class File extends Blob {
  constructor(parts: (string | Uint8Array | ArrayBuffer | Blob)[], name: string, options?: { type?: string });
  readonly name: string;
}

declare class FormData {
  append(name: string, value: string | Blob, filename?: string): void;
  delete(name: string): void;
  get(name: string): string | File | null;
  getAll(name: string): (string | File)[];
  has(name: string): boolean;
  set(name: string, value: string | Blob, filename?: string): void;
}

declare function setTimeout(callback: () => void, millis?: number): number;
declare function clearTimeout(timer: number | undefined): void;
declare function setInterval(callback: () => void, millis?: number): number;
declare function clearInterval(timer: number | undefined): void;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<Value>(value: Value): Value;

declare const performance: { now(): number };
declare const crypto: {
  getRandomValues<View extends ArrayBufferView>(view: View): View;
  randomUUID(): string;
};
