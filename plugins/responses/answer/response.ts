/** A stored turn and the echo of its request, as the response object of the wire. */

import { toWire } from "../../../kernel/kit/schema.ts";
import { NO_USAGE, Usage } from "../../../kernel/kit/turns.ts";
import type { TurnRecord } from "../../../kernel/plugin.ts";
import type { Echo } from "../parse/request.ts";
import { gateError, type PageOf } from "../resolve/gate.ts";
import type { OutputItem, ResponseObject, ResponseStatus, WireError, WireUsage } from "../wire/format.ts";
import { formatResponseId, type ResponseId } from "../wire/id.ts";
import { outputOf, type View } from "./output.ts";

/** Retrieval and cancelling name no model: settings chose it, and the name in the request is not kept. */
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
    // It is never absent and never null: one published schema forbids the one, another the other.
    usage: isOpen ? withCacheWrites(progress.usage ?? NOTHING_USED) : (progress.usage ?? NOTHING_USED),
    max_output_tokens: null,
    max_tool_calls: null,
    store: store ?? true,
    background: false,
    service_tier: "default",
    metadata: echo.metadata,
    safety_identifier: null,
    prompt_cache_key: null,
    // In the strict dialect the specification fixes each of them.
    ...(isOpen && { access_programs: null, ...more }),
  };
}

/** Without a reason, clients take the end of a cancelled stream for a whole answer. */
function incompleteOf({ status, incomplete }: Progress): ResponseObject["incomplete_details"] {
  if (status === "cancelled") return { reason: "cancelled" };
  return status === "incomplete" && incomplete ? { reason: incomplete } : null;
}

/** `overruled` is an error that the turn does not know: it was cut because it took too long. */
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
    incomplete,
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

/** The codes that clients know, and act on. */
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

const NOTHING_USED = usageOf(NO_USAGE);

export const inSeconds = (time: string): number => Math.floor(Date.parse(time) / 1000);
