/** Everything the agent reads from its environment. */
import type { Env } from "../../kernel/plugin.ts";
import { readApprovalRules } from "./safety/approvals.ts";

/** A turn keeps these from its beginning to its end. All of them may be changed while the service runs. */
export type TurnSettings = ReturnType<typeof readTurnSettings>;

export function readTurnSettings(env: Env) {
  return {
    approvals: readApprovalRules(env),
    chatRateLimit: env.integer(
      "CHAT_RATE_LIMIT",
      30,
      { min: 1, max: 1_000_000 },
      "Messages a user may send per 60 s, across all chat channels",
    ),
    maxToolCalls: env.integer(
      "TURN_MAX_TOOL_CALLS",
      50,
      { min: 1, max: 10_000 },
      "Most tool calls in one turn",
    ),
    turnIdleSecs: env.integer(
      "TURN_IDLE_SECS",
      600,
      { min: 1, max: 86_400 },
      "Seconds without any sign of life after which a turn is stopped",
    ),
    chatTitles: env.flag(
      "CHAT_TITLES",
      true,
      "Let the model name new chats of the page and the terminal: one short request after the first answer",
    ),
  };
}

export type AgentSettings = ReturnType<typeof readSettings>;

export function readSettings(env: Env) {
  return {
    ...readTurnSettings(env),
    toolsOffered: env.integer(
      "TOOLS_OFFERED",
      50,
      { min: 30, max: 1000 },
      "With more tools than this a model is offered those that fit, and finds others by tool_search",
    ),
    attachmentsMb: env.integer(
      "ATTACHMENTS_MAX_MB",
      10,
      { min: 1, max: 100 },
      "Megabytes that a file attached to a message may have",
    ),
  };
}
