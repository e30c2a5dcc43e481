/** A provider's server: where it is, the connections to it, and which models it offers. */

import { giveWay } from "../../../kernel/kit/concurrency.ts";
import { createOutbound, MAX_REPLY_BYTES, type OutboundReply } from "../../../kernel/kit/outbound.ts";
import type { Model } from "../services.ts";
import type { Lessons } from "./lessons.ts";

export type ProviderName = "openai" | "anthropic" | "google" | "ollama" | "openai-compatible";

export interface Server {
  readonly provider?: string;
  readonly baseUrl: string;
  readonly key: string | undefined;
}

export interface ProviderSettings extends Server {
  readonly provider: ProviderName;
  /** The model's name at the server. */
  readonly name: string;
  readonly window: number;
  /** Set if the operator says so; the model's name tells otherwise. */
  readonly takes?: Model["takes"] | undefined;
  /** Set if it takes tools only at the Responses endpoint, or cannot call any. */
  readonly tools?: "responses" | "none" | undefined;
  /** How much it can be asked to think, if the table says so. */
  readonly levels?: readonly string[] | undefined;
  readonly lessons?: Lessons;
  /** Told of a server that has read only a part of a prompt: some cut without a word what their window does not hold. */
  onCut?(read: number, sent: number): void;
}

/** Streams one answer of a server, with its errors as they came. */
export type Speak = Model["stream"];

export const OLLAMA_URL = "http://127.0.0.1:11434";

const LIST_TIMEOUT_MS = 3000;
// A server on loopback answers in a few milliseconds, or is not there.
const PROBE_TIMEOUT_MS = 200;

/** Keeps connections between turns. The operator chose the servers, and the turn's deadline judges slow answers. */
const outbound = createOutbound({ privateHosts: "any" });

/** Sends a text and returns the reply when it begins; its body is read as it comes. No redirect is followed. */
export async function openReply(
  url: string | URL,
  { headers, body, signal }: ReplyOptions,
): Promise<Awaited<ReturnType<Dispatcher["request"]>>> {
  const { origin, pathname, search } = new URL(url);
  const dispatcher = await outbound.dispatcher();
  await giveWay(body.length);
  return dispatcher.request({ origin, path: pathname + search, method: "POST", headers, body, signal });
}

type Dispatcher = Awaited<ReturnType<typeof outbound.dispatcher>>;

interface ReplyOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal | undefined;
}

/** Asks what a path below the server's says, and returns the reply whatever its status is. */
export async function askServer(
  { provider, baseUrl, key }: Server,
  path: string,
  body?: object,
): Promise<OutboundReply> {
  let url = baseUrl;
  while (url.endsWith("/")) url = url.slice(0, -1);
  return outbound.send({
    url: new URL(`${url}${path}`),
    ...(body && { method: "POST", body: JSON.stringify(body) }),
    headers: {
      ...(body && { "content-type": "application/json" }),
      ...(key && keyHeaders(provider, key)),
    },
    timeoutMs: LIST_TIMEOUT_MS,
    maxBytes: 4 * 1024 * 1024,
  });
}

/** Google takes what stands in `authorization` for a token of a signed-in person. */
function keyHeaders(provider: string | undefined, key: string): Readonly<Record<string, string>> {
  if (provider === "google") return { "x-goog-api-key": key };
  return { authorization: `Bearer ${key}`, "x-api-key": key, "anthropic-version": "2023-06-01" };
}

/** Returns the newest model of an Ollama server on loopback. */
export async function findOllama(): Promise<string | undefined> {
  try {
    const url = new URL(`${OLLAMA_URL}/api/tags`);
    const { body } = await outbound.send({ url, timeoutMs: PROBE_TIMEOUT_MS, maxBytes: MAX_REPLY_BYTES });
    return parse<{ readonly models?: readonly { readonly name: string }[] }>(body).models?.[0]?.name;
  } catch {
    return undefined;
  }
}

function parse<Value>(body: Uint8Array): Value {
  return JSON.parse(Buffer.from(body).toString()) as Value;
}
