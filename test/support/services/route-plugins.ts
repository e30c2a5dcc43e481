/** The plugins that mount the API of all others on the gateway. */

import tools from "../../../host/routes/plugin.ts";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import accounts from "../../../plugins/accounts/routes/plugin.ts";
import agent from "../../../plugins/agent/routes/plugin.ts";
import delegation from "../../../plugins/delegation/routes/plugin.ts";
import home from "../../../plugins/home/routes/plugin.ts";
import jobs from "../../../plugins/jobs/routes/plugin.ts";
import memory from "../../../plugins/memory/routes/plugin.ts";
import messaging from "../../../plugins/messaging/routes/plugin.ts";
import models from "../../../plugins/models/routes/plugin.ts";
import provenance from "../../../plugins/provenance/routes/plugin.ts";
import status from "../../../plugins/status/plugin.ts";
import store from "../../../plugins/store/routes/plugin.ts";
import webhook from "../../../plugins/webhook/routes/plugin.ts";
import workspace from "../../../plugins/workspace/routes/plugin.ts";

export const routePlugins = [
  agent,
  store,
  accounts,
  tools,
  home,
  models,
  memory,
  workspace,
  provenance,
  jobs,
  delegation,
  webhook,
  messaging,
  status,
] as readonly AnyPlugin[];
