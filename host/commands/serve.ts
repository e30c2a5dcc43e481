/** `tool serve`: exactly the tools of a folder, for an MCP host that starts a command. */
import { resolve } from "node:path";
import { type CallToolResult, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { hostIsGone, takeOutput, warn } from "../../kernel/kit/terminal.ts";
import type { CommandContext } from "../../kernel/plugin.ts";
import { usableTools } from "../library/functions.ts";
import { openToolHost, type ToolHost } from "../library/tool-host.ts";

interface ServeOptions {
  readonly user: string;
}

export async function serve(context: CommandContext, folder: string, { user }: ServeOptions): Promise<void> {
  const wire = takeOutput();
  await using host = await openToolHost({ folder: resolve(context.folder, folder) });
  const ended = hostIsGone(wire);
  if (process.stdin.isTTY)
    warn("postern tool serve: waiting for an MCP host on standard input; see postern tool serve --help\n");
  const handle = serveStdio(() => serverOf(host, user, context.version), {
    transport: new StdioServerTransport(process.stdin, wire),
  });
  await ended;
  await handle.close();
  process.stdin.destroy();
}

/** `McpServer` would compile the schemas of tools, which are strangers'. */
function serverOf(host: ToolHost, user: string, version: string): Server {
  const server = new Server({ name: "postern-tools", version }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => ({
    tools: (await usableTools(host, user)).map(({ name, description, schema, hints }) => ({
      name,
      description,
      inputSchema: { ...schema, type: "object" as const },
      annotations: hints && {
        readOnlyHint: hints.readOnly,
        destructiveHint: hints.destructive,
        openWorldHint: hints.openWorld,
      },
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq: { signal } }) => {
    const outcome = await host.call(params.name, params.arguments ?? {}, { user, signal });
    const isOk = outcome.status === "ok";
    const text = isOk ? outcome.output : outcome.message;
    return { content: [{ type: "text", text }], isError: !isOk } satisfies CallToolResult;
  });
  return server;
}
