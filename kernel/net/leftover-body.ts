/** Deals with the rest of a request body that a caller still sends after the response. */
import type { IncomingMessage, ServerResponse } from "node:http";

// Enough for a megabyte on a slow line. A caller that sends on and on is cut off then.
const MAX_MS = 30_000;

/**
 * Reads and drops the rest of a body that was answered before its end, such as one that is too large. Unread it
 * would hold up the next request on the connection; cut off at once, many callers never see the answer.
 */
export function dropRest(request: IncomingMessage, response: ServerResponse, mostMillis = MAX_MS): void {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  if (length === undefined && encoding === undefined) return;
  response.once("finish", () => {
    if (request.readableEnded || request.destroyed) return;
    const cut = setTimeout(() => request.destroy(), mostMillis).unref();
    request.once("close", () => clearTimeout(cut));
    // It may still lead into a parser that has given up.
    request.unpipe();
    request.resume();
  });
}
