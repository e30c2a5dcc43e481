/** Starts the queue and the routines, and adds to the agent what has to happen with its turns and users. */

import { SILENT } from "../../kernel/kit/log.ts";
import type { Services, Sql, StartContext } from "../../kernel/plugin.ts";
import type { Telemetry } from "../telemetry/services.ts";
import { createJobs } from "./queue/jobs.ts";
import { createJobTable } from "./queue/table.ts";
import { MIGRATIONS as JOBS } from "./queue/tables.ts";
import { proposingTool } from "./routines/propose.ts";
import { createRoutines } from "./routines/routines.ts";
import type { JobQueue } from "./services.ts";
import type { JobSettings } from "./settings.ts";

export async function startJobs({
  config,
  use: { accounts, identities, agent, threads, store, storage, kernel, telemetry = SILENT },
  log,
  onStop,
}: StartContext<
  JobSettings,
  "accounts" | "identities" | "agent" | "threads" | "store" | "storage" | "kernel",
  "telemetry"
>): Promise<Pick<Services, "jobs" | "jobControl" | "routines" | "routineControl" | "jobQueue">> {
  const sql = await store.tables("jobs", JOBS);
  const table = createJobTable(sql, store);
  const jobs = createJobs({ ...config, table, agent, threads, store, storage, log });
  const routines = await createRoutines({
    ...config,
    store,
    clock: kernel.clock,
    jobs,
    turn: threads.turn,
    log,
    isServing: kernel.serving,
  });
  measureJobs(telemetry, sql);
  onStop(agent.onTakeover(jobs.takeOver));
  // After the undo below has ended the turns of jobs.
  onStop(async () => {
    await jobs.idle();
    await routines.idle();
    if (kernel.serving) await jobs.handBack();
  });
  onStop(agent.extend({ tools: [proposingTool(routines)] }));
  onStop(
    accounts.follow({
      async stop(user) {
        // Before the jobs, so that no new one comes behind them.
        await routines.pauseAll(user, "Its user was removed.");
        await jobs.cancelAll(user);
      },
      give: table.give,
    }),
  );
  onStop(
    identities.extend({
      known: threads.identities,
      held: table.heldCounts,
      firstHeld: table.firstHeld,
      refuseHeld: jobs.refuseHeld,
    }),
  );
  const jobQueue: JobQueue = {
    async start() {
      await jobs.start();
      routines.start();
    },
    stop() {
      routines.stop();
      jobs.stop();
    },
    idle: jobs.idle,
  };
  const jobControl = { ...jobs, find: jobs.findListed };
  return { jobs, jobControl, routines, routineControl: routines, jobQueue };
}

/** How many jobs wait, and for how long: asked for when the metrics are. */
function measureJobs({ metrics }: Telemetry, sql: Sql): void {
  metrics.gauge(
    "postern_jobs",
    "Jobs that are not completed, by status",
    async () => {
      const rows = await sql.all<{ status: string; count: number }>(
        "SELECT status, COUNT(*) AS count FROM jobs WHERE status IN ('queued', 'running') GROUP BY status",
      );
      const counts = new Map(rows.map(({ status, count }) => [status, Number(count)]));
      return ["queued", "running"].map((status) => ({ labels: { status }, value: counts.get(status) ?? 0 }));
    },
    ["status"],
  );
  metrics.gauge("postern_job_oldest_seconds", "How long the oldest queued job has waited", async () => {
    const row = await sql.get<{ oldest: string | null }>(
      // One that is held waits for the operator to pair its sender, not for its turn.
      "SELECT MIN(created_at) AS oldest FROM jobs WHERE status = 'queued' AND held = 0",
    );
    return row?.oldest ? Math.max(0, (Date.now() - Date.parse(row.oldest)) / 1000) : 0;
  });
}
