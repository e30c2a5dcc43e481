/** Puts the events of an answer together as they come. */

import { randomUUID } from "node:crypto";
import { createParser } from "eventsource-parser";
import type { FinishReason, ProviderOptions, StreamPart, Usage } from "../language-model.ts";
import type { ThoughtField } from "./body.ts";
import { messageOf } from "./call-error.ts";

/** As much of an event as we read; servers leave out or add what they like. */
interface Chunk {
  readonly error?: unknown;
  readonly choices?: readonly { readonly delta?: Delta | null; readonly finish_reason?: string | null }[];
  readonly usage?: ChunkUsage | null;
}

interface Delta extends Readonly<Partial<Record<ThoughtField, unknown>>> {
  readonly content?: string | readonly ContentDelta[] | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly CallDelta[] | null;
}

interface ContentDelta {
  readonly type?: string;
  readonly text?: unknown;
  readonly thinking?: unknown;
}

interface CallDelta {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null;
  /** A seal of Google's, which has to go back with the call. */
  readonly extra_content?: ProviderOptions[string] | null;
}

interface ChunkUsage {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
  } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
  /** US dollars that were charged, as OpenRouter says it. */
  readonly cost?: unknown;
}

// Bounds one event in characters: a server that never ends one would fill the memory of the whole service.
const MAX_EVENT_LENGTH = 8 * 1024 * 1024;
/** The id of all text, and of all thoughts: the servers do not number them. */
const ONLY = "0";
const THOUGHT_FIELDS: readonly ThoughtField[] = ["reasoning_content", "reasoning"];

interface PartialCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  params: string;
  extra?: ProviderOptions[string];
}

/** What a server was seen to do. */
export interface Dialect {
  /** By which name it sends its thoughts, and wants them back. */
  thoughts: ThoughtField | undefined;
}

export function createEventReader(dialect: Dialect) {
  let come: StreamPart[] | undefined;
  const calls: PartialCall[] = [];
  let usage: ChunkUsage | undefined;
  let finish: string | undefined;

  const say = (delta: unknown, type: "text-delta" | "reasoning-delta" = "text-delta"): void => {
    if (typeof delta === "string" && delta !== "") come?.push({ type, id: ONLY, delta });
  };

  function readContent({ type, text, thinking }: ContentDelta): void {
    if (type === "text") say(text);
    else if (type !== "thinking") return;
    else if (Array.isArray(thinking))
      for (const part of thinking as ContentDelta[]) say(part.text, "reasoning-delta");
    else say(thinking, "reasoning-delta");
  }

  /** Servers that change the name send both for a while, with the same words. */
  function readThoughts(delta: Delta): void {
    const field = THOUGHT_FIELDS.find((name) => typeof delta[name] === "string" && delta[name] !== "");
    if (field === undefined) return;
    dialect.thoughts ??= field;
    say(delta[field], "reasoning-delta");
  }

  /** Pieces of a call bear its number, but some servers number none, or all 0: a new id, then with a name, begins a call. */
  function readCall({ index, id, function: piece, extra_content: extra }: CallDelta): void {
    const number = index ?? undefined;
    let call =
      number === undefined
        ? calls.findLast((known) => !id || known.id === id)
        : calls.findLast((known) => known.index === number);
    if (call === undefined || (id && call.id && id !== call.id && piece?.name)) {
      call = { index: number, id: "", name: "", params: "" };
      calls.push(call);
    }
    call.id ||= id ?? "";
    call.name ||= piece?.name ?? "";
    call.params += piece?.arguments ?? "";
    if (extra) call.extra = extra;
  }

  function readChunk({ error, choices, usage: counted }: Chunk): void {
    if (error) throw new Error(messageOf(error));
    if (counted) usage = counted;
    const [choice] = choices ?? [];
    finish = choice?.finish_reason || finish;
    const delta = choice?.delta ?? {};
    readThoughts(delta);
    if (Array.isArray(delta.content)) for (const part of delta.content) readContent(part);
    else say(delta.content);
    say(delta.refusal);
    for (const piece of delta.tool_calls ?? []) readCall(piece);
  }

  const parser = createParser({
    maxBufferSize: MAX_EVENT_LENGTH,
    onError(error) {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
    onEvent({ data }) {
      come ??= [];
      if (data !== "[DONE]") readChunk(JSON.parse(data) as Chunk);
    },
  });

  return {
    /** Yields the parts in this text; nothing where no event ended. An error of the server is thrown after what it said. */
    *push(text: string): Generator<readonly StreamPart[]> {
      come = undefined;
      let failure: { readonly error: unknown } | undefined;
      try {
        parser.feed(text);
      } catch (error) {
        failure = { error };
      }
      if (come !== undefined) yield come;
      if (failure !== undefined) throw failure.error;
    },
    end: (): readonly StreamPart[] => [
      ...calls.map(({ id, name, params, extra }) => ({
        type: "tool-call" as const,
        // What goes back with a call is found by its id.
        toolCallId: id || `call_${randomUUID()}`,
        toolName: name,
        input: params,
        ...(extra && { providerMetadata: { openai: { extraContent: extra } } }),
      })),
      { type: "finish", finishReason: finishOf(finish), usage: usageOf(usage) },
    ],
  };
}

const UNIFIED = new Map<string, FinishReason["unified"]>([
  ["length", "length"],
  ["max_tokens", "length"],
  ["content_filter", "content-filter"],
]);

function finishOf(raw: string | undefined): FinishReason {
  return { unified: raw === undefined ? "other" : (UNIFIED.get(raw) ?? "stop"), raw };
}

function usageOf(counted: ChunkUsage | undefined): Usage {
  const input = counted && (counted.prompt_tokens ?? 0);
  const output = counted && (counted.completion_tokens ?? 0);
  const cacheRead = counted?.prompt_tokens_details?.cached_tokens ?? undefined;
  const cacheWrite = counted?.prompt_tokens_details?.cache_write_tokens ?? undefined;
  const reasoning = counted?.completion_tokens_details?.reasoning_tokens ?? undefined;
  return {
    inputTokens: { total: input, noCache: undefined, cacheRead, cacheWrite },
    outputTokens: { total: output, text: undefined, reasoning },
    ...(typeof counted?.cost === "number" && { raw: { cost: counted.cost } }),
  };
}
