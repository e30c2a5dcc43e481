/** What calls are run with. */
import type { Log, Mask } from "../../kernel/plugin.ts";
import type { Broker } from "../broker/broker.ts";
import type { Tape } from "../broker/recording.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { OwnSettings } from "../catalog/own-settings.ts";
import type { Pool } from "../sandbox/pool.ts";
import type { CallOptions } from "../services.ts";
import type { FileStore } from "./files/sources.ts";
import type { Receipts } from "./receipts.ts";
import type { ToolState } from "./state.ts";
import type { Switches } from "./switches.ts";

export interface RunOptions extends CallOptions {
  readonly tape?: Tape;
}

export interface RunnerParts {
  readonly cache: string;
  readonly catalog: Catalog;
  readonly pool: Pool;
  readonly broker: Broker;
  readonly receipts: Receipts;
  readonly switches: Switches;
  readonly ownSettings: Pick<OwnSettings, "apply">;
  readonly state: ToolState;
  /** Absent if it is off. */
  readonly workspace?: FileStore | undefined;
  readonly mask: Mask;
  readonly log: Log;
}
