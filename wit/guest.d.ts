/** The TypeScript types of `tool.wit`. Generated; a test in Postern keeps the two in sync. */

declare module "postern:tool/agent-tools@0.1.0" {
  /**
   * The output as the tool gave it. The error is a sentence that says what was refused or what failed.
   */
  export function call(name: string, params: string): string;
  /**
   * Makes several calls at once, a few at a time. The outcomes are in the order of the requests.
   */
  export function callAll(requests: Array<Request>): Array<Result<string, string>>;
  export interface Request {
    name: string;
    /**
     * JSON: the arguments, by the schema of the tool; at most 1 MiB.
     */
    params: string;
  }
  export type Result<T, E> = { tag: "ok"; val: T } | { tag: "err"; val: E };
}

declare module "postern:tool/exchange@0.1.0" {
  export function exchange(
    method: string,
    url: string,
    headersJson: string,
    body: Uint8Array | undefined,
    timeoutMs: number | undefined,
  ): Response;
  export interface Response {
    status: number;
    /**
     * The address that answered: another than was asked for where a redirect was followed.
     */
    url: string;
    /**
     * JSON: an object of header names in lower case to values. Cookies are left out.
     */
    headersJson: string;
    body: Uint8Array;
  }
}

declare module "postern:tool/files@0.1.0" {
  /**
   * What is in a folder, by name.
   */
  export function listFolder(path: string): Array<Entry>;
  /**
   * None where there is nothing at the path.
   */
  export function stat(path: string): Entry | undefined;
  /**
   * At most 8 MiB of a file from an offset on; fewer bytes than asked for where it ends.
   */
  export function read(path: string, offset: number, length: number): Uint8Array;
  /**
   * Writes a whole file of at most 8 MiB, and makes the folders above it.
   */
  export function write(path: string, data: Uint8Array): void;
  /**
   * Writes a part of a file; for one that is longer than a single `write` takes.
   */
  export function writeAt(path: string, offset: number, data: Uint8Array): void;
  /**
   * No error where it is there already. Makes the folders above it, too.
   */
  export function makeFolder(path: string): void;
  /**
   * Moves a file or a folder to a path where nothing is yet.
   */
  export function move(path: string, to: string): void;
  /**
   * Removes a file, or a folder with nothing in it.
   */
  export function remove(path: string): void;
  /**
   * # Variants
   *
   * ## `"file"`
   *
   * ## `"folder"`
   */
  export type Kind = "file" | "folder";
  export interface Entry {
    path: string;
    kind: Kind;
    /**
     * Bytes; 0 for a folder.
     */
    size: number;
    /**
     * When it was last changed, such as "2026-05-31T10:00:00.000Z".
     */
    modified: string;
  }
}

declare module "postern:tool/host@0.1.0" {
  /**
   * Adds a line to the call's receipt. At most 1000 lines of 4 KiB per call; the rest is dropped and counted.
   */
  export function log(level: Level, message: string): void;
  /**
   * Sends one request and waits for the response. Only https, and only what `http.allowlist` allows; redirects
   * are errors, unless `http.redirects` says that they are followed. `headers-json` is a JSON object of header
   * names to values, "{}" for none. Postern adds credentials after this call: a tool never sees a secret. The
   * error is a sentence that says what was refused or what failed.
   */
  export function httpRequest(
    method: string,
    url: string,
    headersJson: string,
    body: Uint8Array | undefined,
    timeoutMs: number | undefined,
  ): HttpResponse;
  /**
   * True if the secret is set. Always false for names that are not in `secrets.allowed_names`.
   */
  export function secretExists(name: string): boolean;
  /**
   * # Variants
   *
   * ## `"trace"`
   *
   * ## `"debug"`
   *
   * ## `"info"`
   *
   * ## `"warn"`
   *
   * ## `"error"`
   */
  export type Level = "trace" | "debug" | "info" | "warn" | "error";
  export interface HttpResponse {
    status: number;
    body: Uint8Array;
  }
}

declare module "postern:tool/setting@0.1.0" {
  /**
   * The value of a declared setting, or its default; none where there is neither. Never a secret.
   */
  export function setting(name: string): string | undefined;
}

declare module "postern:tool/state@0.1.0" {
  /**
   * None where the key has no value.
   */
  export function get(key: string): Uint8Array | undefined;
  export function set(key: string, value: Uint8Array): void;
  /**
   * No error where the key has no value.
   */
  export { _delete as delete };

  function _delete(key: string): void;
  /**
   * All keys that start so, sorted; "" for all.
   */
  export function listKeys(prefix: string): Array<string>;
}

declare module "postern:tool/tool@0.1.0" {
  /**
   * Runs the tool.
   */
  export function execute(request: Request): Response;
  /**
   * The JSON Schema of `params`.
   */
  export function schema(): string;
  /**
   * What the tool is for, written for the model that decides whether to call it.
   */
  export function description(): string;
  export interface Request {
    /**
     * JSON: the model's arguments, already checked against `schema`.
     */
    params: string;
  }
  /**
   * Exactly one of the two is set.
   */
  export interface Response {
    /**
     * JSON: the result.
     */
    output?: string;
    /**
     * A sentence the model can act on.
     */
    error?: string;
  }
}

declare module "postern:tool/tool@0.1.0" {
  /** What a tool's module exports as `tool`. `execute` may be async, except with `--engine quickjs`. */
  export type Tool = Omit<typeof import("postern:tool/tool@0.1.0"), "execute"> & {
    execute(request: Request): Response | Promise<Response>;
  };
}
