/** A stored turn and what its request asked for, as the response object of the wire. */

import { toWire, Usage, whyHeld } from "../../../kernel/kit.ts";
import type { Gate, TurnRecord } from "../../../kernel/plugin.ts";
import type {
  OutputItem,
  ResponseObject,
  ResponseStatus,
  WireError,
  WireTool,
  WireUsage,
} from "../wire/format.ts";
import { formatResponseId, type ResponseId } from "../wire/id.ts";
import { outputOf, type View } from "./output.ts";

/** What the request said that the response says again. */
export interface Echo {
  readonly previousResponseId: string | null;
  readonly instructions: string | null;
  readonly temperature: number | null;
  readonly tools: readonly WireTool[];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Fields of the response, under their names on the wire, that are other than the defaults. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The caller asked for reasoning that it can bring back. */
  readonly sealsReasoning?: boolean;
}

/** Retrieval and cancelling name no model: settings chose it, and the request's hint is not kept. */
export const PLACEHOLDER_MODEL = "reborn";

interface Progress {
  readonly status: ResponseStatus;
  readonly createdAt: number;
  readonly completedAt?: number | null;
  readonly output?: readonly OutputItem[];
  readonly error?: WireError | null;
  readonly usage?: WireUsage;
  readonly incomplete?: TurnRecord["incomplete"];
}

/** Where people open the gates that a program cannot. */
export type PageOf = (thread: string) => string;

export function respond(
  id: ResponseId,
  model: string,
  echo: Echo,
  isOpen: boolean,
  progress: Progress,
): ResponseObject {
  const { truncation, store, ...more } = (echo.settings ?? {}) as Partial<ResponseObject>;
  return {
    id: formatResponseId(id),
    object: "response",
    created_at: progress.createdAt,
    completed_at: progress.completedAt ?? null,
    status: progress.status,
    incomplete_details: incompleteOf(progress),
    model,
    previous_response_id: echo.previousResponseId,
    instructions: echo.instructions,
    output: progress.output ?? [],
    error: progress.error ?? null,
    tools: echo.tools,
    tool_choice: "auto",
    truncation: truncation ?? "disabled",
    parallel_tool_calls: false,
    text: { format: { type: "text" } },
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    temperature: echo.temperature ?? 1,
    reasoning: null,
    // Never absent and never null: one published schema forbids the one, another the other.
    usage: isOpen ? withCacheWrites(progress.usage ?? NO_USAGE) : (progress.usage ?? NO_USAGE),
    max_output_tokens: null,
    max_tool_calls: null,
    store: store ?? true,
    background: false,
    service_tier: "default",
    metadata: echo.metadata,
    safety_identifier: null,
    prompt_cache_key: null,
    // Through the other door the specification says what each of them is.
    ...(isOpen && { access_programs: null, ...more }),
  };
}

/** Said in words, or clients take the end of a cancelled stream for a whole answer. */
function incompleteOf({ status, incomplete }: Progress): ResponseObject["incomplete_details"] {
  if (status === "cancelled") return { reason: "cancelled" };
  return status === "incomplete" && incomplete ? { reason: incomplete } : null;
}

/** `overruled` is an error of ours that the turn does not know of: it was cut because it took too long. */
export function respondWith(
  record: TurnRecord,
  model: string,
  echo: Echo,
  view: View,
  pageOf: PageOf,
  overruled?: WireError,
): ResponseObject {
  const error = overruled ?? errorOf(record, pageOf);
  // The specification knows no incomplete answers.
  const incomplete = view.isOpen ? record.incomplete : undefined;
  const status = error ? "failed" : statusOf(record.status, incomplete);
  return respond({ turn: record.id, thread: record.thread }, model, echo, view.isOpen, {
    status,
    ...(incomplete && { incomplete }),
    createdAt: inSeconds(record.createdAt),
    completedAt: record.completedAt === undefined ? null : inSeconds(record.completedAt),
    output: outputOf(record, view),
    error,
    usage: usageOf(record.usage),
  });
}

function statusOf(status: TurnRecord["status"], incomplete: TurnRecord["incomplete"]): ResponseStatus {
  if (status === "running") return "in_progress";
  if (status === "completed" && incomplete) return "incomplete";
  return status === "waiting" ? "completed" : status;
}

function errorOf(record: TurnRecord, pageOf: PageOf): WireError | null {
  // A person's gate outlives the turn: the response has failed, whatever the thread does afterwards.
  if (record.gate && record.gate.type !== "external_tool") return gateError(record.gate, pageOf);
  if (record.status !== "failed") return null;
  const { code, message } = record.error ?? { code: "failed", message: "The turn failed." };
  return { type: "server_error", code: PUBLISHED[code] ?? code, message };
}

/** Clients know these codes and what to do about them; where none fits, ours says more. */
const PUBLISHED: Readonly<Record<string, string>> = {
  model_limited: "rate_limit_exceeded",
  daily_cap: "rate_limit_exceeded",
  model_error: "server_error",
  model_cut: "server_error",
  model_gone: "server_error",
  model_unreachable: "server_error",
  empty_answer: "server_error",
  failed: "server_error",
  too_long: "context_length_exceeded",
};

const because = (why: string): string => (why === "" ? "" : ` (${why})`);

/** Tells a program that a person is needed, and where. */
export function gateError(gate: Exclude<Gate, { type: "external_tool" }>, pageOf: PageOf): WireError {
  const page = pageOf(gate.thread);
  const { name } = gate.call;
  const then = `${page} or on another channel, then continue the thread.`;
  const refuse = (code: string, message: string): WireError => ({
    type: "invalid_request_error",
    code,
    message,
  });
  switch (gate.type) {
    case "approval":
      return refuse(
        "approval_required",
        `The tool "${name}" needs approval, which this API cannot ask for${because(whyHeld(gate))}. Approve or deny it at ${then}`,
      );
    case "authentication":
      return refuse(
        "authentication_required",
        `The tool "${name}" needs the credential "${gate.secret}", which this API cannot ask for. Provide it at ${then}`,
      );
    case "question":
      return refuse(
        "question_pending",
        `The tool "${name}" has a question for a person, which this API cannot ask. Answer it at ${then}`,
      );
  }
}

export function usageOf(usage: Usage): WireUsage {
  const { cached_tokens, reasoning_tokens, ...counted } = toWire(Usage, usage);
  return {
    ...counted,
    input_tokens_details: { cached_tokens },
    output_tokens_details: { reasoning_tokens },
  };
}

/** The types that clients publish have the count of tokens written to a cache, which the agent does not keep. */
export const withCacheWrites = (usage: WireUsage): WireUsage => ({
  ...usage,
  input_tokens_details: { ...usage.input_tokens_details, cache_write_tokens: 0 },
});

const NO_USAGE = usageOf({
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  inputCost: "0",
  outputCost: "0",
  totalCost: "0",
});

export const inSeconds = (time: string): number => Math.floor(Date.parse(time) / 1000);
