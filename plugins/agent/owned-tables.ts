/** The agent's tables, and how its index of words is made anew. */
import type { OwnedTables } from "../../kernel/kit.ts";
import { OLD_THREADS } from "./threads/aging.ts";
import { MIGRATIONS } from "./threads/tables.ts";
import { indexAllThreads } from "./threads/texts.ts";

export const TABLES: readonly OwnedTables[] = [
  {
    owner: "agent",
    migrations: MIGRATIONS,
    derived: ["thread_texts"],
    derive: indexAllThreads,
    ages: [OLD_THREADS],
    personal: ["approvals", "uploads"],
  },
];
