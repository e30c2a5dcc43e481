/** Jobs that survive the process, and routines, which submit one at each of their times. */
import { definePlugin } from "../../kernel/plugin.ts";
import { readSettings } from "./settings.ts";

export default definePlugin({
  name: "jobs",
  needs: ["accounts", "identities", "agent", "threads", "store", "storage", "kernel"],
  wants: ["telemetry"],
  provides: ["jobs", "jobControl", "routines", "routineControl", "jobQueue"],
  extends: ["agent", "accounts"],
  configure: readSettings,
  start: async (context) => (await import("./start.ts")).startJobs(context),
  operations: {
    commands: [
      {
        name: "job",
        group: "Talk",
        about: "list, show, cancel and retry jobs, and show what was delegated",
        example: "postern job list --status running",
        joins: true,
        load: async () => (await import("./commands/job.ts")).register,
      },
      {
        name: "routine",
        group: "Talk",
        about: "have the agent do something on a schedule",
        example: 'postern routine add "weekdays at 8:00" "Summarise my open issues"',
        joins: true,
        load: async () => (await import("./commands/routine.ts")).register,
      },
    ],
    names: {
      job: ({ rows }) => rows("SELECT id AS name, status AS about FROM jobs ORDER BY seq DESC LIMIT 50"),
    },
    tables: async () => {
      const [jobs, routines] = await Promise.all([
        import("./queue/tables.ts"),
        import("./routines/tables.ts"),
      ]);
      return [
        {
          owner: "jobs",
          migrations: jobs.MIGRATIONS,
          ages: [jobs.OLD_JOBS],
          personal: ["jobs", "conversations"],
          keeps: jobs.KEEPS,
        },
        { owner: "routines", migrations: routines.MIGRATIONS, personal: ["routines", "routine_runs"] },
      ];
    },
  },
});
