/** `tool.wit` as a TypeScript author sees it. Generated: a test of Postern's keeps the two the same. */

declare module "postern:tool/host@0.1.0" {
  /**
   * Keeps a line for the call's receipt. At most 1000 lines of 4 KiB a call; what is over is dropped and counted.
   */
  export function log(level: Level, message: string): void;
  /**
   * Sends one request and waits for the answer. Only https, only what `http.allowlist` names; redirects are
   * not followed. `headers-json` is a JSON object of header names to values, "{}" for none. Credentials are
   * put in by Postern after this call: a tool never sees a secret. The error is a sentence that says what
   * was refused or went wrong.
   */
  export function httpRequest(
    method: string,
    url: string,
    headersJson: string,
    body: Uint8Array | undefined,
    timeoutMs: number | undefined,
  ): HttpResponse;
  /**
   * True where the secret is set. Names that are not in `secrets.allowed_names` always answer false.
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
   * Does the work.
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
     * JSON: what the model filled in, already checked against `schema`.
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
  /** What a tool's module exports as `tool`. */
  export type Tool = typeof import("postern:tool/tool@0.1.0");
}
