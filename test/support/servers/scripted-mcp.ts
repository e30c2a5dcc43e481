/** An MCP server of the SDK's own, whose tools a test scripts and changes while it runs. */
import {
  type CallToolResult,
  type InputRequiredResult,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";

export interface ScriptedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: { readonly type: "object"; readonly [keyword: string]: unknown };
  readonly outputSchema?: { readonly type: "object"; readonly [keyword: string]: unknown };
  readonly annotations?: object;
  run?(
    args: Readonly<Record<string, unknown>>,
    context: ServerContext,
    server: Server,
  ): CallToolResult | InputRequiredResult | Promise<CallToolResult | InputRequiredResult>;
}

export const text = (said: string): CallToolResult => ({ content: [{ type: "text", text: said }] });

/** Says what it is given; the server calls it read-only. */
export const ECHO: ScriptedTool = {
  name: "echo",
  description: "Says it again.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  annotations: { readOnlyHint: true, openWorldHint: false },
  run: ({ text: said }) => text(`echo: ${said}`),
};

export const WRITE: ScriptedTool = {
  name: "write",
  description: "Writes something down.",
  inputSchema: { type: "object" },
  run: () => text("written"),
};

export function scriptedServer(tools: readonly ScriptedTool[]): Server {
  const server = new Server(
    { name: "scripted", version: "1.0.0" },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: tools.map(({ run: _, inputSchema = { type: "object" as const }, ...tool }) => ({
      ...tool,
      inputSchema,
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool?.run === undefined) throw new Error(`no tool ${params.name}`);
    return tool.run(params.arguments ?? {}, context, server);
  });
  return server;
}
