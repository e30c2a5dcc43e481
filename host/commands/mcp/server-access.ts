/** Opens the servers for a command. */

import { type CommandContext, Fault, type Use } from "../../../kernel/plugin.ts";
import type { McpServers } from "../../services.ts";
import type { McpServerInfo } from "../../wire.ts";

export const OPERATOR = "operator";

export type Services = Use<"mcpServers" | "toolAdmin" | "toolHost", never>;

export function withServers(
  context: CommandContext,
  work: (servers: McpServers, services: Services) => Promise<void>,
): Promise<void> {
  return context.with(["mcpServers", "toolAdmin", "toolHost"], (use) => work(use.mcpServers, use));
}

export function withServer(
  context: CommandContext,
  name: string,
  work: (server: McpServerInfo, servers: McpServers, services: Services) => Promise<void>,
  user = OPERATOR,
): Promise<void> {
  return withServers(context, async (servers, services) => {
    const server = await servers.find(name, user);
    if (server === undefined) throw noSuchServer(name);
    await work(server, servers, services);
  });
}

export function noSuchServer(name: string): Fault {
  const message = `there is no MCP server "${name}"; "postern mcp list" shows those there are`;
  return new Fault("missing", "no_such_server", message, { param: "name" });
}

/** Ctrl-C aborts the signal, so that the command can clean up. */
export async function interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Fault("invalid", "cancelled", "Cancelled; nothing changed."));
  process.once("SIGINT", interrupt);
  try {
    return await work(interrupted.signal);
  } finally {
    process.off("SIGINT", interrupt);
  }
}
