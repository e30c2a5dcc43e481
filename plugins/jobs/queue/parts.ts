/** What the queue of jobs works with. */
import type { Log, Services } from "../../../kernel/plugin.ts";
import type { Store, UserStorage } from "../../store/services.ts";
import type { JobTable } from "./table.ts";

export interface JobsParts {
  readonly table: JobTable;
  readonly agent: Pick<Services["agent"], "run" | "cancel">;
  readonly store: Pick<Store, "repeat" | "signals">;
  readonly storage: Pick<UserStorage, "take">;
  readonly threads: Pick<
    Services["threads"],
    "find" | "turn" | "isBinned" | "hadSideEffects" | "forgetRecords" | "unsay"
  >;
  readonly log: Log;
  readonly concurrency: number;
  readonly retentionDays: number;
}
