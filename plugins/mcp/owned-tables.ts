/** What this plugin keeps in the store. */
import type { OwnedTables } from "../../kernel/plugin.ts";
import { MIGRATIONS as SPENT, OWNER as SPENT_OWNER } from "./asking/spent.ts";
import { OWNER as TASK_OWNER, MIGRATIONS as TASKS } from "./tasks/rows.ts";

export const TABLES: readonly OwnedTables[] = [
  { owner: TASK_OWNER, migrations: TASKS, personal: ["mcp_tasks"] },
  { owner: SPENT_OWNER, migrations: SPENT },
];
