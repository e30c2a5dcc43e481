/** The agent as a plugin. Its code is loaded when it starts, so that commands which do not need it stay fast. */
import { definePlugin } from "../../kernel/plugin.ts";
import { readLiveSettings, readSettings } from "./settings.ts";

export default definePlugin({
  name: "agent",
  needs: ["store", "settings", "kernel"],
  wants: ["tools", "telemetry"],
  provides: [
    "agent",
    "threads",
    "attachments",
    "jobs",
    "routines",
    "memory",
    "skills",
    "approvals",
    "destinations",
    "provenance",
    "identities",
    "externalTools",
    "toolCalls",
    "usage",
    "chatLimit",
    "modelCheck",
  ],
  commands: [
    {
      name: "setup",
      about: "choose a model, test it, set a spending cap and try a tool",
      load: async () => (await import("../models/commands/setup.ts")).register,
    },
    {
      name: "ask",
      about: "ask one question and print the answer",
      startsService: true,
      load: async () => (await import("./commands/ask.ts")).register,
    },
    {
      name: "thread",
      about: "list, search, show, export, rename and remove threads",
      example: "postern thread list",
      load: async () => (await import("./commands/thread.ts")).register,
    },
    {
      name: "memory",
      about: "list, search, show, write and remove what the agent remembers",
      example: "postern memory search red bike",
      load: async () => (await import("../memory/commands.ts")).register,
    },
    {
      name: "jobs",
      about: "list, show, cancel and retry jobs",
      example: "postern jobs list --status running",
      load: async () => (await import("../jobs/commands/jobs.ts")).register,
    },
    {
      name: "routine",
      about: "have the agent do something on a schedule",
      example: 'postern routine add "weekdays at 8:00" "Summarise my open issues"',
      load: async () => (await import("../jobs/commands/routine.ts")).register,
    },
    {
      name: "usage",
      about: "show turns, tokens and cost of the last days",
      example: "postern usage --days 7 --by user",
      load: async () => (await import("./commands/usage.ts")).register,
    },
    {
      name: "explain",
      about: "show where the values of a turn's tool calls came from",
      example: "postern explain",
      load: async () => (await import("../provenance/commands/explain.ts")).register,
    },
    {
      name: "destination",
      about: "say where tools may send things although the user did not name it",
      example: "postern destination list",
      load: async () => (await import("../provenance/commands/destination.ts")).register,
    },
    {
      name: "home",
      about: "copy identity files, skills and prices between this home and the nodes' database",
      example: "postern home push",
      load: async () => (await import("../home/commands.ts")).register,
    },
  ],
  names: {
    thread: ({ rows, user }) =>
      rows(
        'SELECT id AS name, title AS about FROM threads WHERE "user" = ? AND ephemeral = 0 ORDER BY updated_at DESC LIMIT 50',
        user,
      ),
    memory: ({ rows, user }) =>
      rows('SELECT path AS name FROM memory_documents WHERE "user" = ? ORDER BY path LIMIT 500', user),
    job: ({ rows }) => rows("SELECT id AS name, status AS about FROM jobs ORDER BY seq DESC LIMIT 50"),
  },
  tables: async () => (await import("./owned-tables.ts")).TABLES,
  configure: readSettings,
  live: readLiveSettings,
  async diagnose(context) {
    const [{ diagnoseModel }, { diagnoseFiles }] = await Promise.all([
      import("../models/commands/diagnose.ts"),
      import("../home/diagnosis.ts"),
    ]);
    return [...(await diagnoseModel(context.config.model)), ...(await diagnoseFiles(context))];
  },
  start: async (context) => (await import("./start.ts")).startAgent(context),
});
