/** The seams inside the tool host: what one call may do, and what crosses between worker and broker. */
import type { Capabilities } from "../capabilities/capabilities.ts";

/** Capabilities bound to one call. It stays on the main thread: the call's port stands for it. */
export interface Grant {
  /** The call's id, which is also its receipt's. */
  readonly id: string;
  readonly tool: string;
  readonly user: string;
  readonly capabilities: Capabilities;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
}

/** What `http-request` asked for, as the tool wrote it. */
export interface ToolRequest {
  readonly method: string;
  readonly url: string;
  readonly headersJson: string;
  readonly body: Uint8Array | undefined;
  readonly timeoutMs: number | undefined;
}

export type ToolReply =
  | { readonly ok: true; readonly status: number; readonly body: Uint8Array }
  | { readonly ok: false; readonly error: string };
