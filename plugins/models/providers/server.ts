/** A provider's server: where it is, the connections to it, and which models it offers. */

import { giveWay } from "../../../kernel/kit/concurrency.ts";
import { createOutbound, MAX_REPLY_BYTES, type OutboundReply } from "../../../kernel/kit/outbound.ts";
import type { LocalServer, Model } from "../services.ts";
import type { Lessons } from "./lessons.ts";

export type ProviderName = "openai" | "anthropic" | "ollama" | "openai-compatible";

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
  /** Set if the table says that its tools are only taken at the Responses endpoint. */
  readonly tools?: "responses" | undefined;
  readonly lessons?: Lessons;
}

/** Streams one answer of a server, with its errors as they came. */
export type Speak = Model["stream"];

export const OLLAMA_URL = "http://127.0.0.1:11434";

const LIST_TIMEOUT_MS = 3000;
// A server on loopback answers in a few milliseconds, or is not there.
const PROBE_TIMEOUT_MS = 200;
const MAX_NAMES = 500;

/**
 * Keeps connections between turns. The operator chose the servers, so they may be anywhere. A slow answer is for the turn's
 * deadline to judge, not for the connection's.
 */
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

/** Asks for the list of models, and returns the reply whatever its status is. */
export async function askModels({ baseUrl, key, provider }: Server): Promise<OutboundReply> {
  let url = baseUrl;
  while (url.endsWith("/")) url = url.slice(0, -1);
  return outbound.send({
    // Anthropic lists twenty at a time otherwise.
    url: new URL(`${url}/models${provider === "anthropic" ? "?limit=1000" : ""}`),
    headers:
      key === undefined
        ? {}
        : { authorization: `Bearer ${key}`, "x-api-key": key, "anthropic-version": "2023-06-01" },
    timeoutMs: LIST_TIMEOUT_MS,
    maxBytes: 4 * 1024 * 1024,
  });
}

/** Returns no names where the server does not list them. */
export async function listModels(server: Server): Promise<readonly string[]> {
  try {
    const { status, body } = await askModels(server);
    if (status < 200 || status > 299) return [];
    const { data } = parse<{ readonly data?: unknown }>(body);
    if (!Array.isArray(data)) return [];
    const names = data.map((one: unknown) => (Object(one) as { readonly id?: unknown }).id);
    return names
      .filter((name): name is string => typeof name === "string" && name.length <= 200)
      .slice(0, MAX_NAMES);
  } catch {
    return [];
  }
}

/** Where model servers listen that people run on their own machine, if nobody told them otherwise. */
const LOCAL_PORTS: Readonly<Record<string, number>> = {
  Ollama: 11434,
  "LM Studio": 1234,
  "llama.cpp": 8080,
  vLLM: 8000,
  Jan: 1337,
};

export async function findLocalServers(): Promise<readonly LocalServer[]> {
  const found = await Promise.all(
    Object.entries(LOCAL_PORTS).map(async ([name, port]) => {
      const baseUrl = `http://127.0.0.1:${port}/v1`;
      return { name, baseUrl, models: await listModels({ baseUrl, key: undefined }) };
    }),
  );
  return found.filter(({ models }) => models.length > 0);
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
