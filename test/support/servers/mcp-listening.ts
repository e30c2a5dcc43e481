/** Scripted MCP servers on loopback: for the newer revision, or with sessions as the older one has them. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import {
  type NodeIncomingMessageLike,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { createMcpHandler, type Server } from "@modelcontextprotocol/server";
import { type ScriptedTool, scriptedServer } from "./scripted-mcp.ts";

export interface McpHttp {
  readonly port: number;
  readonly url: string;
  /** As a private host, which the operator has to except. */
  readonly host: string;
  /** What it offers; may be changed. */
  readonly tools: ScriptedTool[];
  readonly requests: readonly { readonly method: string; readonly headers: IncomingMessage["headers"] }[];
  /** Says that its tools are others now. */
  announce(): Promise<void>;
  close(): Promise<void>;
}

export async function listenMcp(
  given: readonly ScriptedTool[],
  revision: "2026" | "2025" = "2026",
): Promise<McpHttp> {
  const tools = [...given];
  const requests: { method: string; headers: IncomingMessage["headers"] }[] = [];
  const { serve, announce } = revision === "2026" ? serveModern(tools) : serveSessions(tools);
  const sockets = new Set<Socket>();
  const http = createServer((request, response) => {
    requests.push({ method: request.method ?? "", headers: request.headers });
    void serve(request, response);
  });
  http.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      http.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return {
    port,
    url: `http://127.0.0.1:${port}/mcp`,
    host: `127.0.0.1:${port}`,
    tools,
    requests,
    announce,
    close,
  };
}

interface Serving {
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>;
  announce(): Promise<void>;
}

function serveModern(tools: readonly ScriptedTool[]): Serving {
  const handler = createMcpHandler(() => scriptedServer(tools));
  const serve = toNodeHandler(handler);
  return {
    serve: async (request, response) => void (await serve(request as NodeIncomingMessageLike, response)),
    announce: async () => void handler.notify.toolsChanged(),
  };
}

/** 2025-11-25, with a session and a stream of its own for what the server says by itself. */
function serveSessions(tools: readonly ScriptedTool[]): Serving {
  const sessions = new Map<string, { server: Server; transport: NodeStreamableHTTPServerTransport }>();
  return {
    async serve(request, response) {
      const id = request.headers["mcp-session-id"];
      let session = typeof id === "string" ? sessions.get(id) : undefined;
      if (session === undefined) {
        const server = scriptedServer(tools);
        const transport = new NodeStreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (made) => void sessions.set(made, { server, transport }),
        });
        await server.connect(transport);
        session = { server, transport };
      }
      await session.transport.handleRequest(request, response);
    },
    async announce() {
      for (const { server } of sessions.values()) await server.sendToolListChanged();
    },
  };
}
