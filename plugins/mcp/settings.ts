/** What the operator decides about the channel, on the gateway and on standard input and output. */
import type { Env } from "../../kernel/plugin.ts";

export interface ChannelSettings {
  readonly url: string | undefined;
  readonly taskAfterMillis: number;
}

export function readSettings(env: Env): ChannelSettings {
  const url = env.url(
    "MCP_URL",
    undefined,
    "The address of /mcp as clients outside know it; tokens of the identity provider may be meant for it",
  );
  const taskAfterSecs = env.number(
    "MCP_TASK_AFTER_SECS",
    5,
    { min: 0, max: 3600 },
    "How long a call may take before it becomes a task, where the client knows tasks",
  );
  return { url, taskAfterMillis: (taskAfterSecs ?? 0) * 1000 };
}
