/** The agent and every plugin that it is made of. */
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import accounts from "../../../plugins/accounts/plugin.ts";
import agent from "../../../plugins/agent/plugin.ts";
import delegation from "../../../plugins/delegation/plugin.ts";
import guidance from "../../../plugins/guidance/plugin.ts";
import home from "../../../plugins/home/plugin.ts";
import jobs from "../../../plugins/jobs/plugin.ts";
import jobQueue from "../../../plugins/jobs/queue/plugin.ts";
import memory from "../../../plugins/memory/plugin.ts";
import memoryTools from "../../../plugins/memory/tools/plugin.ts";
import models from "../../../plugins/models/plugin.ts";
import provenance from "../../../plugins/provenance/plugin.ts";
import workspace from "../../../plugins/workspace/plugin.ts";
import workspaceTools from "../../../plugins/workspace/tools/plugin.ts";

export const agentPlugins = [
  accounts,
  home,
  models,
  agent,
  memory,
  memoryTools,
  workspace,
  workspaceTools,
  guidance,
  provenance,
  jobs,
  jobQueue,
  delegation,
] as readonly AnyPlugin[];
