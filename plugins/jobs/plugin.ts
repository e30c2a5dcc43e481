/** Jobs that survive the process, and routines, which submit one at each of their times. */
import { definePlugin } from "../../kernel/plugin.ts";
import { readSettings } from "./settings.ts";

export default definePlugin({
  name: "jobs",
  needs: ["agent", "threads", "store", "kernel"],
  wants: ["telemetry"],
  provides: ["jobs", "routines", "identities"],
  extends: ["agent"],
  configure: readSettings,
  start: async (context) => (await import("./start.ts")).startJobs(context),
  operations: {
    commands: [
      {
        name: "jobs",
        about: "list, show, cancel and retry jobs",
        example: "postern jobs list --status running",
        load: async () => (await import("./commands/jobs.ts")).register,
      },
      {
        name: "routine",
        about: "have the agent do something on a schedule",
        example: 'postern routine add "weekdays at 8:00" "Summarise my open issues"',
        load: async () => (await import("./commands/routine.ts")).register,
      },
    ],
    names: {
      job: ({ rows }) => rows("SELECT id AS name, status AS about FROM jobs ORDER BY seq DESC LIMIT 50"),
    },
    tables: async () => (await import("./owned-tables.ts")).TABLES,
  },
});
