/** Requests on the gateway: 2026-07-28 without sessions, 2025-11-25 as its clients expect it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, type McpRequestContext } from "@modelcontextprotocol/server";
import type { Caller, Log, User } from "../../../kernel/plugin.ts";
import { CHANNEL } from "../parts.ts";
import type { Servers } from "../server.ts";

export interface Endpoint {
  handle(request: IncomingMessage, response: ServerResponse, user: User): Promise<void>;
  /** Waits for calls that go on without their request. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export interface EndpointParts {
  readonly servers: Servers;
  readonly log: Log;
}

export function createEndpoint({ servers, log }: EndpointParts): Endpoint {
  const onerror = (error: Error) => log.debug({ error }, "an MCP request was refused");
  const handler = createMcpHandler((context) => servers.create(callerOf(context), context.era), { onerror });
  const serve = toNodeHandler(handler, { onerror });
  return {
    async handle(request, response, { id, scope }) {
      const caller: Caller = { user: id, channel: CHANNEL, ...(scope && { scope }) };
      const auth = { token: "", clientId: id, scopes: [], extra: { caller } };
      await serve(Object.assign(request as NodeIncomingMessageLike, { auth }), response);
    },
    drain: servers.drain,
    async close() {
      await handler.close();
      await servers.close();
    },
  };
}

function callerOf({ authInfo }: McpRequestContext): Caller {
  const caller = authInfo?.extra?.["caller"];
  if (caller === undefined) throw new Error("an MCP request came without a caller");
  return caller as Caller;
}
