/** The limits of delegation. */
import type { Env } from "../../kernel/plugin.ts";

export type DelegationSettings = ReturnType<typeof readSettings>;

export function readSettings(env: Env) {
  return {
    atOnce: env.integer(
      "TASKS_AT_ONCE",
      8,
      { min: 0, max: 256 },
      "Most tasks of one tree that are open at the same time; 0 turns delegation off",
    ),
    depth: env.integer("TASKS_DEPTH", 3, { min: 1, max: 10 }, "How deep tasks may delegate tasks"),
    perTree: env.integer("TASKS_PER_TREE", 100, { min: 1, max: 10_000 }, "Most tasks of one tree in all"),
    timeoutSecs: env.integer(
      "TASKS_TIMEOUT_SECS",
      3600,
      { min: 1, max: 86_400 },
      "Seconds until a task without a deadline of its own is stopped",
    ),
    retentionDays: env.integer(
      "TASKS_RETENTION_DAYS",
      30,
      { min: 1, max: 36_500 },
      "Days until the row of a task that has ended is deleted; its thread stays",
    ),
  };
}
