/** What the operator agreed to, beside what the server says now. Pure. */

import type { McpTool } from "../../../kernel/plugin.ts";
import { type Definition, type Listed, MAX_TOOLS, warningsOf } from "./definition.ts";
import { differences } from "./differences.ts";
import { nameTools } from "./names.ts";
import { isPerUser, type StoredServer, type StoredTool } from "./rows.ts";

/** What is kept of all of them: a list may be as long as half of it. */
const MAX_KEPT = 4 * 1024 * 1024;

/** The tools after the server's list was read. `isWhole`: those that are not in it are gone. */
export function afterListing(
  server: Pick<StoredServer, "name" | "tools">,
  { definitions }: Listed,
  { isWhole, isTaken }: { readonly isWhole: boolean; readonly isTaken: (name: string) => boolean },
): readonly StoredTool[] {
  const given = new Map(server.tools.map(({ tool, name }) => [tool, name]));
  const names = nameTools(
    server.name,
    definitions.map(({ tool }) => tool),
    given,
    isTaken,
  );
  const seen = new Map(definitions.map((definition) => [definition.tool, definition]));
  const known = server.tools.map((tool): StoredTool => {
    const now = seen.get(tool.tool);
    if (now === undefined) return isWhole ? { ...tool, isThere: false } : tool;
    return withDefinition(tool, now);
  });
  const added = definitions
    .filter(({ tool }) => !given.has(tool))
    .map((now): StoredTool => {
      const name = names.get(now.tool) as string;
      return { tool: now.tool, name, now, isThere: true, mayRun: false };
    });
  // What is gone is kept for what was agreed to; what never was is forgotten.
  return bounded([...known.filter(({ isThere, agreed }) => isThere || agreed !== undefined), ...added]);
}

/**
 * Where each user has a credential, a server can show each other tools, and each time new ones: of those that the operator has not
 * agreed to, the ones that have been there longest give way.
 */
function bounded(tools: readonly StoredTool[]): readonly StoredTool[] {
  let count = tools.length;
  let size = JSON.stringify(tools).length;
  if (count <= MAX_TOOLS && size <= MAX_KEPT) return tools;
  return tools.filter((tool) => {
    if (tool.agreed !== undefined || (count <= MAX_TOOLS && size <= MAX_KEPT)) return true;
    count -= 1;
    size -= JSON.stringify(tool).length;
    return false;
  });
}

function withDefinition({ now: _, ...tool }: StoredTool, now: Definition): StoredTool {
  const isSame = tool.agreed?.digest === now.digest;
  return { ...tool, isThere: true, ...(!isSame && { now }) };
}

/** The operator has seen them as they are. `mayRun`: those that are read-only need not ask. */
export function afterAgreeing(
  tools: readonly StoredTool[],
  isMeant: (tool: StoredTool) => boolean,
  mayRun: boolean,
): readonly StoredTool[] {
  return tools.map((tool) => {
    if (!tool.isThere || !isMeant(tool)) return tool;
    const { now, ...rest } = tool;
    const agreed = now ?? tool.agreed;
    return { ...rest, ...(agreed && { agreed }), mayRun: mayRun || tool.mayRun };
  });
}

export function isHeld({ isThere, agreed, now }: StoredTool): boolean {
  return isThere && (agreed === undefined || now !== undefined);
}

function stateOf({ file }: StoredServer, tool: StoredTool): McpTool["state"] {
  const { allow, withoutAsking } = file;
  if (allow !== undefined && !allow.includes(tool.tool)) return "off";
  if (isHeld(tool) || tool.agreed === undefined) return "held";
  const runs =
    withoutAsking === undefined ? tool.mayRun && tool.agreed.readOnly : withoutAsking.includes(tool.tool);
  return runs ? "runs" : "asks";
}

/**
 * For a call. Where each user has a credential, what one is shown says nothing of what another is: each is held to what their own
 * connection lists, and the operator sees the difference.
 */
export function stateForCalls(server: StoredServer, tool: StoredTool): McpTool["state"] {
  const { now: _, ...agreed } = tool;
  return stateOf(server, isPerUser(server) ? agreed : tool);
}

/** As the operator sees it; nothing for one that the server no longer has. */
export function showTool(server: StoredServer, tool: StoredTool): McpTool | undefined {
  const shown = tool.now ?? tool.agreed;
  if (shown === undefined || !tool.isThere) return undefined;
  const { agreed, now } = tool;
  return {
    name: tool.name,
    tool: tool.tool,
    description: described(shown),
    schema: shown.schema,
    digest: shown.digest,
    readOnly: shown.readOnly,
    state: stateOf(server, tool),
    warnings: [...warningsOf(shown)],
    ...(now !== undefined && {
      change: {
        ...(agreed && { before: { description: described(agreed), schema: agreed.schema } }),
        after: { description: described(now), schema: now.schema },
        differences: [...differences(agreed, now)],
      },
    }),
  };
}

export function described({ title, description }: Definition): string {
  return title === undefined ? description : `${title}\n${description}`;
}
