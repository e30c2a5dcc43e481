/** Delegation: the agent's tool for it, and the tasks as durable jobs. */
import { definePlugin, Off } from "../../kernel/plugin.ts";
import { readSettings } from "./settings.ts";

export default definePlugin({
  name: "delegation",
  needs: ["accounts", "agent", "threads", "models", "jobs", "store", "kernel"],
  wants: ["tools", "toolCalls"],
  provides: ["tasks", "taskControl"],
  extends: ["agent", "accounts"],
  configure(env) {
    const settings = readSettings(env);
    return settings.atOnce === 0 ? new Off("TASKS_AT_ONCE=0") : settings;
  },
  async start({ config, use, log, onStop, onDrain }) {
    const { createTasks } = await import("./tasks.ts");
    const { delegatingTool } = await import("./tool.ts");
    const { MIGRATIONS } = await import("./tables.ts");
    const { store, kernel } = use;
    const sql = await store.tables("delegation", MIGRATIONS);
    const tasks = createTasks({
      ...use,
      tools: use.tools,
      toolCalls: use.toolCalls,
      sql,
      clock: kernel.clock,
      config,
      log,
    });
    onStop(use.accounts.follow({ give: tasks.give }));
    onStop(use.models.addPurse(tasks.openPurse));
    // After the turns have ended that follow their tasks.
    onStop(tasks.idle);
    onStop(
      use.agent.extend({
        // A command beside the service works no queue, so its tasks would wait for ever.
        tools: kernel.serving ? [delegatingTool(tasks, config)] : [],
      }),
    );
    onStop(tasks.stop);
    onDrain(async () => {
      tasks.stop();
      await tasks.idle();
    });
    if (kernel.serving) tasks.start();
    return { tasks: tasks.service, taskControl: tasks.service };
  },
  operations: {
    tables: async () => {
      const { MIGRATIONS, OLD_TASKS } = await import("./tables.ts");
      return [
        { owner: "delegation", migrations: MIGRATIONS, ages: [OLD_TASKS], personal: ["tasks", "task_trees"] },
      ];
    },
  },
});
