/** The TypeScript types of `tool.wit`. Generated; a test in Postern keeps the two in sync. */

declare module "postern:tool/host@0.1.0" {
  /**
   * Adds a line to the call's receipt. At most 1000 lines of 4 KiB per call; the rest is dropped and counted.
   */
  export function log(level: Level, message: string): void;
  /**
   * Sends one request and waits for the response. Only https, and only what `http.allowlist` allows; redirects
   * are not followed. `headers-json` is a JSON object of header names to values, "{}" for none. Postern adds
   * credentials after this call: a tool never sees a secret. The error is a sentence that says what was
   * refused or what failed.
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
