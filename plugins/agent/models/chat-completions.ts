/**
 * The chat-completions dialect that local servers and most gateways speak, read from the socket as it comes:
 * a package's chain of web streams costs a turn more than all the rest of it.
 */
import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";
import type { Dispatcher } from "undici";
import { agent } from "./connections.ts";
import { describeForProvider } from "./flat-schema.ts";
import type { Endpoint, ModelMessage, ModelPart, ModelRequest, ModelTool, Speak } from "./model.ts";
import { objectText } from "./params.ts";

/** As much of an event as we read; servers leave out or add what they like. */
interface Chunk {
  readonly error?: unknown;
  readonly choices?: readonly { readonly delta?: Delta | null; readonly finish_reason?: string | null }[];
  readonly usage?: ChunkUsage | null;
}

interface Delta {
  readonly content?: string | readonly { readonly type?: string; readonly text?: unknown }[] | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly CallDelta[] | null;
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

/** An answer that is a refusal, in the shape in which `explain` reads those of the packages. */
class CallError extends Error {
  readonly statusCode: number;
  readonly responseHeaders: Readonly<Record<string, string>>;

  constructor(statusCode: number, responseHeaders: Readonly<Record<string, string>>, message: string) {
    super(message);
    this.statusCode = statusCode;
    this.responseHeaders = responseHeaders;
  }
}

// Of a refusal's body, what is read.
const LONGEST_REFUSAL = 64_000;
// Of one event, in characters: a server that sends no end of it would fill the memory of the whole service.
const LONGEST_EVENT = 8 * 1024 * 1024;

export function speakChatCompletions({ name, baseUrl, key }: Endpoint): Speak {
  const { origin, pathname, search } = new URL(baseUrl);
  const path = `${pathname.replace(/\/+$/, "")}/chat/completions${search}`;
  const headers = {
    "content-type": "application/json",
    accept: "text/event-stream",
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  };

  return async function* (request, signal) {
    // A signal that has gone off already tells nobody any more.
    signal.throwIfAborted();
    const answer = openAnswer({ origin, path, method: "POST", headers, body: bodyOf(name, request) });
    signal.addEventListener("abort", answer.close, { once: true });
    try {
      for (let parts = await answer.next(); parts; parts = await answer.next()) yield parts;
    } finally {
      signal.removeEventListener("abort", answer.close);
      answer.close();
    }
  };
}

function bodyOf(model: string, { system, messages, tools, temperature }: ModelRequest): string {
  const body = JSON.stringify({
    model,
    messages: [{ role: "system", content: system }, ...messages.map(wireMessage)],
    temperature,
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length > 0 && { tool_choice: "auto" }),
  });
  // The largest part of most requests, and the same in all of them.
  return tools.length === 0 ? body : `${body.slice(0, -1)},"tools":[${tools.map(toolText).join(",")}]}`;
}

function wireMessage(message: ModelMessage): object {
  switch (message.role) {
    case "user":
      return { role: "user", content: message.text };
    case "assistant":
      if (message.calls.length === 0) return { role: "assistant", content: message.text };
      return {
        role: "assistant",
        content: message.text === "" ? null : message.text,
        tool_calls: message.calls.map(({ id, name, params }) => ({
          id,
          type: "function",
          function: { name, arguments: objectText(params) },
        })),
      };
    case "tool":
      return { role: "tool", tool_call_id: message.call.id, content: message.output };
  }
}

const toolTexts = new WeakMap<ModelTool, string>();

function toolText(tool: ModelTool): string {
  const known = toolTexts.get(tool);
  if (known !== undefined) return known;
  const { description, inputSchema: parameters } = describeForProvider(tool);
  const text = JSON.stringify({ type: "function", function: { name: tool.name, description, parameters } });
  toolTexts.set(tool, text);
  return text;
}

interface Answer {
  /** What has come since the last time, which may be nothing to show; undefined when the answer is whole. */
  next(): Promise<readonly ModelPart[] | undefined>;
  /** Lets go of what is still to come. */
  close(): void;
}

const CLOSED = new Error("Nobody is waiting for the answer any more.");

