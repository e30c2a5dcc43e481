/**
 * The vocabulary every channel, the agent and the tool host share. Plain data: it can be stored,
 * sent to a browser and printed. Down go `Turn` and `ToolCall`; up come `ToolOutcome` and `TurnEvent`.
 */

/** One request to the agent, whatever channel it came by. */
export interface Turn {
  readonly user: string;
  /** The name of the channel that took it. */
  readonly channel: string;
  /** UUID minted by the channel when it has to know the turn's name beforehand. */
  readonly id?: string;
  /** Continues this thread of the same user; absent starts a new one. */
  readonly thread?: string;
  readonly input: TurnInput;
  /** Rendered as an `<instructions>` block ahead of the message, and stored with it. */
  readonly instructions?: string;
  /** Rendered as a `<user-context>` block ahead of the message, and stored with it. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Functions the caller runs itself; a call to one pauses the thread on a gate. */
  readonly tools?: readonly ExternalTool[];
  /** Earlier items brought by the caller; only for a new thread. */
  readonly history?: readonly TurnItem[];
  readonly temperature?: number;
}

export type TurnInput =
  | { readonly type: "message"; readonly text: string }
  /** Resumes a thread that waits on an external-tool gate. */
  | { readonly type: "tool_output"; readonly call: string; readonly output: string }
  /** Resumes a thread that waits on an approval gate. */
  | { readonly type: "approval"; readonly gate: string; readonly decision: ApprovalDecision }
  /** Resumes a thread that waits on an authentication gate: the credential is there now, or the user gave up. */
  | { readonly type: "authentication"; readonly gate: string; readonly decision: "done" | "deny" };

export type ApprovalDecision = "once" | "always" | "deny";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ExternalTool {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonSchema;
}

/** One entry of a turn, in the order in which it happened. */
export type TurnItem =
  | {
      readonly type: "message";
      readonly id: string;
      readonly role: "user" | "assistant" | "system";
      readonly text: string;
    }
  | { readonly type: "tool_call"; readonly id: string; readonly call: ToolCall; readonly external: boolean }
  | {
      readonly type: "tool_result";
      readonly id: string;
      readonly call: string;
      readonly outcome: ToolOutcome;
    };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** A JSON text, exactly as the model wrote it. */
  readonly params: string;
}

/** What came of a tool call. A failing tool is an outcome that the model reads, not an exception. */
export type ToolOutcome =
  | { readonly status: "ok"; readonly output: string; readonly receipt?: string }
  | { readonly status: "error"; readonly code: string; readonly message: string; readonly receipt?: string }
  /** The tool lacks a credential: nothing was sent. Becomes an authentication gate. */
  | {
      readonly status: "unauthenticated";
      readonly tool: string;
      readonly secret: string;
      readonly message: string;
    };

/** What a thread waits for. It survives a restart. */
export type Gate = {
  readonly id: string;
  readonly turn: string;
  readonly thread: string;
  readonly openedAt: string;
} & (
  | { readonly type: "external_tool"; readonly call: ToolCall }
  /** `grants`: in words, what the tool may do. */
  | { readonly type: "approval"; readonly call: ToolCall; readonly grants: readonly string[] }
  | {
      readonly type: "authentication";
      readonly call: ToolCall;
      readonly secret: string;
      readonly message: string;
    }
);

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  /** Decimal strings of US dollars; "0" where the price is not known. */
  readonly inputCost: string;
  readonly outputCost: string;
  readonly totalCost: string;
}

export interface ModelName {
  readonly provider: string;
  readonly name: string;
}

export type TurnStatus = "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled";

/**
 * What a turn tells while it runs, the same for every channel. `started` comes first and exactly one of
 * `done` or `failed` last. Text deltas of one `item` concatenate to that message's text.
 */
export type TurnEvent =
  | { readonly type: "started"; readonly turn: string; readonly thread: string; readonly model: ModelName }
  | { readonly type: "text"; readonly item: string; readonly delta: string }
  | { readonly type: "tool_started"; readonly item: string; readonly call: ToolCall }
  | {
      readonly type: "tool_finished";
      readonly item: string;
      readonly call: ToolCall;
      readonly outcome: ToolOutcome;
      readonly millis: number;
    }
  | { readonly type: "gate"; readonly gate: Gate }
  /** Something the person waiting should know: a stall, a retry, a second model taking over. */
  | { readonly type: "notice"; readonly code: string; readonly message: string }
  | { readonly type: "usage"; readonly usage: Usage }
  | {
      readonly type: "done";
      readonly status: "completed" | "waiting" | "cancelled";
      readonly record: TurnRecord;
    }
  | { readonly type: "failed"; readonly code: string; readonly message: string; readonly record: TurnRecord };

/** A turn as it is stored. */
export interface TurnRecord {
  readonly id: string;
  readonly thread: string;
  readonly user: string;
  readonly channel: string;
  readonly status: TurnStatus;
  readonly input: TurnInput;
  readonly items: readonly TurnItem[];
  readonly error?: { readonly code: string; readonly message: string };
  readonly gate?: Gate;
  readonly model: ModelName;
  readonly usage: Usage;
  readonly createdAt: string;
  readonly completedAt?: string;
}
