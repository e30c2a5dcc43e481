/** A tool of a server as any other tool. */
import { createHash } from "node:crypto";
import { describeServer } from "../../../capabilities/servers/describe.ts";
import type { ToolInfo } from "../../../kernel/plugin.ts";
import { described, stateForCalls } from "./agreement.ts";
import { type Definition, warningsOf } from "./definition.ts";
import type { StoredServer, StoredTool } from "./rows.ts";

/** Nothing for one that is held back, off or gone: nobody is offered it. */
export function toInfo(server: StoredServer, tool: StoredTool): ToolInfo | undefined {
  const state = stateForCalls(server, tool);
  const { agreed } = tool;
  if (agreed === undefined || !tool.isThere || state === "held" || state === "off") return undefined;
  const grants = describeServer(server.file);
  return {
    name: tool.name,
    version: agreed.digest.slice(0, 12),
    description: described(agreed),
    schema: agreed.schema,
    grants,
    writes: !(agreed.readOnly && tool.mayRun),
    asks: state === "asks",
    hints: { readOnly: agreed.readOnly, destructive: agreed.destructive, openWorld: agreed.openWorld },
    fingerprint: fingerprintOf(server, tool, agreed, grants),
    server: { name: server.name, tool: tool.tool, warnings: [...warningsOf(agreed)] },
  };
}

/** Another one after the tool changed, or where and how it is reached. */
function fingerprintOf(
  { id, file }: StoredServer,
  { name }: StoredTool,
  { digest }: Definition,
  grants: readonly string[],
): string {
  const sealed = JSON.stringify([name, id, digest, grants, file.target]);
  return createHash("sha256").update(sealed).digest("hex");
}
