/** How the page talks to the gateway: the shapes of its JSON, and requests. */
export interface User {
  readonly id: string;
  readonly role: "operator" | "user";
}

export interface ModelName {
  readonly provider: string;
  readonly name: string;
}

export interface Status {
  readonly version: string;
  readonly uptime_secs: number;
  readonly channels: readonly { readonly name: string; readonly on: boolean; readonly detail: string }[];
  readonly model: ModelName;
  readonly tools: readonly string[];
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly params: string;
}

export type Outcome =
  | { readonly status: "ok"; readonly output: string; readonly receipt?: string }
  | { readonly status: "error"; readonly code: string; readonly message: string; readonly receipt?: string }
  | {
      readonly status: "unauthenticated";
      readonly tool: string;
      readonly secret: string;
      readonly message: string;
    };

export interface Gate {
  readonly type: "external_tool" | "approval" | "authentication";
  readonly id: string;
  readonly call: ToolCall;
  readonly grants?: readonly string[];
  readonly message?: string;
}

export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly cost: { readonly total_cost_usd: string };
}

export type Item =
  | { readonly type: "message"; readonly id: string; readonly role: string; readonly text: string }
  | { readonly type: "tool_call"; readonly id: string; readonly call: ToolCall; readonly external: boolean }
  | { readonly type: "tool_result"; readonly id: string; readonly call: string; readonly outcome: Outcome };

export type TurnStatus = "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled";

export interface Turn {
  readonly id: string;
  readonly thread_id: string;
  readonly channel: string;
  readonly status: TurnStatus;
  readonly input: { readonly type: string; readonly text?: string };
  readonly items: readonly Item[];
  readonly model: ModelName;
  readonly usage: Usage;
  readonly created_at: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly gate?: Gate;
}

/** Oldest first; `next` leads to those before them. */
export interface TurnPage {
  readonly turns: readonly Turn[];
  readonly next: string | null;
}

export interface ThreadRow {
  readonly id: string;
  readonly title: string;
  readonly updated_at: string;
  readonly gate?: Gate;
}

/** What a turn tells on the socket. */
export type TurnFrame = { readonly id: number; readonly turn_id: string; readonly thread_id: string } & (
  | { readonly type: "started"; readonly model: ModelName }
  | { readonly type: "text"; readonly item: string; readonly delta: string }
  | { readonly type: "tool_started"; readonly item: string; readonly call: ToolCall }
  | {
      readonly type: "tool_finished";
      readonly call: ToolCall;
      readonly outcome: Outcome;
      readonly millis: number;
    }
  | { readonly type: "gate"; readonly gate: Gate }
  | { readonly type: "notice"; readonly code: string; readonly message: string }
  | { readonly type: "usage"; readonly usage: Usage }
  | { readonly type: "done"; readonly status: string; readonly turn: Turn }
  | { readonly type: "failed"; readonly code: string; readonly message: string; readonly turn: Turn }
);

export interface Accepted {
  readonly thread_id: string;
  readonly message_id: string;
}

/** A refusal in the gateway's own words. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export async function ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const isBytes = body instanceof FormData;
  const sent = isBytes ? body : JSON.stringify(body);
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: "same-origin",
      ...(body === undefined
        ? {}
        : { body: sent, headers: isBytes ? {} : { "content-type": "application/json" } }),
    });
  } catch {
    throw new Refused(
      0,
      "Postern cannot be reached. What you typed is kept; try again when the connection is back.",
    );
  }
  const text = await response.text();
  if (!response.ok) throw new Refused(response.status, refusalText(response, text));
  return (text === "" ? undefined : JSON.parse(text)) as Answer;
}

function refusalText({ status, headers }: Response, text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    const wait = headers.get("retry-after");
    return `${text.slice(0, 300) || `HTTP ${status}`}${wait ? ` (try again in ${wait} s)` : ""}`;
  }
}
