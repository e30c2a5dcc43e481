/** The seams inside the tool host: what one call may do, and what crosses between worker and broker. */
import type { Capabilities } from "../../capabilities/capabilities.ts";
import type { CallTrace } from "../../plugins/telemetry/services.ts";
import type { AddressCheck } from "../services.ts";

/** Capabilities bound to one call. It stays on the main thread: the call's port stands for it. */
export interface Grant {
  readonly id: string;
  readonly tool: string;
  /** SHA-256 of the component that runs: a secret is given to one version of a tool. */
  readonly digest: string;
  readonly user: string;
  /** Only secrets of this user are sent. */
  readonly ownOnly?: boolean;
  readonly capabilities: Capabilities;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  readonly trace?: CallTrace;
  readonly checkAddress?: AddressCheck;
}

export interface ToolRequest {
  readonly method: string;
  readonly url: string;
  readonly headersJson: string;
  readonly body: Uint8Array | undefined;
  readonly timeoutMs: number | undefined;
}

/** Names in lower case, in the order they came; one character of a value stands for one byte. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

export interface HttpResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  /** The final address, if redirects were followed. */
  readonly url?: string;
}

export type ToolReply =
  | {
      readonly ok: true;
      readonly status: number;
      /** Like `headers`, for `fetch` only: where the answer came from, if redirects were followed. */
      readonly url?: string;
      /** Shown by `fetch` beside the status, but not by `http-request`. Absent if there are none. */
      readonly headers?: HeaderList;
      readonly body: Uint8Array;
    }
  | { readonly ok: false; readonly error: string };

/** One call's way to the network: what the bridge asks on the tool's behalf, and what the receipt is told. */
export interface BrokeredCall {
  /** Never rejects: what was refused or went wrong is a sentence in the reply. */
  send(request: ToolRequest, signal: AbortSignal): Promise<ToolReply>;
  /** Every request so far, answered, refused or still under way, in order. */
  readonly traffic: readonly TrafficEntry[];
}

export interface TrafficEntry {
  readonly method: string;
  /** The method does more than read. */
  readonly writes?: true;
  readonly host: string;
  readonly status?: number;
  /** The size of the body as the tool gets it. */
  readonly bytes: number;
  readonly millis: number;
  readonly credentials: readonly string[];
  readonly error?: string;
}
