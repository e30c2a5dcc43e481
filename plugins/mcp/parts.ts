/** What a server is made of. */
import type { Caller, Kernel, Log, McpOffers, Services, Store } from "../../kernel/plugin.ts";

/** Whose turns and calls they are, in threads and receipts. */
export const CHANNEL = "mcp";

/** The services that it takes, whatever it is reached by. */
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

export interface ServerParts {
  readonly agent: Services["agent"];
  readonly threads: Services["threads"];
  readonly toolCalls: Services["toolCalls"];
  readonly memory: Services["memory"];
  readonly skills: Services["skills"];
  readonly approvals: Services["approvals"];
  readonly store: Store;
  readonly log: Log;
  readonly kernel: Kernel;
  /** What other plugins add. */
  readonly mcpOffers?: McpOffers | undefined;
  readonly version: string;
  /** A call that takes longer becomes a task, where the client knows them. */
  readonly taskAfterMillis: number;
  /** Where people approve and sign in, without a slash at the end; absent where no gateway is reached. */
  readonly page: string | undefined;
}

/** Whether the token's scope has this tool of the agent's own; without a scope there is no limit. */
export const mayUse = ({ scope }: Caller, tool: "memory_read" | "skill_load"): boolean =>
  scope?.tools?.includes(tool) ?? true;
