/** The chat-completions dialect, read from the socket: a chain of web streams costs a turn more than all the rest. */

import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Endpoint, StreamPart } from "../language-model.ts";
import { openReply, type ProviderSettings } from "../server.ts";
import { bodyOf } from "./body.ts";
import { CallError } from "./call-error.ts";
import { createEventReader, type Dialect } from "./events.ts";

// Bounds how much of a refusal's body is read.
const MAX_REFUSAL_LENGTH = 64_000;

export function openChatCompletions({ name, baseUrl, key }: ProviderSettings): Endpoint {
  const { origin, pathname, search } = new URL(baseUrl);
  const url = `${origin}${pathname.replace(/\/+$/, "")}/chat/completions${search}`;
  const headers = {
    "content-type": "application/json",
    accept: "text/event-stream",
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  };
  const dialect: Dialect = { thoughts: undefined };

  return (options) => {
    const { traceparent } = options.headers ?? {};
    const sent = traceparent === undefined ? headers : { ...headers, traceparent };
    const body = bodyOf(name, options, dialect.thoughts);
    return readAnswer(url, { headers: sent, body, signal: options.abortSignal }, dialect);
  };
}

async function* readAnswer(
  url: string,
  options: Parameters<typeof openReply>[1],
  dialect: Dialect,
): AsyncGenerator<readonly StreamPart[]> {
  const { statusCode, headers, body } = await openReply(url, options);
  const decoder = new StringDecoder("utf8");
  if (statusCode >= 300) {
    let text = "";
    for await (const chunk of chunksOf(body)) {
      text += decoder.write(chunk);
      if (text.length >= MAX_REFUSAL_LENGTH) break;
    }
    throw new CallError(statusCode, headers as Readonly<Record<string, string>>, text);
  }
  const reader = createEventReader(dialect);
  for await (const chunk of chunksOf(body)) {
    yield* reader.push(decoder.write(chunk));
  }
  yield reader.end();
}

/** The chunks of a body, also those that came right before it broke: a stream's own iterator drops them. */
async function* chunksOf(body: Readable): AsyncGenerator<Buffer> {
  const come: Buffer[] = [];
  let end: { readonly error?: unknown } | undefined;
  let wake = (): void => {};
  const close = (error?: unknown) => {
    end ??= { error };
    wake();
  };
  body.on("data", (chunk: Buffer) => {
    come.push(chunk);
    wake();
  });
  body.once("end", () => close()).once("error", close);
  try {
    for (;;) {
      if (come.length === 0 && end === undefined) await new Promise<void>((resolve) => (wake = resolve));
      yield* come.splice(0);
      if (come.length > 0 || end === undefined) continue;
      if (end.error !== undefined) throw end.error;
      return;
    }
  } finally {
    // Whoever stops reading lets go of what is still to come.
    body.on("error", () => {}).destroy();
  }
}
