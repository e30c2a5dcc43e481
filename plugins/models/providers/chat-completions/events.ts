/** The events of an answer, put together as they come. */

import { createParser } from "eventsource-parser";
import type { ModelPart } from "../../services.ts";
import { endParts, noFinishReason } from "../reader.ts";
import { type Dialect, messageOf, type ThoughtField } from "./call-error.ts";

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
}

interface ChunkUsage {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number | null } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
}

// Bounds one event in characters: a server that never ends one would fill the memory of the whole service.
const MAX_EVENT_LENGTH = 8 * 1024 * 1024;
const THOUGHT_FIELDS: readonly ThoughtField[] = ["reasoning_content", "reasoning"];

export function createReader(dialect: Pick<Dialect, "thoughts">) {
  let come: ModelPart[] | undefined;
  const calls: { index: number | undefined; id: string; name: string; params: string }[] = [];
  let usage: ChunkUsage | undefined;
  let finish: string | undefined;

  const say = (delta: unknown, type: "text" | "reasoning" = "text"): void => {
    if (typeof delta === "string" && delta !== "") come?.push({ type, delta });
  };

  function readContent({ type, text, thinking }: ContentDelta): void {
    if (type === "text") say(text);
    else if (type !== "thinking") return;
    else if (Array.isArray(thinking))
      for (const part of thinking as ContentDelta[]) say(part.text, "reasoning");
    else say(thinking, "reasoning");
  }

  /** Servers that change the name send both for a while, with the same words. */
  function readThoughts(delta: Delta): void {
    const field = THOUGHT_FIELDS.find((name) => typeof delta[name] === "string" && delta[name] !== "");
    if (field === undefined) return;
    dialect.thoughts ??= field;
    say(delta[field], "reasoning");
  }

  /**
   * Pieces of one call bear its number; where a server numbers none, a new id begins a new call. So does a new id
   * with a name: some servers give every call the number 0.
   */
  function readCall({ index, id, function: piece }: CallDelta): void {
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
    /**
     * Yields the parts in this text, which may be none to show; nothing where no event ended, or only a keepalive came. An error
     * of the server is thrown after what it said before.
     */
    *push(text: string): Generator<readonly ModelPart[]> {
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
    /** Throws where the answer has no proper end. */
    end(): readonly ModelPart[] {
      if (finish === undefined) throw noFinishReason();
      return endParts({
        calls: calls.map(({ id, name, params }) => ({ id, name, params })),
        reason: finish,
        usage: usage && {
          inputTokens: usage.prompt_tokens ?? 0,
          outputTokens: usage.completion_tokens ?? 0,
          cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
          reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
        },
      });
    },
  };
}
