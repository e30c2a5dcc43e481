/**
 * Each request of a tool is a part of its call's trace, which the server is told of where the operator allows it. Never with a path
 * or a query.
 */
import type { Grant } from "./grant.ts";
import type { WireReply } from "./network.ts";
import type { AllowedRequest } from "./policy.ts";

export async function traced(
  { trace }: Grant,
  request: AllowedRequest,
  send: (request: AllowedRequest) => Promise<WireReply>,
): Promise<WireReply> {
  if (trace === undefined) return send(request);
  const { method, url, headers } = request;
  const span = trace.span.child(method, {
    kind: "client",
    attributes: {
      "http.request.method": method,
      "server.address": url.hostname,
      "server.port": Number(url.port || (url.protocol === "https:" ? 443 : 80)),
      "url.scheme": url.protocol.slice(0, -1),
    },
  });
  const { traceparent } = span;
  const isTold = traceparent !== undefined && trace.tellsHost(url.hostname);
  try {
    const reply = await send(isTold ? { ...request, headers: { ...headers, traceparent } } : request);
    span.set({ "http.response.status_code": reply.status });
    span.end(reply.status >= 400 ? String(reply.status) : undefined);
    return reply;
  } catch (error) {
    span.end("network");
    throw error;
  }
}
