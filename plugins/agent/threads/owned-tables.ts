/** The agent's tables, by owner, and how its indexes of words are made anew. */
import type { OwnedTables } from "../../../kernel/plugin.ts";
import { pullFiles, pushFiles } from "../context/files/carrying.ts";
import { FILE_TABLES } from "../context/files/rows.ts";
import { MIGRATIONS as MISSIONS } from "../context/missions.ts";
import { OLD_JOBS, OLD_THREADS } from "../jobs/aging.ts";
import { MIGRATIONS as MEMORY } from "../memory/tables.ts";
import { indexAllDocuments } from "../memory/word-index.ts";
import { MIGRATIONS as ROUTINES } from "../routines/tables.ts";
import { MIGRATIONS as AGENT } from "./tables.ts";
import { indexAllThreads } from "./texts.ts";

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