function openAnswer(options: Dispatcher.DispatchOptions): Answer {
  const decoder = new StringDecoder("utf8");
  let ready: ModelPart[] = [];
  let hasCome = false;
  const reader = createReader(
    (part) => void ready.push(part),
    () => (hasCome = true),
  );
  let refusal: { readonly status: number; readonly headers: Headers; text: string } | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  let failure: unknown;
  let isOver = false;
  let wake = (): void => {};

  const end = (error?: unknown): void => {
    if (isOver) return;
    isOver = true;
    failure = error;
    wake();
  };
  const fail = (error: Error): void => {
    if (isOver) return;
    end(error);
    controller?.abort(error);
  };
  /** An exception of ours must not be taken for one of the connection's. */
  const read = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      fail(error as Error);
    }
  };

  agent.dispatch(options, {
    onRequestStart(given) {
      controller = given;
      if (isOver) given.abort(CLOSED);
    },
    onResponseStart(_, status, headers) {
      if (status >= 300) refusal = { status, headers: headers as Headers, text: "" };
    },
    onResponseData(_, chunk) {
      const text = decoder.write(chunk);
      if (refusal === undefined) read(() => reader.push(text));
      else if (refusal.text.length < LONGEST_REFUSAL) refusal.text += text;
      if (hasCome) wake();
    },
    onResponseEnd() {
      if (refusal) end(new CallError(refusal.status, refusal.headers, wordsOf(refusal.text, refusal.status)));
      else read(reader.end);
      end();
    },
    onResponseError: (_, error) => end(error),
  });

  return {
    async next() {
      if (!hasCome && !isOver) await new Promise<void>((resolve) => (wake = resolve));
      const parts = ready;
      ready = [];
      hasCome = false;
      if (parts.length > 0 || !isOver) return parts;
      if (failure !== undefined) throw failure;
      return undefined;
    },
    close: () => fail(CLOSED),
  };
}

type Headers = Readonly<Record<string, string>>;

/** What a refusal says, in whichever of the usual shapes. */
function wordsOf(text: string, status: number): string {
  try {
    const { error, detail, message } = JSON.parse(text) as Record<string, unknown>;
    const words = [error, detail, message].find((value) => value !== undefined);
    if (words !== undefined) return messageOf(words);
  } catch {}
  return text.trim() === "" ? `HTTP ${status}` : text.trim().slice(0, 500);
}

function messageOf(error: unknown): string {
  if (typeof error === "string") return error;
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === "string" ? message : JSON.stringify(error);
}

interface Reader {
  push(text: string): void;
  /** Throws where the answer has no proper end. */
  end(): void;
}

/** `onChunk` is told of every piece of an answer, also of one without anything to show; a keepalive is none. */
function createReader(emit: (part: ModelPart) => void, onChunk: () => void): Reader {
  const calls: { index: number | undefined; id: string; name: string; params: string }[] = [];
  let usage: ChunkUsage | undefined;
  let isFinished = false;

  const say = (delta: unknown): void => {
    if (typeof delta === "string" && delta !== "") emit({ type: "text", delta });
  };

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
    if (choice?.finish_reason) isFinished = true;
    const { content, refusal, tool_calls } = choice?.delta ?? {};
    if (Array.isArray(content)) for (const { type, text } of content) type === "text" && say(text);
    else say(content);
    say(refusal);
    for (const piece of tool_calls ?? []) readCall(piece);
  }

  const parser = createParser({
    maxBufferSize: LONGEST_EVENT,
    onError(error) {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
    onEvent({ data }) {
      onChunk();
      if (data !== "[DONE]") readChunk(JSON.parse(data) as Chunk);
    },
  });

  return {
    push: parser.feed,
    end() {
      if (!isFinished) throw new Error("The stream ended without a finish reason.");
      for (const { id, name, params } of calls) emit({ type: "call", call: { id, name, params } });
      if (usage === undefined) return;
      emit({
        type: "usage",
        inputTokens: usage.prompt_tokens ?? 0,
        outputTokens: usage.completion_tokens ?? 0,
        cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
        reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
      });
    },
  };
}
