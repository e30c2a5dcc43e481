/** What this plugin keeps in the store. */
import type { OwnedTables } from "../../kernel/plugin.ts";
import { OWNER as TASK_OWNER, MIGRATIONS as TASKS } from "./tasks/rows.ts";

export const TABLES: readonly OwnedTables[] = [
  { owner: TASK_OWNER, migrations: TASKS, personal: ["mcp_tasks"] },
];
