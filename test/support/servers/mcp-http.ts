/** Scripted MCP servers until the test is over. */
import { afterThisTest } from "../undo.ts";
import { listenMcp, type McpHttp } from "./mcp-listening.ts";

export async function openMcpHttp(...given: Parameters<typeof listenMcp>): Promise<McpHttp> {
  const server = await listenMcp(...given);
  afterThisTest(server.close);
  return server;
}
