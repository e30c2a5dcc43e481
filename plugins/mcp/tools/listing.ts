/** Installed tools as the protocol describes tools. */
import { specTypeSchemas, type Tool } from "@modelcontextprotocol/server";
import type { ToolCalls, ToolInfo } from "../../../kernel/plugin.ts";

type Offered = Awaited<ReturnType<ToolCalls["list"]>>[number];

export async function describeTool(tool: Offered): Promise<Tool> {
  const described: Tool = {
    name: tool.name,
    title: titleOf(tool.name),
    description: [tool.description, grantsIn(tool), tool.asks ? "It asks a person before it runs." : ""]
      .filter((part) => part !== "")
      .join("\n\n"),
    inputSchema: { ...tool.schema, type: "object" },
    ...(tool.hints && {
      annotations: {
        readOnlyHint: tool.hints.readOnly,
        destructiveHint: tool.hints.destructive,
        openWorldHint: tool.hints.openWorld,
      },
    }),
  };
  // A client refuses the whole list for one schema of no legal shape.
  const isLegal = !(await specTypeSchemas.Tool["~standard"].validate(described)).issues;
  return isLegal ? described : { ...described, inputSchema: { type: "object" } };
}

function grantsIn({ grants }: ToolInfo): string {
  return grants.length === 0 ? "" : `What it may do:\n${grants.map((grant) => `- ${grant}`).join("\n")}`;
}

function titleOf(name: string): string {
  const words = name.replaceAll(/[-_]/g, " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
