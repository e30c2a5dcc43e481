/** Everything the agent reads from its environment. */
import type { Env } from "../../kernel/plugin.ts";
import type { RoutineLimits } from "../jobs/routines/bounds.ts";
import { type ModelChoice, readModelChoice } from "../models/choice/choose.ts";
import { type ProvenanceSettings, readProvenance } from "../provenance/gate.ts";
import { type ApprovalRules, readApprovalRules } from "./safety/approvals.ts";

/** What a turn begins with, and keeps to its end. */
export interface TurnSettings {
  readonly approvals: ApprovalRules;
  readonly provenance: ProvenanceSettings;
  readonly chatRateLimit: number;
  readonly maxToolCalls: number;
  readonly turnIdleSecs: number;
  readonly dailyUsdCap: number | undefined;
}

export interface AgentSettings extends TurnSettings {
  readonly model: ModelChoice;
  readonly toolsOffered: number;
  readonly attachmentsMb: number;
  readonly memoryVectors: boolean;
  readonly jobsConcurrency: number;
  readonly jobsRetentionDays: number;
  readonly routines: RoutineLimits;
}

/** All that may be changed while the service runs. */
export function readLiveSettings(env: Env): TurnSettings & Pick<AgentSettings, "model"> {
  return { model: readModelChoice(env), ...readTurnSettings(env) };
}

export function readTurnSettings(env: Env): TurnSettings {
  return {
    approvals: readApprovalRules(env),
    provenance: readProvenance(env),
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
    dailyUsdCap: env.number(
      "DAILY_USD_CAP",
      undefined,
      { min: 0, max: 1_000_000 },
      "US dollars a user may spend on models per day (UTC); no cap if unset",
    ),
  };
}

export function readSettings(env: Env): AgentSettings {
  return {
    ...readLiveSettings(env),
    toolsOffered: env.integer(
      "TOOLS_OFFERED",
      40,
      { min: 20, max: 1000 },
      "With more tools than this a model is offered those that fit, and finds others by tool_search",
    ),
    attachmentsMb: env.integer(
      "ATTACHMENTS_MAX_MB",
      10,
      { min: 1, max: 100 },
      "Megabytes that a file attached to a message may have",
    ),
    memoryVectors: env.flag("MEMORY_VECTORS", true, "Also search memory by meaning, with an offline model"),
    jobsConcurrency: env.integer(
      "JOBS_CONCURRENCY",
      4,
      { min: 1, max: 256 },
      "Jobs that run at the same time",
    ),
    jobsRetentionDays: env.integer(
      "JOBS_RETENTION_DAYS",
      30,
      { min: 1, max: 36_500 },
      "Days until a completed job, or run of a routine, is deleted",
    ),
    routines: {
      perUser: env.integer("ROUTINES_PER_USER", 50, { min: 0, max: 100_000 }, "Most routines of a user"),
      leastMinutes: env.integer(
        "ROUTINES_LEAST_MINUTES",
        1,
        { min: 1, max: 10_080 },
        "Least minutes between two runs of a routine",
      ),
    },
  };
}
