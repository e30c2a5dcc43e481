/** `tools/list` and `tools/call`: the installed tools that the caller may use, and `ask`. */
import { randomUUID } from "node:crypto";
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type Caller, Fault, type Log, type ToolCalls } from "../../../kernel/plugin.ts";
import type { Guarded } from "../guard.ts";
import { pageOf } from "../paging.ts";
import { ASK, ASK_TOOL, type AskParts, createAsk } from "./ask.ts";
import { describeTool } from "./listing.ts";
import { failure, resultOf } from "./result.ts";

export interface ToolParts extends AskParts {
  readonly server: Server;
  readonly toolCalls: ToolCalls;
  readonly caller: Caller;
  readonly log: Log;
  readonly page: string | undefined;
}

export function serveTools({ handle }: Guarded, parts: ToolParts): void {
  const { server, toolCalls, caller, page } = parts;
  const ask = createAsk(parts);

  handle("tools/list", async ({ params }) => {
    const installed = (await toolCalls.list(caller)).filter(({ name }) => name !== ASK);
    const { page: listed, next } = pageOf(installed, ({ name }) => name, params?.cursor);
    const own = params?.cursor === undefined ? [ASK_TOOL] : [];
    return { tools: [...own, ...(await Promise.all(listed.map(describeTool)))], ...next };
  });

  handle("tools/call", async ({ params: { name, arguments: given = {} } }, context) => {
    const result = await run(name, given, context).catch((error: unknown) => {
      if (error instanceof Fault) return failure(error.message);
      throw error;
    });
    return server.projectCallToolResult(result, undefined);
  });

  async function run(name: string, given: object, context: ServerContext): Promise<CallToolResult> {
    if (name === ASK) return ask(given, context);
    const call = { id: randomUUID(), name, params: JSON.stringify(given) };
    const outcome = await toolCalls.call(call, caller, { signal: context.mcpReq.signal });
    switch (outcome.status) {
      case "ok":
        return resultOf(outcome);
      case "error":
        if (outcome.code !== "unknown_tool") return resultOf(outcome);
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
      case "unauthenticated":
        return failure(outcome.message);
      case "ask":
      case "question":
        return failure(`The tool ${name} has to ask you first${page === undefined ? "" : `: open ${page}`}.`);
    }
  }
}
