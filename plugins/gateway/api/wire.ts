/** Our vocabulary as JSON for callers: the same data, in snake_case. */
import type {
  Gate,
  Job,
  Page,
  ThreadSummary,
  ToolInfo,
  ToolProposal,
  ToolReceipt,
  ToolSetup,
  TurnEvent,
  TurnRecord,
  Usage,
} from "../../../kernel/plugin.ts";
import type { Account, TokenInfo } from "../auth/accounts.ts";

export type Json = Readonly<Record<string, unknown>>;

export function gateJson({ turn, thread, openedAt, ...rest }: Gate): Json {
  const { type, ...others } = rest;
  return { type, ...others, turn_id: turn, thread_id: thread, opened_at: openedAt };
}

export function usageJson(usage: Usage): Json {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    cached_tokens: usage.cachedTokens,
    reasoning_tokens: usage.reasoningTokens,
    cost: {
      input_cost_usd: usage.inputCost,
      output_cost_usd: usage.outputCost,
      total_cost_usd: usage.totalCost,
      currency: "USD",
    },
  };
}

export function turnJson(turn: TurnRecord): Json {
  return {
    id: turn.id,
    thread_id: turn.thread,
    channel: turn.channel,
    status: turn.status,
    input: turn.input,
    items: turn.items,
    model: turn.model,
    usage: usageJson(turn.usage),
    created_at: turn.createdAt,
    ...(turn.error && { error: turn.error }),
    ...(turn.gate && { gate: gateJson(turn.gate) }),
    ...(turn.completedAt !== undefined && { completed_at: turn.completedAt }),
  };
}

export function threadJson(thread: ThreadSummary): Json {
  return {
    id: thread.id,
    title: thread.title,
    created_at: thread.createdAt,
    updated_at: thread.updatedAt,
    turns: thread.turns,
    ...(thread.gate && { gate: gateJson(thread.gate) }),
  };
}

export function jobJson(job: Job): Json {
  return {
    id: job.id,
    user: job.user,
    status: job.status,
    created_at: job.createdAt,
    ...(job.thread !== undefined && { thread_id: job.thread }),
    ...(job.conversation !== undefined && { conversation_id: job.conversation }),
    ...(job.response !== undefined && { response: job.response }),
    ...(job.error && { error: job.error }),
    ...(job.completedAt !== undefined && { completed_at: job.completedAt }),
  };
}

export function toolJson({ name, version, description, schema, grants, writes }: ToolInfo): Json {
  return { name, version, description, schema, grants, writes };
}

export function proposalJson({ digest, replaces, ...info }: ToolProposal): Json {
  const { version, description, schema, grants, writes } = info;
  return { digest, version, description, schema, grants, writes, ...(replaces && { replaces }) };
}

export function setupJson({ secrets, signsIn }: ToolSetup): Json {
  return {
    secrets: secrets.map(({ isSet, ...secret }) => ({ ...secret, is_set: isSet })),
    signs_in: signsIn,
  };
}

export function receiptJson(receipt: ToolReceipt): Json {
  const { id, at, tool, user, millis, status, code, message, credentials, memoryPeak, logs } = receipt;
  return {
    id,
    at,
    tool,
    user,
    millis,
    status,
    ...(code !== undefined && { code }),
    ...(message !== undefined && { message }),
    requests: receipt.requests.map((request) => ({
      method: request.method,
      host: request.host,
      bytes: request.bytes,
      millis: request.millis,
      ...(request.status !== undefined && { status: request.status }),
      ...(request.error !== undefined && { error: request.error }),
    })),
    credentials,
    memory_peak: memoryPeak,
    logs: logs.map(({ level, message: line }) => ({ level, message: line })),
  };
}

export function accountJson({ id, role, createdAt }: Account): Json {
  return { id, role, created_at: createdAt };
}

export function tokenJson(token: TokenInfo): Json {
  return {
    id: token.id,
    user: token.user,
    name: token.name,
    created_at: token.createdAt,
    expires_at: token.expiresAt ?? null,
    last_used_at: token.lastUsedAt ?? null,
    revoked_at: token.revokedAt ?? null,
  };
}

export function pageJson<Item>(
  name: string,
  { items, next }: Page<Item>,
  toJson: (item: Item) => Json,
): Json {
  return { [name]: items.map(toJson), next: next ?? null };
}

/** What an event says, beside its type, its number and its turn. */
export function eventJson(event: TurnEvent): Json {
  switch (event.type) {
    case "started":
      return { model: event.model };
    case "gate":
      return { gate: gateJson(event.gate) };
    case "usage":
      return { usage: usageJson(event.usage) };
    case "done":
      return { status: event.status, turn: turnJson(event.record) };
    case "failed":
      return { code: event.code, message: event.message, turn: turnJson(event.record) };
    default: {
      const { type: _, ...rest } = event;
      return rest;
    }
  }
}
