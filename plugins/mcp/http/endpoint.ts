/** Requests on the gateway: 2026-07-28 without sessions, 2025-11-25 as its clients expect it. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type JSONRPCMessage,
  legacyStatelessFallback,
  type McpServerFactory,
  type ServerEvent,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import { parseLargeJson } from "../../../kernel/kit/http.ts";
import { Fault, type Log, type User } from "../../../kernel/plugin.ts";
import type { Caller } from "../../agent/services.ts";
import type { Store } from "../../store/services.ts";
import { CHANNEL } from "../parts.ts";
import type { Change } from "../server/list-changes.ts";
import type { Servers } from "../server/server.ts";
import { createSessions, nodeIn, type Session } from "./sessions.ts";

export type Endpoint = Awaited<ReturnType<typeof createEndpoint>>;

interface EndpointParts {
  readonly servers: Servers;
  readonly store: Store;
  readonly log: Log;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** For one user, including open streams. */
const MAX_OPEN_REQUESTS = 100;

interface Visit {
  readonly caller: Caller;
  readonly body: unknown;
  /** The listener is called when the response has ended. */
  onEnd(listener: () => void): void;
}

const TOPIC = "mcp session";
const MAX_SIGNAL_LENGTH = 256 * 1024;
const HEADER = "mcp-session-id";

const tooManySessions = () => refusal(429, "Too many sessions are busy. End one first.");

/** A message for the node that has the session; without one, the session has ended. */
type Signal = { readonly session: string; readonly message?: JSONRPCMessage };

export async function createEndpoint({ servers, store, log }: EndpointParts) {
  const onerror = (error: Error) => log.debug({ error }, "an MCP request was refused");
  const factory: McpServerFactory = ({ authInfo, era }) => {
    const caller = authInfo?.extra?.["caller"];
    if (caller === undefined) throw new Error("an MCP request came without a caller");
    return servers.create(caller as Caller, era);
  };
  const authOf = (caller: Caller) => ({ token: "", clientId: caller.user, scopes: [], extra: { caller } });
  // The SDK subscribes to the bus within the request that opens the stream, which says who listens.
  const listening = new AsyncLocalStorage<Caller>();
  const bus: ServerEventBus = {
    publish: () => {},
    subscribe(listener) {
      const caller = listening.getStore();
      return caller ? servers.changes.follow(caller, (change) => listener(eventOf(change))) : () => {};
    },
  };
  const modern = createMcpHandler(factory, { legacy: "reject", bus, onerror });
  const open = new Map<ServerResponse, string>();

  const sessions = await createSessions(servers, store);
  const stateless = legacyStatelessFallback(factory, onerror);
  const stopListening = store.signals.listen(TOPIC, (payload, isOwn) => {
    if (isOwn) return;
    const { session, message } = JSON.parse(payload) as Signal;
    if (message === undefined) void sessions.end(session);
    else sessions.deliver(session, message);
  });
  // Signals that are sent before this are missed.
  await stopListening.ready();
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

  /** Requests of 2025-11-25 and before, within a session if the client began one. */
  async function serveLegacy(request: Request, visit: Visit): Promise<Response> {
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
  }

  const route = async (request: Request, visit: Visit): Promise<Response> => {
    const { caller, body } = visit;
    if (await isLegacyRequest(request, body)) return serveLegacy(request, visit);
    return listening.run(caller, () => modern.fetch(request, { authInfo: authOf(caller), parsedBody: body }));
  };

  return {
    async handle(request: IncomingMessage, response: ServerResponse, { id, scope }: User): Promise<void> {
      const caller: Caller = { user: id, channel: CHANNEL, scope };
      const count = [...open.values()].filter((user) => user === id).length;
      open.set(response, id);
      response.once("close", () => open.delete(response));
      const onEnd = (listener: () => void) => void response.once("close", listener);
      const tapped = tapBody(request);
      const fetch = async (given: Request) => {
        if (count >= MAX_OPEN_REQUESTS)
          return refusal(429, `You have ${MAX_OPEN_REQUESTS} open requests. End one first.`);
        const body = await tapped.body();
        return body instanceof Fault ? refusal(400, body.message) : route(given, { caller, body, onEnd });
      };
      const serve = toNodeHandler({ fetch }, { onerror, maxRequestBodySize: MAX_BODY_BYTES });
      await serve(tapped.request, response);
    },
    /** Waits for calls that outlive their request. */
    drain: servers.drain,
    async close(): Promise<void> {
      // Cut, not ended: a client would take the end of a stream for a pause and wait for its result.
      for (const response of open.keys()) response.destroy();
      stopListening();
      await Promise.all([modern.close(), sessions.close()]);
      await servers.close();
    },
  };
}

/** Refuses a request before any server has seen it, in the protocol's form. */
function refusal(status: number, message: string, code = -32_000): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
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

/** Keeps the text of a request as it is read: reading it from a copy afterwards costs as much as the call. */
function tapBody(request: IncomingMessage) {
  const decoder = new TextDecoder();
  let text = "";
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of request) {
      text += decoder.decode(chunk, { stream: true });
      yield chunk;
    }
    text += decoder.decode();
  }
  const { method, url, headers } = request;
  const copy = { method, url, headers, [Symbol.asyncIterator]: chunks } as NodeIncomingMessageLike;
  return {
    request: copy,
    /** Undefined if it is not JSON: then the SDK responds with the protocol's error. A fault where nobody should parse it. */
    async body(): Promise<unknown> {
      try {
        return text === "" ? undefined : await parseLargeJson(text);
      } catch (error) {
        return error instanceof Fault ? error : undefined;
      }
    },
  };
}

function eventOf(change: Change): ServerEvent {
  return change.kind === "resource"
    ? { kind: "resource_updated", uri: change.uri }
    : { kind: `${change.kind}_list_changed` };
}
