/** The agent as a plugin. Its code is loaded when it starts, so that commands which do not need it stay fast. */
import { definePlugin } from "../../kernel/plugin.ts";
import { readSettings } from "./settings.ts";

export default definePlugin({
  name: "agent",
  needs: ["store", "kernel"],
  wants: ["tools"],
  provides: [
    "agent",
    "threads",
    "jobs",
    "memory",
    "skills",
    "approvals",
    "destinations",
    "provenance",
    "identities",
    "externalTools",
    "toolCalls",
    "chatLimit",
  ],
  commands: [
    {
      name: "ask",
      about: "ask one question and print the answer",
      startsService: true,
      load: async () => (await import("./ask.ts")).register,
    },
    {
      name: "jobs",
      about: "list, show and cancel jobs",
      example: "postern jobs list --status running",
      load: async () => (await import("./jobs/commands.ts")).register,
    },
    {
      name: "explain",
      about: "show where the values of a turn's tool calls came from",
      example: "postern explain",
      load: async () => (await import("./safety/commands/explain.ts")).register,
    },
    {
      name: "destination",
      about: "say where tools may send things although the user did not name it",
      example: "postern destination list",
      load: async () => (await import("./safety/commands/destination.ts")).register,
    },
    {
      name: "home",
      about: "copy identity files, skills and prices between this home and the nodes' database",
      example: "postern home push",
      load: async () => (await import("./context/files/commands.ts")).register,
    },
  ],
  tables: async () => (await import("./threads/owned-tables.ts")).TABLES,
  configure: readSettings,
  async diagnose(context) {
    const [{ diagnoseModel }, { diagnoseFiles }] = await Promise.all([
      import("./models/diagnose.ts"),
      import("./context/files/diagnosis.ts"),
    ]);
    return [...(await diagnoseModel(context.config.model)), ...(await diagnoseFiles(context))];
  },
  start: async (context) => (await import("./start.ts")).startAgent(context),
});
