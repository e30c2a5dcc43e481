/**
 * `fetch` as the providers' packages need it, on undici's plain request: a third less of a turn's work than the
 * web platform's own, whose every request and header becomes an object of its own. It follows no redirect.
 */
import { outbound } from "../connections.ts";

export async function leanFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  // Only ever called with an address and a JSON text; anything else is not ours to guess.
  if (input instanceof Request || (init.body != null && typeof init.body !== "string"))
    throw new TypeError("only an address and a text can be sent to a model");
  const { origin, pathname, search } = new URL(input);
  try {
    const dispatcher = await outbound.dispatcher();
    const { statusCode, headers, body } = await dispatcher.request({
      origin,
      path: pathname + search,
      method: init.method === "POST" ? "POST" : "GET",
      headers: init.headers instanceof Headers ? Object.fromEntries(init.headers) : { ...init.headers },
      body: init.body ?? null,
      signal: init.signal ?? null,
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
    if (init.signal?.aborted) throw error;
    // The words by which the packages know that nobody answered, and that another try makes sense.
    throw new TypeError("fetch failed", { cause: error });
  }
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
}
