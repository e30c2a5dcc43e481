/** Providers whose models differ in what they take: their packages know. */

import type { Endpoint, LanguageModel } from "./language-model.ts";
import { openReply, type ProviderSettings } from "./server.ts";

export async function openOpenAI(settings: ProviderSettings) {
  const { createOpenAI } = await import("@ai-sdk/openai");
  const provider = createOpenAI(serverOf(settings));
  return {
    chat: endpointOf(provider.chat(settings.name)),
    responses: endpointOf(provider.responses(settings.name)),
  };
}

export async function openAnthropic(settings: ProviderSettings): Promise<Endpoint> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  return endpointOf(createAnthropic(serverOf(settings)).messages(settings.name));
}

/** Both are always given: a package would otherwise look for them in the environment itself. */
function serverOf({ baseUrl, key }: ProviderSettings) {
  return { baseURL: baseUrl, apiKey: key ?? "", fetch: leanFetch };
}

function endpointOf(model: LanguageModel): Endpoint {
  return async function* (options) {
    const { stream } = await model.doStream(options);
    for await (const part of stream) yield [part];
  };
}

/** `fetch` for the packages, on undici's plain request: a third less of a turn's work. It follows no redirect. */
async function leanFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const { method, body: sent, signal } = init;
  if (input instanceof Request || method !== "POST" || typeof sent !== "string")
    throw new TypeError("only a text can be posted to a model");
  const given = init.headers instanceof Headers ? Object.fromEntries(init.headers) : { ...init.headers };
  try {
    const { statusCode, headers, body } = await openReply(input, {
      headers: given as Record<string, string>,
      body: sent,
      signal: signal ?? undefined,
    });
    const chunks = body[Symbol.asyncIterator]();
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => void body.destroy(),
    });
    const isBodyless = statusCode === 204 || statusCode === 304;
    return new Response(isBodyless ? null : stream, { status: statusCode, headers: flat(headers) });
  } catch (error) {
    if (signal?.aborted) throw error;
    // The words by which the packages know that nobody answered, and that another try makes sense.
    throw new TypeError("fetch failed", { cause: error });
  }
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
}
