/** What calls are run with. */
import type { Log, Mask } from "../../kernel/plugin.ts";
import type { CallTrace } from "../../plugins/telemetry/services.ts";
import type { Broker } from "../broker/broker.ts";
import type { Tape } from "../broker/recording.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Pool } from "../sandbox/pool.ts";
import type { AddressCheck, CallOptions } from "../services.ts";
import type { FileStore } from "./files/sources.ts";
import type { Receipt, Receipts } from "./receipts.ts";
import type { ToolState } from "./state.ts";
import type { Switches } from "./switches.ts";

export interface RunOptions extends Pick<CallOptions, "parent" | "innerCall" | "mounted"> {
  readonly user: string;
  readonly channel?: string;
  readonly thread?: string;
  readonly turn?: string;
  readonly signal?: AbortSignal;
  readonly ruling?: NonNullable<Receipt["ruling"]>;
  readonly tape?: Tape;
  readonly trace?: CallTrace;
  readonly checkAddress?: AddressCheck;
}

export interface RunnerParts {
  readonly cache: string;
  readonly catalog: Catalog;
  readonly pool: Pool;
  readonly broker: Broker;
  readonly receipts: Receipts;
  readonly switches: Switches;
  readonly state: ToolState;
  /** Absent if it is off. */
  readonly workspace?: FileStore | undefined;
  readonly mask: Mask;
  readonly log: Log;
}
