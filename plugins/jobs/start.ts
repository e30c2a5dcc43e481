/** Starts the queue and the routines, and adds to the agent what has to happen with its turns and users. */
import { SILENT } from "../../kernel/kit.ts";
import type { Services, StartContext } from "../../kernel/plugin.ts";
import { measureJobs } from "./gauges.ts";
import { createIdentities, MIGRATIONS as PAIRINGS } from "./identities.ts";
import { createJobs } from "./queue/jobs.ts";
import { createJobTable } from "./queue/table.ts";
import { MIGRATIONS as JOBS } from "./queue/tables.ts";
import { proposingTool } from "./routines/propose.ts";
import { createRoutines } from "./routines/routines.ts";
import type { JobSettings } from "./settings.ts";

export async function startJobs({
  config,
  use: { agent, threads, store, kernel, telemetry = SILENT },
  log,
  onStop,
  onDrain,
}: StartContext<JobSettings, "agent" | "threads" | "store" | "kernel", "telemetry">): Promise<
  Pick<Services, "jobs" | "routines" | "identities">
> {
  const [sql, pairings] = await Promise.all([
    store.tables("jobs", JOBS),
    store.tables("identities", PAIRINGS),
  ]);
  const table = createJobTable(sql, store);
  const jobs = createJobs({ ...config, table, agent, threads, store, log });
  const routines = await createRoutines({
    ...config,
    store,
    clock: kernel.clock,
    jobs,
    turn: threads.turn,
    log,
    isServing: kernel.serving,
  });
  const identities = createIdentities({
    sql: pairings,
    jobs: table,
    refuse: jobs.refuse,
    threads,
    giveUser: agent.giveUser,
  });
  measureJobs(telemetry, sql);
  const stop = (): void => {
    routines.stop();
    jobs.stop();
  };
  onStop(
    agent.extend({
      tools: [proposingTool(routines)],
      async stopUser(user) {
        await identities.forget(user);
        // Before the jobs, so that no new one comes behind them.
        await routines.pauseAll(user, "Its user was removed.");
        await jobs.cancelAll(user);
      },
      giveUser: table.give,
      takeOver: jobs.takeOver,
      stopping: stop,
      async stopped() {
        await jobs.idle();
        await routines.idle();
        if (kernel.serving) await jobs.handBack();
      },
    }),
  );
  onDrain(async () => {
    stop();
    await jobs.idle();
  });
  if (kernel.serving) {
    await jobs.start();
    routines.start();
  }
  return { jobs, routines, identities };
}
