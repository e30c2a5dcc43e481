/**
 * What plugins offer each other. A plugin names a service in `needs` or `wants` and gets it by `use`.
 * A third party adds its own by declaration merging:
 *
 *   declare module "postern/plugin" { interface Services { clock: { now(): Date } } }
 */

import type { Web } from "../net/web.ts";
import type { StoredSettings } from "../settings/live.ts";
import type {
  Agent,
  Approvals,
  Attachments,
  Destinations,
  ExternalTools,
  Identities,
  Provenance,
  Skills,
  ToolCalls,
} from "./agent.ts";
import type { Integrations, Jobs } from "./job.ts";
import type { Kernel } from "./kernel.ts";
import type { McpServers } from "./mcp.ts";
import type { McpOffers } from "./mcp-offers.ts";
import type { Memory } from "./memory.ts";
import type { ModelCheck } from "./model-check.ts";
import type { Routines } from "./routine.ts";
import type { Limiter, Store, StoreHealth } from "./store.ts";
import type { Telemetry } from "./telemetry.ts";
import type { Threads } from "./thread.ts";
import type { ToolAdmin } from "./tool-admin.ts";
import type { Tools } from "./tools.ts";
import type { TurnUsage } from "./usage.ts";

export interface Services {
  /** Always there. */
  kernel: Kernel;
  store: Store;
  storeHealth: StoreHealth;
  settings: StoredSettings;
  telemetry: Telemetry;
  tools: Tools;
  toolAdmin: ToolAdmin;
  mcpServers: McpServers;
  /** Third parties provide it. */
  mcpOffers: McpOffers;
  agent: Agent;
  threads: Threads;
  attachments: Attachments;
  jobs: Jobs;
  routines: Routines;
  memory: Memory;
  skills: Skills;
  approvals: Approvals;
  destinations: Destinations;
  provenance: Provenance;
  identities: Identities;
  integrations: Integrations;
  externalTools: ExternalTools;
  toolCalls: ToolCalls;
  usage: TurnUsage;
  chatLimit: Limiter;
  modelCheck: ModelCheck;
  web: Web;
}
