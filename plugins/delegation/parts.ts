/** What tasks are run with. */
import type { Log, Services } from "../../kernel/plugin.ts";
import type { Store } from "../store/services.ts";
import type { ReportParts } from "./report.ts";
import type { BeginningParts } from "./task-start.ts";

export interface TasksParts extends BeginningParts, ReportParts {
  readonly agent: Pick<Services["agent"], "cancel" | "watch">;
  readonly jobs: Services["jobs"];
  readonly threads: Services["threads"];
  readonly store: Pick<Store, "signals" | "repeat" | "pruneOld">;
  readonly log: Log;
}
