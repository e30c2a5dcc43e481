/** Requests of 2025-11-25 and before. With a session where the client began one; without, each is on its own. */
import {
  isInitializeRequest,
  type JSONRPCMessage,
  legacyStatelessFallback,
  type McpServerFactory,
} from "@modelcontextprotocol/server";
import type { Caller, Log, Store } from "../../../kernel/plugin.ts";
import type { Servers } from "../server.ts";
import { refusal } from "./refusal.ts";
import { nodeIn } from "./request-ids.ts";
import { createSessionIds } from "./session-ids.ts";
import { createSessions, type Session } from "./sessions.ts";

export interface Visit {
  readonly caller: Caller;
  /** What the request brings, parsed. */
  readonly body: unknown;
  /** Called when the answer has ended. */
  onEnd(listener: () => void): void;
}

export interface Legacy {
  serve(request: Request, visit: Visit): Promise<Response>;
  close(): Promise<void>;
}

export interface LegacyParts {
  readonly servers: Servers;
  readonly store: Store;
  readonly log: Log;
  readonly factory: McpServerFactory;
  authOf(caller: Caller): { token: string; clientId: string; scopes: string[]; extra: { caller: Caller } };
}

const TOPIC = "mcp session";
const LONGEST_SIGNAL = 256 * 1024;
const HEADER = "mcp-session-id";

const TOO_MANY = () => refusal(429, "Too many sessions are busy. End one first.");

/** What one node tells the others. */
type Told = { readonly session: string; readonly message?: JSONRPCMessage };

export async function createLegacy({ servers, store, log, factory, authOf }: LegacyParts): Promise<Legacy> {
  const sessions = createSessions({ servers, store, ids: await createSessionIds(store) });
  const stateless = legacyStatelessFallback(factory, (error) =>
    log.debug({ error }, "an MCP request was refused"),
  );
  const stop = store.signals.listen(TOPIC, (payload, isOwn) => {
    if (isOwn) return;
    const { session, message } = JSON.parse(payload) as Told;
    if (message === undefined) void sessions.end(session);
    else sessions.deliver(session, message);
  });
  // What is told before this is missed.
  await stop.ready;
  const tell = async (told: Told): Promise<void> => {
    const payload = JSON.stringify(told);
    if (payload.length <= LONGEST_SIGNAL) await store.signals.send(TOPIC, payload).catch(() => {});
  };

  async function inSession(session: Session, request: Request, visit: Visit): Promise<Response> {
    const { caller, onEnd } = visit;
    onEnd(session.hold());
    // Changes are told on the stream that a client opens for them.
    if (request.method !== "GET") return session.transport.handleRequest(request);
    onEnd(servers.announce(session.server, caller));
    return greeting(await session.transport.handleRequest(request));
  }

  return {
    async serve(request, visit) {
      const { caller, body } = visit;
      const id = request.headers.get(HEADER);
      if (id === null) {
        if (request.method !== "POST" || !isInitializeRequest(body))
          return stateless(request, {
            authInfo: authOf(caller),
            ...(body !== undefined && { parsedBody: body }),
          });
        return (await sessions.open(caller, body.params, request)) ?? TOO_MANY();
      }
      if (!sessions.isOwn(caller, id)) return refusal(404, "Session not found", -32_001);
      if (request.method === "DELETE") {
        await Promise.all([sessions.end(id), tell({ session: id })]);
        return new Response(null, { status: 200 });
      }
      const node = nodeIn(body);
      if (node !== undefined && node !== store.node.id) {
        await tell({ session: id, message: body as JSONRPCMessage });
        return new Response(null, { status: 202 });
      }
      // Whichever node is at it.
      if (isCancelling(body)) await tell({ session: id, message: body });
      const session = await sessions.find(caller, id);
      return session === undefined ? TOO_MANY() : inSession(session, request, visit);
    },
    async close() {
      stop();
      await sessions.close();
    },
  };
}

/** A stream that begins with silence: without a first word its client would not even get the headers. */
function greeting(response: Response): Response {
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
