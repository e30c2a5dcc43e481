/** A tool as others see it. */
import type { Capabilities } from "../../capabilities/capabilities.ts";
import { describeCapabilities } from "../../capabilities/describe.ts";
import type { JsonSchema, ToolInfo } from "../../kernel/plugin.ts";
import type { InstalledTool } from "./catalog.ts";

export function toInfo(tool: InstalledTool): ToolInfo {
  return { name: tool.name, ...describeTool(tool) };
}

export function describeTool(tool: {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly capabilities: Capabilities;
}): Omit<ToolInfo, "name"> {
  const { description, schema, capabilities } = tool;
  const methods = capabilities.http?.allowlist.flatMap((rule) => rule.methods) ?? [];
  return {
    version: capabilities.version,
    description,
    schema,
    grants: describeCapabilities(capabilities),
    writes: methods.some((method) => method !== "GET" && method !== "HEAD"),
  };
}
