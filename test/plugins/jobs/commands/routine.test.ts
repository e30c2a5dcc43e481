import { Command } from "commander";
import { expect } from "vitest";
import { createCommandContext } from "../../../../kernel/cli/command-context.ts";
import { openSession } from "../../../../kernel/cli/service/session.ts";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import { register } from "../../../../plugins/jobs/commands/routine.ts";
import store from "../../../../plugins/store/plugin.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { testOnSqlite } from "../../../support/run/engine.ts";
import { bootAgent } from "../../../support/services/agent.ts";
import { agentPlugins } from "../../../support/services/agent-plugins.ts";
import { printedBy } from "../../../support/services/printed.ts";

/** What the command prints when it is typed on this home. */
async function routine(home: string, ...words: string[]): Promise<string> {
  const settings = {
    POSTERN_HOME: home,
    LOG_LEVEL: "error",
    MODEL_PROVIDER: "builtin",
    MEMORY_VECTORS: "false",
  };
  const group = new Command("routine").exitOverride().configureOutput({ writeErr: () => {} });
  const plugins = [store, ...agentPlugins] as readonly AnyPlugin[];
  register(
    group,
    createCommandContext(openSession(settings, home), async () => plugins, "0.0.0-test"),
  );
  for (const command of group.commands) command.exitOverride();
  return printedBy(() => group.parseAsync(words, { from: "user" }));
}

testOnSqlite(
  "postern routine adds, lists, shows, pauses, runs and removes, beside a service that runs what it adds",
  async () => {
    const home = temporaryFolder();
    const said = await routine(home, "add", "weekdays at 8:00", "What", "is", "2 + 2?", "--budget", "2/day");
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    expect(said).toContain(`: every weekday at 8:00, time zone ${zone} (this machine's).\nNext run: `);
    const id = /r_[0-9a-f]{8}/.exec(said)?.[0] ?? "";
    expect(JSON.parse(await routine(home, "list", "--json"))).toMatchObject({
      routines: [
        { id, user: "operator", text: "What is 2 + 2?", budget: { usd: 2, per: "day" }, last_run: null },
      ],
    });
    const preview = await routine(home, "preview", "daily at 8:00", "--tz", "Europe/Berlin");
    expect(preview).toMatch(
      /^every day at 8:00 \(Europe\/Berlin\)\n( {2}\w{3} \d+ \w+ \d{4}, 08:00 Europe\/Berlin\n){5}$/,
    );

    expect(await routine(home, "run", id)).toContain("is queued; the service runs it.");
    const service = await bootAgent({ home, variables: { MEMORY_VECTORS: "false" } });
    const { runs } = service.service("routines");
    await expect.poll(async () => (await runs(id)).items[0]).toMatchObject({ status: "completed" });
    const shown = await routine(home, "show", id);
    expect(shown).toMatch(
      /schedule +every weekday at 8:00[\s\S]*STARTED +OUTCOME +COST\n.*completed; run by hand +\$0\.0000/,
    );
    expect(await routine(home, "pause", id)).toBe(`Paused ${id}.\n`);
    expect(await routine(home, "list")).toMatch(
      new RegExp(`${id} +operator +paused +every weekday at 8:00 +none +completed`),
    );
    expect(await routine(home, "resume", id)).toContain(`Resumed ${id}. Next run: `);
    expect(await routine(home, "remove", id)).toBe(`Removed ${id}.\n`);
    expect(await routine(home, "list")).toContain("No routines. Add one: ");
  },
);

testOnSqlite("what is wrong is said, with what to do", async () => {
  const home = temporaryFolder();
  await expect(routine(home, "add", "now and then", "x")).rejects.toMatchObject({
    code: "bad_schedule",
    usage: true,
  });
  await expect(routine(home, "add", "hourly", "x", "--user", "bob")).rejects.toMatchObject({
    code: "user_not_found",
    message: 'There is no user bob: "postern user add bob".',
  });
  await expect(routine(home, "add", "hourly", "x", "--budget", "much")).rejects.toThrow(
    "Use dollars for each run",
  );
  await expect(routine(home, "add", "hourly", "x", "--timeout", "1y")).rejects.toThrow(
    "Use a time such as 90s",
  );
  for (const verb of ["show", "pause", "resume", "run", "remove"])
    await expect(routine(home, verb, "r_none")).rejects.toMatchObject({ code: "routine_not_found" });
});
