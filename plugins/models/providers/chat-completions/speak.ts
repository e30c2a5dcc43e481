/**
 * The chat-completions dialect that local servers and most gateways speak, read from the socket as it comes:
 * a package's chain of web streams costs a turn more than all the rest of it.
 */
import { StringDecoder } from "node:string_decoder";
import type { ModelPart } from "../../../../kernel/kit.ts";
import { outbound } from "../connections.ts";
import type { Endpoint, Speak } from "../endpoint.ts";
import { bodyOf } from "./body.ts";
import { CallError, type Dialect, refusedField } from "./dialect.ts";
import { createReader } from "./reader.ts";

// Bounds how much of a refusal's body is read.
const MAX_REFUSAL_LENGTH = 64_000;

/** `readsToolChoice`: false for a server that calls whatever it is shown. */
export function speakChatCompletions(
  { name, baseUrl, key }: Endpoint,
  { readsToolChoice = true }: { readonly readsToolChoice?: boolean } = {},
): Speak {
  const { origin, pathname, search } = new URL(baseUrl);
  const path = `${pathname.replace(/\/+$/, "")}/chat/completions${search}`;
  const headers = {
    "content-type": "application/json",
    accept: "text/event-stream",
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  };
  const dialect: Dialect = { refused: new Set(), thoughts: undefined, readsToolChoice };

  return async function* (request, signal) {
    const without = new Set(dialect.refused);
    const unknown: string[] = [];
    // Each round leaves out one field more, so there are no more rounds than fields.
    for (;;) {
      const { text, optional } = bodyOf(name, request, dialect, without);
      const { traceparent } = request;
      const sent = traceparent === undefined ? headers : { ...headers, traceparent };
      const agent = await outbound.dispatcher();
      // A signal that has gone off already tells nobody any more.
      signal.throwIfAborted();
      const answer = openAnswer(agent, { origin, path, method: "POST", headers: sent, body: text }, dialect);
      signal.addEventListener("abort", answer.close, { once: true });
      try {
        for (let parts = await answer.next(); parts; parts = await answer.next()) {
          // Only now is it certain that the field was the reason.
          for (const field of unknown.splice(0)) dialect.refused.add(field);
          yield parts;
        }
        return;
      } catch (error) {
        const refused = refusedField(error, optional);
        if (refused === undefined) throw error;
        without.add(refused.name);
        if (refused.isUnknown) unknown.push(refused.name);
      } finally {
        signal.removeEventListener("abort", answer.close);
        answer.close();
      }
    }
  };
}

interface Answer {
  /** What has come since the last time, which may be nothing to show; undefined when the answer is whole. */
  next(): Promise<readonly ModelPart[] | undefined>;
  /** Lets go of what is still to come. */
  close(): void;
}

const CLOSED = new Error("Nobody is waiting for the answer any more.");

type Dispatcher = Awaited<ReturnType<typeof outbound.dispatcher>>;

function openAnswer(
  agent: Dispatcher,
  options: Parameters<Dispatcher["dispatch"]>[0],
  dialect: Dialect,
): Answer {
  const decoder = new StringDecoder("utf8");
  let ready: ModelPart[] = [];
  let hasCome = false;
  const reader = createReader(
    (part) => void ready.push(part),
    () => (hasCome = true),
    dialect,
  );
  let refusal: { readonly status: number; readonly headers: Headers; text: string } | undefined;
  let controller: { abort(error: Error): void } | undefined;
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
      else if (refusal.text.length < MAX_REFUSAL_LENGTH) refusal.text += text;
      if (hasCome) wake();
    },
    onResponseEnd() {
      if (refusal) end(new CallError(refusal.status, refusal.headers, refusal.text));
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
