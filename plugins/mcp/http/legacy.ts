/** Requests of 2025-11-25 and before, within a session if the client began one. */
import {
  isInitializeRequest,
  type JSONRPCMessage,
  legacyStatelessFallback,
  type McpServerFactory,
} from "@modelcontextprotocol/server";
import type { Caller } from "../../../kernel/kit.ts";
import type { Log, Store } from "../../../kernel/plugin.ts";
import type { Servers } from "../server/server.ts";
import { createSessions, nodeIn, type Session } from "./sessions.ts";

/** Refuses a request before any server has seen it, in the protocol's form. */
export function refusal(status: number, message: string, code = -32_000): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}

export interface Visit {
  readonly caller: Caller;
  readonly body: unknown;
  /** The listener is called when the response has ended. */
  onEnd(listener: () => void): void;
}

export interface LegacyParts {
  readonly servers: Servers;
  readonly store: Store;
  readonly log: Log;
  readonly factory: McpServerFactory;
  authOf(caller: Caller): { token: string; clientId: string; scopes: string[]; extra: { caller: Caller } };
}

const TOPIC = "mcp session";
const MAX_SIGNAL_LENGTH = 256 * 1024;
const HEADER = "mcp-session-id";

const tooManySessions = () => refusal(429, "Too many sessions are busy. End one first.");

/** A message for the node that has the session; without one, the session has ended. */
type Signal = { readonly session: string; readonly message?: JSONRPCMessage };

export async function createLegacy({ servers, store, log, factory, authOf }: LegacyParts) {
  const sessions = await createSessions(servers, store);
  const stateless = legacyStatelessFallback(factory, (error) =>
    log.debug({ error }, "an MCP request was refused"),
  );
  const stop = store.signals.listen(TOPIC, (payload, isOwn) => {
    if (isOwn) return;
    const { session, message } = JSON.parse(payload) as Signal;
    if (message === undefined) void sessions.end(session);
    else sessions.deliver(session, message);
  });
  // Signals that are sent before this are missed.
  await stop.ready;
  const signal = async (told: Signal): Promise<void> => {
    const payload = JSON.stringify(told);
    if (payload.length <= MAX_SIGNAL_LENGTH) await store.signals.send(TOPIC, payload).catch(() => {});
  };

  async function inSession(session: Session, request: Request, visit: Visit): Promise<Response> {
    const { caller, onEnd } = visit;
    onEnd(session.hold());
    // Changes are announced on the stream that a client opens for them.
    if (request.method !== "GET") return session.transport.handleRequest(request);
    onEnd(servers.announce(session.server, caller));
    return withFirstByte(await session.transport.handleRequest(request));
  }

  return {
    async serve(request: Request, visit: Visit): Promise<Response> {
      const { caller, body } = visit;
      const id = request.headers.get(HEADER);
      if (id === null) {
        if (request.method !== "POST" || !isInitializeRequest(body))
          return stateless(request, { authInfo: authOf(caller), parsedBody: body });
        return (await sessions.open(caller, body.params, request)) ?? tooManySessions();
      }
      if (!sessions.isOwn(caller, id)) return refusal(404, "Session not found", -32_001);
      if (request.method === "DELETE") {
        await Promise.all([sessions.end(id), signal({ session: id })]);
        return new Response(null, { status: 200 });
      }
      const node = nodeIn(body);
      if (node !== undefined && node !== store.node.id) {
        await signal({ session: id, message: body as JSONRPCMessage });
        return new Response(null, { status: 202 });
      }
      // Any node may be running the request that is cancelled.
      if (isCancelling(body)) await signal({ session: id, message: body });
      const session = await sessions.find(caller, id);
      return session === undefined ? tooManySessions() : inSession(session, request, visit);
    },
    async close(): Promise<void> {
      stop();
      await sessions.close();
    },
  };
}

/** Begins a stream with a comment: without a first byte its client would not even get the headers. */
function withFirstByte(response: Response): Response {
  if (!response.ok || response.body === null) return response;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(": open\n\n")),
  });
  response.body.pipeTo(writable).catch(() => {});
  return new Response(readable, response);
}

function isCancelling(body: unknown): body is JSONRPCMessage {
  return (
    typeof body === "object" && body !== null && "method" in body && body.method === "notifications/cancelled"
  );
}
