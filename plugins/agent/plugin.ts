/** The agent as a plugin. Its code is loaded when it starts, so that commands which do not need it stay fast. */
import { definePlugin } from "../../kernel/plugin.ts";
import { readSettings, readTurnSettings } from "./settings.ts";

export default definePlugin({
  name: "agent",
  needs: ["accounts", "store", "storage", "settings", "kernel", "models"],
  wants: ["tools", "toolAdmin", "telemetry"],
  provides: ["agent", "threads", "conversations", "comparisons", "attachments", "approvals", "toolCalls"],
  extends: ["accounts"],
  configure: readSettings,
  start: async (context) => (await import("./start.ts")).startAgent(context),
  operations: {
    commands: [
      {
        name: "ask",
        group: "Talk",
        about: "ask one question and print the answer",
        startsService: true,
        joins: true,
        load: async () => (await import("./commands/ask.ts")).register,
      },
      {
        name: "thread",
        group: "Talk",
        about: "list, search, show, export, rename, remove and restore threads",
        example: "postern thread list",
        joins: true,
        load: async () => (await import("./commands/thread.ts")).register,
      },
      {
        name: "usage",
        group: "Operate",
        about: "show turns, tokens and cost of the last days",
        example: "postern usage --days 7 --by user",
        joins: true,
        load: async () => (await import("./commands/usage.ts")).register,
      },
      {
        name: "models",
        group: "Operate",
        about: "replay stored turns with another model and compare",
        everyPlugin: true,
        load: async () => (await import("./commands/compare.ts")).register,
      },
    ],
    names: {
      thread: ({ rows, user }) =>
        rows(
          'SELECT id AS name, title AS about FROM threads WHERE "user" = ? AND ephemeral = 0 AND binned_at IS NULL ORDER BY updated_at DESC LIMIT 50',
          user,
        ),
      binned: ({ rows, user }) =>
        rows(
          'SELECT id AS name, title AS about FROM threads WHERE "user" = ? AND binned_at IS NOT NULL ORDER BY binned_at DESC LIMIT 50',
          user,
        ),
    },
    tables: async () => (await import("./threads/tables.ts")).TABLES,
    live: readTurnSettings,
  },
});
