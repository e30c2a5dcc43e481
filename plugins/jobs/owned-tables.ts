/** The tables of jobs and routines, by owner, and which rows may go when they are old. */
import type { OwnedTables } from "../../kernel/kit.ts";
import { MIGRATIONS as PAIRINGS } from "./identities.ts";
import { OLD_JOBS } from "./queue/aging.ts";
import { MIGRATIONS as JOBS } from "./queue/tables.ts";
import { MIGRATIONS as ROUTINES } from "./routines/tables.ts";

export const TABLES: readonly OwnedTables[] = [
  { owner: "jobs", migrations: JOBS, ages: [OLD_JOBS], personal: ["jobs", "conversations"] },
  { owner: "identities", migrations: PAIRINGS },
  { owner: "routines", migrations: ROUTINES, personal: ["routines", "routine_runs"] },
];
