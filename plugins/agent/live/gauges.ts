/** How much waits, and for how long: asked for when the metrics are. */
import type { Node, Telemetry } from "../../../kernel/kit.ts";
import type { Sql } from "../../../kernel/plugin.ts";

const secondsSince = (time: string | null | undefined): number =>
  time ? Math.max(0, (Date.now() - Date.parse(time)) / 1000) : 0;

// A caller's function is the caller's to run, and many never come back: nobody here could answer. Quotes inside of the
// call's params are escaped, so this can only be the gate's own field.
const FOR_A_PERSON = `gate IS NOT NULL AND gate NOT LIKE '%"type":"external_tool"%'`;

export function measureWaiting({ metrics }: Telemetry, sql: Sql, node: Node): void {
  metrics.gauge("postern_gates_waiting", "Threads that wait for a person's answer", async () => {
    const row = await sql.get<{ count: number }>(
      `SELECT COUNT(*) AS count FROM threads WHERE ${FOR_A_PERSON}`,
    );
    return Number(row?.count ?? 0);
  });
  metrics.gauge("postern_gate_oldest_seconds", "How long the oldest of them has waited", async () => {
    const row = await sql.get<{ oldest: string | null }>(
      `SELECT MIN(updated_at) AS oldest FROM threads WHERE ${FOR_A_PERSON}`,
    );
    return secondsSince(row?.oldest);
  });
  metrics.gauge("postern_store_round_trip_seconds", "Time that a statement without work takes", async () => {
    const began = performance.now();
    await sql.get("SELECT 1 AS one");
    return (performance.now() - began) / 1000;
  });
  metrics.gauge("postern_nodes", "Nodes that live on this store", async () => (await node.list()).length);
}
