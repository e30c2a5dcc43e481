/**
 * `tool.wit` as a TypeScript author sees it. Kept beside the contract, and like it without a dependency:
 * copy it into your own project, or reference it from here.
 */

declare module "postern:tool/host@0.1.0" {
  export type Level = "trace" | "debug" | "info" | "warn" | "error";

  export interface HttpResponse {
    status: number;
    body: Uint8Array;
  }

  export function log(level: Level, message: string): void;

  /** Throws an object whose `payload` is the sentence that says what was refused or went wrong. */
  export function httpRequest(
    method: string,
    url: string,
    headersJson: string,
    body: Uint8Array | undefined,
    timeoutMs: number | undefined,
  ): HttpResponse;

  export function secretExists(name: string): boolean;
}

/** What a tool's module exports as `tool`. */
declare module "postern:tool/tool@0.1.0" {
  export interface Tool {
    execute(request: { params: string }): { output?: string; error?: string };
    schema(): string;
    description(): string;
  }
}
