/** The queue of callbacks that are owed, which all nodes on the store share. Its times are the database's. */
import { currentTraceparent } from "../../../kernel/kit/http.ts";
import type { Sql, Transaction } from "../../../kernel/plugin.ts";
import type { Node } from "../../store/services.ts";

export interface Owed {
  readonly job: string;
  readonly attempts: number;
  /** The user that the sender named. */
  readonly user_id: string;
  readonly traceparent: string | null;
}

// Longer than a try, with time to spare; and a dead node's callbacks are taken over within 15 seconds.
const LEASE_MS = 14_000;
const PAGE_SIZE = 200;

export function openCallbackQueue(sql: Sql, node: Node) {
  const isShared = sql.engine === "postgres";
  const now = isShared
    ? "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    : "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)";
  const claim = `
    WITH due AS MATERIALIZED (
      SELECT job FROM webhook_callbacks WHERE due_at <= ${now} ORDER BY due_at LIMIT ? ${isShared ? "FOR UPDATE SKIP LOCKED" : ""}
    )
    UPDATE webhook_callbacks SET due_at = ${now} + ${LEASE_MS}, holder = ?
    WHERE job IN (SELECT job FROM due) RETURNING job, attempts, user_id, traceparent`;
  const next = `SELECT min(due_at) - ${now} AS millis FROM webhook_callbacks WHERE due_at IS NOT NULL`;

  return {
    owe: (tx: Transaction, job: string, userId: string): void =>
      tx.last(
        "INSERT INTO webhook_callbacks (job, user_id, traceparent) VALUES (?, ?, ?) ON CONFLICT (job) DO NOTHING",
        ...[job, userId, currentTraceparent() ?? null],
      ),
    /** Returns how many were not due before. */
    makeDue: (jobs: readonly string[]): Promise<number> =>
      sql.run(
        `UPDATE webhook_callbacks SET due_at = ${now}
         WHERE due_at IS NULL AND job IN (${jobs.map(() => "?").join(", ")})`,
        ...jobs,
      ),
    /** Returns a page of jobs whose completion was not noted yet. */
    async unfinished(after: string): Promise<readonly string[]> {
      const rows = await sql.all<Pick<Owed, "job">>(
        `SELECT job FROM webhook_callbacks WHERE due_at IS NULL AND job > ? ORDER BY job LIMIT ${PAGE_SIZE}`,
        after,
      );
      return rows.map(({ job }) => job);
    },
    /** Leases due callbacks to this node alone, and returns when to look again. */
    async claim(limit: number) {
      const due = await sql.all<Owed>(claim, limit, node.id);
      const row = await sql.get<{ readonly millis: number | null }>(next);
      return { due, nextMillis: row?.millis == null ? undefined : Math.max(1, row.millis) };
    },
    retryIn: (job: string, millis: number) =>
      sql.run(
        `UPDATE webhook_callbacks SET attempts = attempts + 1, due_at = ${now} + CAST(? AS BIGINT), holder = NULL
         WHERE job = ? AND holder = ?`,
        ...[millis, job, node.id],
      ),
    forget: (job: string) => sql.run("DELETE FROM webhook_callbacks WHERE job = ?", job),
    /** Gives up this node's leases at once. */
    release: () =>
      sql.run(`UPDATE webhook_callbacks SET due_at = ${now}, holder = NULL WHERE holder = ?`, node.id),
    /** Ends the leases of an earlier process, if no other uses the store. */
    async recover(): Promise<void> {
      // Only the lease says when another node is done: one that is cut off may still be sending.
      if (isShared) return;
      await sql.run(
        `UPDATE webhook_callbacks SET due_at = ${now}, holder = NULL
         WHERE holder IS NOT NULL AND holder NOT IN ${node.living}`,
      );
    },
  };
}
