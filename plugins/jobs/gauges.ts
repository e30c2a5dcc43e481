/** How many jobs wait, and for how long: asked for when the metrics are. */
import type { Telemetry } from "../../kernel/kit.ts";
import type { Sql } from "../../kernel/plugin.ts";

export function measureJobs({ metrics }: Telemetry, sql: Sql): void {
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
