/** The parts of a server: services of other plugins, and the settings. Loads nothing of the protocol's packages. */
import type { Env, Log, Use } from "../../kernel/plugin.ts";
import type { Caller } from "../agent/services.ts";

export const CHANNEL = "mcp";

/** The services that the channel takes, on the gateway and on standard input and output. */
export const SERVICES = [
  "agent",
  "threads",
  "toolCalls",
  "memory",
  "skills",
  "approvals",
  "store",
  "kernel",
] as const;

export const WANTED = ["mcpOffers", "workspace"] as const;

export interface ServerParts extends Use<(typeof SERVICES)[number], (typeof WANTED)[number]> {
  readonly log: Log;
  readonly version: string;
  /** A call that takes longer becomes a task, if the client knows tasks. */
  readonly taskAfterMillis: number;
  /** The page where people approve and sign in, without a slash at the end; absent without a gateway. */
  readonly page: string | undefined;
}

export function readSettings(env: Env) {
  const url = env.url(
    "MCP_URL",
    undefined,
    "The address of /mcp as clients outside know it; tokens of the identity provider may be meant for it",
  );
  const taskAfterSecs = env.number(
    "MCP_TASK_AFTER_SECS",
    5,
    { min: 0, max: 3600 },
    "How long a call may take before it becomes a task, if the client knows tasks",
  );
  return { url, taskAfterMillis: (taskAfterSecs ?? 0) * 1000 };
}

/** True if the token's scope includes this tool of the agent's own; without a scope there is no limit. */
export const mayUse = ({ scope }: Caller, tool: "memory_read" | "skill_load" | "workspace_read"): boolean =>
  scope?.tools?.includes(tool) ?? true;
