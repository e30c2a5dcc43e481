/** What the tool host lends: calls for the agent, management for a page. */
import type { JsonSchema, ToolCall, ToolOutcome } from "./turn.ts";

export interface ToolInfo {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** JSON Schema of `params`. */
  readonly schema: JsonSchema;
  /** Sentences: what the capabilities file grants. */
  readonly grants: readonly string[];
  /** True where a grant goes beyond GET and HEAD. */
  readonly writes: boolean;
}

export interface Tools {
  list(): Promise<readonly ToolInfo[]>;
  /** Never throws for what a tool did; `signal` cancels the call. */
  call(
    call: ToolCall,
    options: { readonly user: string; readonly signal?: AbortSignal },
  ): Promise<ToolOutcome>;
}

/** A component with its capabilities file, as it was handed over. */
export interface ToolUpload {
  readonly component: Uint8Array;
  /** The text of the capabilities file. */
  readonly capabilities: string;
}

/** What an upload would be once installed. */
export interface ToolProposal extends Omit<ToolInfo, "name"> {
  /** SHA-256 of the component. */
  readonly digest: string;
  /** How it differs from the installed tool of that name. */
  readonly replaces?: {
    readonly version: string;
    /** Sentences: what the tool could not do until now, and what it no longer may. */
    readonly added: readonly string[];
    readonly removed: readonly string[];
  };
}

/** The tightest of a tool's rate limits, for one user. */
export interface ToolLimits {
  readonly limit: number;
  readonly remaining: number;
  /** Until there is room again, or one place more. */
  readonly resetSecs: number;
}

/** What a tool has to be given before it works. */
export interface ToolSetup {
  readonly secrets: readonly {
    readonly name: string;
    readonly isSet: boolean;
    /** What to ask a person for. */
    readonly question: string;
    /** How and where to get it. */
    readonly instructions?: string;
    readonly url?: string;
  }[];
  /** True where the credential comes from signing in elsewhere, by `beginSignIn`. */
  readonly signsIn: boolean;
}

/** What the host saw of one call. No params, no output, no secret. */
export interface ToolReceipt {
  readonly id: string;
  readonly at: string;
  readonly tool: string;
  readonly user: string;
  readonly millis: number;
  readonly status: "ok" | "error" | "unauthenticated";
  readonly code?: string;
  readonly message?: string;
  readonly requests: readonly {
    readonly method: string;
    readonly host: string;
    readonly status?: number;
    readonly bytes: number;
    readonly millis: number;
    readonly error?: string;
  }[];
  /** Names of the credentials that were put into requests. */
  readonly credentials: readonly string[];
  readonly memoryPeak: number;
  readonly logs: readonly { readonly level: string; readonly message: string }[];
}

/**
 * What the `tool` commands do, for a page: whoever asks is the operator, and has been shown the grants. A fault
 * of kind `invalid` says why something is refused, `missing` that there is no such tool.
 */
export interface ToolAdmin {
  /** Every check of an install under this name; changes nothing. */
  examine(name: string, upload: ToolUpload): Promise<ToolProposal>;
  /** Without `replace` a name that is taken is refused. */
  install(name: string, upload: ToolUpload, options: { readonly replace: boolean }): Promise<ToolInfo>;
  /** False where there is no such tool. */
  remove(name: string): Promise<boolean>;
  /** What this user has left of the tool's rate limit; nothing where the tool may not use the network. */
  limits(name: string, user: string): Promise<ToolLimits | undefined>;
  setup(name: string): Promise<ToolSetup>;
  setSecret(name: string, secret: string, value: string): Promise<void>;
  /** Where to send the browser; it comes back to `redirectUri`, which then goes to `finishSignIn`. */
  beginSignIn(name: string, redirectUri: string): Promise<{ readonly url: string }>;
  /** The tool that is signed in now; a fault where the address answers no sign-in that was begun here. */
  finishSignIn(redirected: URL): Promise<{ readonly tool: string }>;
  /** Newest first. */
  receipts(query: {
    readonly tool?: string;
    readonly user?: string;
    readonly limit?: number;
  }): Promise<readonly ToolReceipt[]>;
  receipt(id: string): Promise<ToolReceipt | undefined>;
}
