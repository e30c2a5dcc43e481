/** The agent's tables, by owner, and how its indexes of words are made anew. */
import type { OwnedTables } from "../../kernel/plugin.ts";
import { MIGRATIONS as MISSIONS } from "../guidance/missions.ts";
import { pullFiles, pushFiles } from "../home/engine-transfer.ts";
import { FILE_TABLES } from "../home/rows.ts";
import { MIGRATIONS as ROUTINES } from "../jobs/routines/tables.ts";
import { MIGRATIONS as MEMORY } from "../memory/tables.ts";
import { indexAllDocuments } from "../memory/word-index.ts";
import { OLD_JOBS, OLD_THREADS } from "./threads/aging.ts";
import { MIGRATIONS as AGENT } from "./threads/tables.ts";
import { indexAllThreads } from "./threads/texts.ts";

export const TABLES: readonly OwnedTables[] = [
  {
    owner: "agent",
    migrations: AGENT,
    derived: ["thread_texts"],
    derive: indexAllThreads,
    ages: [OLD_THREADS, OLD_JOBS],
  },
  { owner: "memory", migrations: MEMORY, derived: ["memory_words"], derive: indexAllDocuments },
  { owner: "missions", migrations: MISSIONS },
  { owner: "routines", migrations: ROUTINES, personal: ["routines", "routine_runs"] },
  {
    owner: "home files",
    migrations: FILE_TABLES,
    files: { tables: ["home_files"], push: pushFiles, pull: pullFiles },
  },
];
