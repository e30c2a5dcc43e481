/** The settings of jobs and routines. */
import type { Env } from "../../kernel/plugin.ts";

export type JobSettings = ReturnType<typeof readSettings>;

export function readSettings(env: Env) {
  return {
    concurrency: env.integer("JOBS_CONCURRENCY", 4, { min: 1, max: 256 }, "Jobs that run at the same time"),
    retentionDays: env.integer(
      "JOBS_RETENTION_DAYS",
      30,
      { min: 1, max: 36_500 },
      "Days until a completed job, or run of a routine, is deleted",
    ),
    limits: {
      perUser: env.integer("ROUTINES_PER_USER", 50, { min: 0, max: 100_000 }, "Most routines of a user"),
      leastMinutes: env.integer(
        "ROUTINES_LEAST_MINUTES",
        1,
        { min: 1, max: 10_080 },
        "Least minutes between two runs of a routine",
      ),
    },
  };
}
