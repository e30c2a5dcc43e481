import { Command } from "commander";
import { expect } from "vitest";
import { createCommandContext } from "../../../kernel/cli/command-context.ts";
import { openSession } from "../../../kernel/cli/service/session.ts";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import { register } from "../../../plugins/jobs/commands/job.ts";
import store from "../../../plugins/store/plugin.ts";
import { testOnSqlite } from "../../support/run/engine.ts";
import { bootAgent, message, scriptedModel } from "../../support/services/agent.ts";
import { agentPlugins } from "../../support/services/agent-plugins.ts";
import { printedBy } from "../../support/services/printed.ts";

async function tree(home: string, ...words: string[]): Promise<string> {
  const session = openSession({ POSTERN_HOME: home, LOG_LEVEL: "error", MODEL_PROVIDER: "builtin" }, home);
  const group = new Command("job").exitOverride();
  const plugins = [store as AnyPlugin, ...agentPlugins];
  register(
    group,
    createCommandContext(session, async () => plugins, "0.0.0-test"),
  );
  return printedBy(() => group.parseAsync(["tree", ...words], { from: "user" }));
}

// The command opens the store of the home.
testOnSqlite(
  "postern job tree shows each task below the one that delegated it, with how it ended",
  async () => {
    const model = await scriptedModel();
    const delegate = (task: string) => ({ calls: [{ name: "task_delegate", arguments: { task } }] });
    model.script(
      delegate("Compare the cities"),
      delegate("Look at Berlin"),
      { status: 400, error: { message: "no" } },
      { text: "Berlin failed." },
      { text: "One failed." },
    );
    const kernel = await bootAgent({ model });
    const { home } = kernel;
    expect(await tree(home)).toBe("Nothing was delegated.\n");
    const input = message("Compare");
    await (await kernel.service("agent").run({ user: "ann", channel: "test", input })).record;
    const lines = (await tree(home)).split("\n");
    expect(lines[1]).toMatch(/^Compare the cities +completed +\$0\.00 +1, last task_delegate +\w+/);
    expect(lines[2]).toMatch(/^ {2}Look at Berlin +failed \(\w+\) +\$0\.00 +\w+/);
    const { tasks } = JSON.parse(await tree(home, "--json", "--user", "ann"));
    expect(tasks).toMatchObject([
      { depth: 1, status: "completed", parent_id: null },
      { depth: 2, status: "failed", parent_id: tasks[0].id },
    ]);
    expect(await tree(home, "--user", "bob")).toBe("Nothing was delegated.\n");
  },
);
